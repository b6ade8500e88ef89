"""Run git so that only its arguments decide what it does.

No configuration of the machine, the user or a repository is read, no hook or filter runs, and a credential is
passed by environment only. When the caller is cancelled, the whole process group is killed.
"""

import asyncio
import os
import re
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypedDict, Unpack
from urllib.parse import urlsplit

from journeyman.access.redaction import Redactor
from journeyman.errors import Internal, InvalidInput, InvalidRepository, Transient, WorkspaceUnreadable
from journeyman.forges.base import Person, Remote
from journeyman.git.confine import LIMIT_SIGNALS, SECONDS, Confinement, confined
from journeyman.git.faults import fault_of
from journeyman.git.process import run_process

LOCAL_SECONDS = 300.0
NETWORK_SECONDS = 900.0
_OUTPUT_BYTES = 128_000_000

_CONFIG = (
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
_CONFIG_ARGUMENTS = tuple(part for setting in _CONFIG for part in ("-c", setting))
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
UPLOAD_PACK = f"--upload-pack=exec git {_SERVER} upload-pack"
"""Git's serving side in a directory of this machine: neither its hooks nor its owner matter."""
RECEIVE_PACK = f"--receive-pack=exec git {_SERVER} receive-pack"


@dataclass(frozen=True)
class GitResult:
    exit_code: int
    output: bytes
    error: str
    truncated: bool = False


_OWN_CODES = 129
"""Git's own exit codes end here; bubblewrap reports a signal as 128 plus its number."""
_NO_MEMORY = re.compile(r"out of memory|cannot allocate memory", re.IGNORECASE)


class GitOptions(TypedDict, total=False):
    git_dir: Path
    work_tree: Path
    remote: Remote
    """The only address that git may connect to; without one it may connect to nothing."""
    stdin: bytes
    env: Mapping[str, str]
    confinement: Confinement
    """Required for a git that reads files of an agent: what it can see, and its limits."""
    timeout: float
    limit: int
    """Bytes of output after which git is killed and the rest dropped."""
    each: Callable[[bytes], None]
    """Called with each piece of output; an exception from it kills git."""


async def git(*arguments: str, **how: Unpack[GitOptions]) -> bytes:
    """Git's output; a failure is raised as the error it means."""
    answer = await run_git(*arguments, **how)
    if answer.exit_code != 0:
        if "confinement" in how and _NO_MEMORY.search(answer.error):
            raise too_much(arguments[0], "needed more memory than it may use")
        raise fault_of(answer.error, arguments[0], how.get("git_dir"))
    if answer.truncated:
        raise Internal(
            f"git {arguments[0]} printed more than is allowed",
            hint="The repository or the change is too large; make it smaller.",
        )
    return answer.output


async def run_git(*arguments: str, **how: Unpack[GitOptions]) -> GitResult:
    """Run git to its end; a failing git is a result."""
    remote, work_tree = how.get("remote"), how.get("work_tree")
    command = _command(arguments, how.get("git_dir"), work_tree, remote)
    if "confinement" in how:
        command = await confined(command, how["confinement"])
    is_confined = "confinement" in how
    usual = NETWORK_SECONDS if remote else SECONDS if is_confined else LOCAL_SECONDS
    timeout = how.get("timeout", usual)
    try:
        async with asyncio.timeout(timeout):
            ended = await run_process(
                command,
                cwd=work_tree or "/",
                env=_environment(remote, how.get("env", {})),
                stdin=how.get("stdin", b""),
                limit=how.get("limit", _OUTPUT_BYTES),
                each=how.get("each"),
            )
    except TimeoutError:
        if is_confined:
            raise too_much(arguments[0], f"did not end within {timeout:.0f} s") from None
        raise Transient(
            f"git {arguments[0]} did not end within {timeout:.0f} s",
            hint="It is tried again; if it stays so, look at the network and the size of the repository.",
        ) from None
    exit_code = ended.exit_code
    if exit_code < 0 or (is_confined and exit_code > _OWN_CODES):
        ended_by = -exit_code if exit_code < 0 else exit_code - 128
        if is_confined and ended_by in LIMIT_SIGNALS:
            raise too_much(arguments[0], f"was ended by {signal.Signals(ended_by).name}")
        raise Transient(
            f"git {arguments[0]} was killed (exit code {exit_code})",
            hint="It is tried again; if it stays so, look whether the machine has too little memory.",
        )
    if is_confined and ended.error.startswith(b"bwrap: "):
        raise Transient(
            f"git {arguments[0]} could not be confined: {ended.error.decode(errors='replace').strip()[:300]}",
            hint="It is tried again; the workspace's files may be changing.",
        )
    error = _redactor(remote).redact(ended.error.decode(errors="replace")) if ended.error else ""
    return GitResult(exit_code, ended.output, error, ended.truncated)


def too_much(command: str, what: str) -> WorkspaceUnreadable:
    return WorkspaceUnreadable(
        f"git {command} {what} while it read the workspace's files",
        hint="Look there for named pipes, very large files and .gitignore patterns with many stars; "
        "the files stay in the workspace.",
    )


async def host_author(home: Path | None = None) -> Person | None:
    """The git identity of the user who runs Journeyman: the one call that reads their configuration."""
    if not (home or Path.home()).is_dir():
        return None
    answer = await run_git(
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
    command = [git_program(), *_CONFIG_ARGUMENTS]
    if remote is not None:
        command += ["-c", f"protocol.{_scheme(remote)}.allow=always"]
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


@cache
def _base_environment() -> Mapping[str, str]:
    return {
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
        "GIT_ALLOW_PROTOCOL": "none",
    }


def _environment(remote: Remote | None, more: Mapping[str, str]) -> dict[str, str]:
    result = {**_base_environment(), **more}
    if remote is not None:
        result["GIT_ALLOW_PROTOCOL"] = _scheme(remote)
        result["GIT_CONFIG_COUNT"] = str(len(remote.headers))
        for place, (name, value) in enumerate(remote.headers.items()):
            result[f"GIT_CONFIG_KEY_{place}"] = f"http.{remote.url}.extraHeader"
            result[f"GIT_CONFIG_VALUE_{place}"] = f"{name}: {value}"
    return {name: value for name, value in result.items() if value}


def _redactor(remote: Remote | None) -> Redactor:
    values = remote.headers.values() if remote else ()
    return Redactor(part for value in values for part in (value, *value.split()))
