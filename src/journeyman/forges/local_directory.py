"""A repository of this machine as git sees it: its branches and objects without its configuration.

The configuration of a repository can make git run commands: filters, merge drivers, hooks, a file monitor,
the lazy fetch of a partial clone. So our git never runs in such a directory. It runs in a *stand-in*, a git
directory of our own with our own configuration, in which branches and objects are links to the real ones.
"""

import asyncio
import os
import re
import shutil
import stat
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from journeyman.errors import InvalidRepository, Transient

_GIT_SECONDS = 20.0
_LARGEST_FILE = 1_000_000
"""Bytes that are read of files such as HEAD and config."""
_BRANCH = "ref: refs/heads/"
_KEPT_SETTINGS = (
    r"^(core\.(bare|worktree|sparsecheckout|sharedrepository)|extensions\..*|remote\..*\.promisor)$"
)


@dataclass(frozen=True)
class LocalDirectory:
    path: Path
    """The path as the user named it."""
    git_dir: Path
    """The part of this working copy: HEAD and index."""
    common: Path
    """The part that all its working copies share: branches, objects, configuration."""

    def head_branch(self) -> str | None:
        """The branch that is checked out, or that the next commit would make."""
        head = _read(self.git_dir / "HEAD")
        return head.removeprefix(_BRANCH) if head is not None and head.startswith(_BRANCH) else None


@dataclass(frozen=True)
class StandIn:
    """A git directory to use instead of the repository's own, as long as its context lasts."""

    path: Path
    source: LocalDirectory
    settings: Mapping[str, str]
    """The few of the repository's settings that say what it is, names in lower case."""

    @property
    def is_partial(self) -> bool:
        return "extensions.partialclone" in self.settings or any(
            name.endswith(".promisor") for name in self.settings
        )

    @property
    def is_shallow(self) -> bool:
        return (self.source.common / "shallow").exists()

    @property
    def object_format(self) -> str:
        return self.settings.get("extensions.objectformat", "sha1")


def locate(path: Path) -> LocalDirectory:
    """The repository that lies at a path, with or without checked out files."""
    inside = path / ".git"
    git_dir = inside if inside.is_dir() else path
    if inside.is_file() and (text := _read(inside)) is not None and text.startswith("gitdir: "):
        git_dir = path / text.removeprefix("gitdir: ")
    shared = _read(git_dir / "commondir")
    common = git_dir / shared if shared is not None else git_dir
    if _read(git_dir / "HEAD") is None or not (common / "objects").is_dir() or not (common / "refs").is_dir():
        raise InvalidRepository(
            f"there is no such repository: git cannot read {path}",
            hint=f"Run `git -C {path} status` to see why.",
        )
    return LocalDirectory(path, git_dir.resolve(), common.resolve())


@asynccontextmanager
async def stand_in(path: Path) -> AsyncIterator[StandIn]:
    source = locate(path)
    settings = await _settings(source)
    if settings.get("extensions.refstorage", "files") != "files":
        raise InvalidRepository(
            f"{path} keeps its branches as {settings['extensions.refstorage']}, which is not supported",
            hint=f"Run `git -C {path} refs migrate --ref-format=files`.",
        )
    with tempfile.TemporaryDirectory(prefix="journeyman-git-") as directory:
        _lay_out(Path(directory), source, settings)
        yield StandIn(Path(directory), source, settings)


def checked_out_at(shown: StandIn, branch: str) -> LocalDirectory | None:
    """The working copy that has a branch checked out."""
    source = shown.source
    linked = source.common / "worktrees"
    copies = [
        LocalDirectory(Path(pointer).parent, entry, source.common)
        for entry in (sorted(linked.iterdir()) if linked.is_dir() else ())
        if (pointer := _read(entry / "gitdir")) is not None
    ]
    if shown.settings.get("core.bare", "false") not in ("true", "yes", "on", "1"):
        elsewhere = shown.settings.get("core.worktree")
        main = source.common / elsewhere if elsewhere else source.common.parent
        copies.insert(0, LocalDirectory(main.resolve(), source.common, source.common))
    return next((copy for copy in copies if copy.head_branch() == branch), None)


def _lay_out(directory: Path, source: LocalDirectory, settings: Mapping[str, str]) -> None:
    shown = ("objects", "refs", "packed-refs", "shallow", "worktrees")
    for name in shown:
        if name == "packed-refs" or (source.common / name).exists():
            (directory / name).symlink_to(source.common / name)
    (directory / "HEAD").write_text(f"{_read(source.common / 'HEAD') or f'{_BRANCH}none'}\n")
    object_format = settings.get("extensions.objectformat", "sha1")
    config = f"[core]\nrepositoryFormatVersion = {int(object_format != 'sha1')}\nbare = false\n"
    if re.fullmatch(
        r"group|all|world|everybody|true|0?[0-7]{3}", shared := settings.get("core.sharedrepository", "")
    ):
        config += f"sharedRepository = {shared}\n"
    if object_format != "sha1":
        config += "[extensions]\nobjectFormat = sha256\n"
    (directory / "config").write_text(config)
    if (attributes := _read(source.common / "info" / "attributes")) is not None:
        (directory / "info").mkdir()
        (directory / "info" / "attributes").write_text(f"{attributes}\n")


async def _settings(source: LocalDirectory) -> dict[str, str]:
    """The few settings that describe the repository. Included files are not read."""
    if _read(source.common / "config") is None:
        return {}
    _, answer = await ask_git(
        "config", "--file", str(source.common / "config"), "-z", "--get-regexp", _KEPT_SETTINGS
    )
    pairs = (entry.partition("\n") for entry in answer.split("\0") if entry)
    return {name.lower(): value for name, _, value in pairs}


def _read(path: Path) -> str | None:
    """The text of a small file; None for anything else: reading a named pipe would block."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, encoding="utf-8", errors="surrogateescape") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            return file.read(_LARGEST_FILE).strip()
    except OSError:
        return None


async def ask_git(*arguments: str) -> tuple[int, str]:
    """Exit code and output of a git that reads no configuration but the given one."""
    process = await asyncio.create_subprocess_exec(
        shutil.which("git") or "git",
        *("-c", "safe.directory=*", "-c", "protocol.allow=never", *arguments),
        cwd="/",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={
            "PATH": os.defpath,
            "LC_ALL": "C",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": "none",
        },
    )
    try:
        async with asyncio.timeout(_GIT_SECONDS):
            answer, _ = await process.communicate()
    except TimeoutError:
        raise Transient(
            f"git did not answer in {_GIT_SECONDS:.0f} s", hint="Check the disk that the repository lies on."
        ) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return await process.wait(), os.fsdecode(answer)
