"""Run git so that nothing but its arguments decides what it does.

No configuration of the machine, the user or a repository's files is read, no hook or filter runs, and a
credential reaches git by environment only. Whoever stops waiting takes the whole process group down.
"""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypedDict, Unpack
from urllib.parse import urlsplit

from journeyman.access.redaction import Redactor
from journeyman.errors import Internal, InvalidInput, InvalidRepository, Transient
from journeyman.forges.base import Person, Remote
from journeyman.git.confine import Confinement, confined
from journeyman.git.faults import fault_of
from journeyman.git.locks import held_descriptors

LOCAL_SECONDS = 300.0
NETWORK_SECONDS = 900.0
_OUTPUT_BYTES = 128_000_000
_GRACE_SECONDS = 2.0
"""Time between asking git to stop, so that it can remove its lock files, and stopping it."""
_CHUNK = 1 << 16
_ERROR_BYTES = 64_000

_ALWAYS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.autocrlf=false",
    "core.quotePath=false",
    "core.pager=cat",
    "core.alternateRefsCommand=true",
    "core.logAllRefUpdates=false",
    "credential.helper=",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "safe.directory=*",  # asked only when a directory of this machine is cloned
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "diff.ignoreSubmodules=all",
    "http.followRedirects=false",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=60",
    "index.version=2",
    "checkout.workers=0",
    "commit.gpgSign=false",
    "push.gpgSign=false",
    "log.showSignature=false",
)
_SERVER = " ".join(
    f"-c {setting}"
    for setting in (
        "safe.directory=\\*",
        "core.hooksPath=/dev/null",
        "core.alternateRefsCommand=true",
        "receive.denyCurrentBranch=refuse",
        "receive.autogc=false",
    )
)
UPLOAD_PACK = f"--upload-pack=git {_SERVER} upload-pack"
"""Git's serving side in a directory of this machine: neither its hooks nor its owner matter."""
RECEIVE_PACK = f"--receive-pack=git {_SERVER} receive-pack"


@dataclass(frozen=True)
class Answer:
    exit_code: int
    output: bytes
    error: str
    truncated: bool = False


_OWN_CODES = 129
"""Git's own exit codes end here; bubblewrap adds the number of the signal that ended git."""


class How(TypedDict, total=False):
    git_dir: Path
    work_tree: Path
    remote: Remote
    """Where git may connect to; without one it may connect to nothing."""
    stdin: bytes
    env: Mapping[str, str]
    confinement: Confinement
    timeout: float
    limit: int
    """Output beyond this ends git and is dropped."""
    each: Callable[[bytes], None]
    """Is given the output in pieces as they come; what it raises ends git."""


async def git(*arguments: str, **how: Unpack[How]) -> bytes:
    """What git prints, or the error that its failure means."""
    answer = await run(*arguments, **how)
    if answer.exit_code != 0:
        raise fault_of(answer.error, arguments[0])
    if answer.truncated:
        raise Internal(
            f"git {arguments[0]} printed more than is allowed",
            hint="The repository or the change is too large; make it smaller.",
        )
    return answer.output


async def run(*arguments: str, **how: Unpack[How]) -> Answer:
    """Run git to its end; a failing git is an answer."""
    remote, work_tree = how.get("remote"), how.get("work_tree")
    command = _command(arguments, how.get("git_dir"), work_tree, remote)
    if "confinement" in how:
        command = await confined(command, how["confinement"])
    timeout = how.get("timeout", NETWORK_SECONDS if remote else LOCAL_SECONDS)
    try:
        async with (
            asyncio.timeout(timeout),
            _started(command, cwd=work_tree, env=_environment(remote, how.get("env", {}))) as process,
        ):
            talk = _talk(process, how.get("stdin", b""), how.get("limit", _OUTPUT_BYTES), how.get("each"))
            output, truncated, error = await talk
            exit_code = 0 if truncated else await process.wait()
    except TimeoutError:
        raise Transient(
            f"git {arguments[0]} did not end within {timeout:.0f} s",
            hint="It is tried again; if it stays so, look at the network and the size of the repository.",
        ) from None
    if exit_code < 0 or ("confinement" in how and exit_code > _OWN_CODES):
        raise Transient(
            f"git {arguments[0]} was killed (exit code {exit_code})",
            hint="It is tried again; if it stays so, look whether the machine has too little memory.",
        )
    return Answer(exit_code, output, _redactor(remote).redact(error), truncated)


async def host_author(home: Path | None = None) -> Person | None:
    """Who the person running Journeyman is to git: the one call that reads their own configuration."""
    if not (home or Path.home()).is_dir():
        return None
    answer = await run(
        "config", "--global", "--includes", "-z", "--get-regexp", r"^user\.(name|email)$",
        env={"HOME": str(home or Path.home()), "GIT_CONFIG_GLOBAL": ""},
    )  # fmt: skip
    pairs = (entry.partition("\n") for entry in answer.output.decode(errors="replace").split("\0"))
    found = {key: value.strip() for key, _, value in pairs}
    name, email = found.get("user.name"), found.get("user.email")
    return Person(name, email) if name and email else None


@cache
def git_program() -> str:
    found = shutil.which("git")
    if found is None:
        raise Internal("git is not installed", hint="Install git 2.39 or newer.")
    return found


def _command(
    arguments: Sequence[str], git_dir: Path | None, work_tree: Path | None, remote: Remote | None
) -> list[str]:
    if any("\0" in argument for argument in arguments):
        raise InvalidInput("a name holds a NUL character", hint="Remove it.")
    settings = [*_ALWAYS, f"protocol.{_scheme(remote)}.allow=always"] if remote else _ALWAYS
    command = [git_program(), *(part for setting in settings for part in ("-c", setting))]
    if git_dir is not None:
        command.append(f"--git-dir={git_dir}")
    if work_tree is not None:
        command.append(f"--work-tree={work_tree}")
    return [*command, *arguments]


def _scheme(remote: Remote) -> str:
    parts = urlsplit(remote.url)
    if parts.scheme not in ("https", "http", "file") or "@" in parts.netloc:
        raise InvalidRepository(
            "the repository's address is neither https, http nor file, or holds a credential",
            hint="Use https://host/owner/name, or the path of a repository on this machine.",
        )
    return parts.scheme


def _environment(remote: Remote | None, more: Mapping[str, str]) -> dict[str, str]:
    result = {
        "PATH": f"{Path(git_program()).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_ALLOW_PROTOCOL": _scheme(remote) if remote else "none",
        **more,
    }
    if remote is not None:
        result["GIT_CONFIG_COUNT"] = str(len(remote.headers))
        for place, (name, value) in enumerate(remote.headers.items()):
            result[f"GIT_CONFIG_KEY_{place}"] = f"http.{remote.url}.extraHeader"
            result[f"GIT_CONFIG_VALUE_{place}"] = f"{name}: {value}"
    return {name: value for name, value in result.items() if value}


def _redactor(remote: Remote | None) -> Redactor:
    values = remote.headers.values() if remote else ()
    return Redactor(part for value in values for part in (value, *value.split()))


@asynccontextmanager
async def _started(
    command: Sequence[str], *, cwd: Path | None, env: Mapping[str, str]
) -> AsyncIterator[asyncio.subprocess.Process]:
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=cwd or "/",
            env=env,
            start_new_session=True,
            umask=0o022,  # the user of a jail has to be able to read what git writes
            pass_fds=held_descriptors(),
        )
    )
    try:
        process = await asyncio.shield(starting)
    except asyncio.CancelledError:
        # Cut off half-way, asyncio would end git alone and leave what git has started by then.
        await _end(await starting)
        raise
    try:
        yield process
    finally:
        if process.returncode is None:
            await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the whole group: git first, so that it can tidy up, then whatever it started and left."""
    try:
        _signal(process.pid, signal.SIGTERM)
        async with asyncio.timeout(_GRACE_SECONDS):
            await process.wait()
    except TimeoutError:
        pass
    finally:
        _signal(process.pid, signal.SIGKILL)
    await process.wait()


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, number)


async def _talk(
    process: asyncio.subprocess.Process, stdin: bytes, limit: int, each: Callable[[bytes], None] | None
) -> tuple[bytes, bool, str]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    said = asyncio.create_task(_write(process.stdin, stdin))
    complained = asyncio.create_task(_read_tail(process.stderr))
    try:
        if each is None:
            output, truncated = await _read(process.stdout, limit)
        else:
            output, truncated = b"", False
            while piece := await process.stdout.read(_CHUNK):
                each(piece)
        if truncated:
            return output, True, ""
        await said
        error = await complained
    finally:
        said.cancel()
        complained.cancel()
    return output, truncated, error.decode(errors="replace")


async def _write(pipe: asyncio.StreamWriter, content: bytes) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):  # git ended early; its exit code says why
        pipe.write(content)
        await pipe.drain()
        pipe.close()
        await pipe.wait_closed()


async def _read(pipe: asyncio.StreamReader, limit: int) -> tuple[bytes, bool]:
    """What comes until the end or the limit; the rest is left in the pipe."""
    pieces: list[bytes] = []
    size = 0
    while size <= limit and (piece := await pipe.read(_CHUNK)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)[:limit], size > limit


async def _read_tail(pipe: asyncio.StreamReader) -> bytes:
    """The last of what comes: the cause of a failure is said at the end, after any amount of chatter."""
    kept = b""
    while piece := await pipe.read(_CHUNK):
        kept = (kept + piece)[-_ERROR_BYTES:]
    return kept
