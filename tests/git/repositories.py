"""What tests of git work on: small real repositories, and an order's workspace on one of them."""

import asyncio
import os
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from journeyman.forges.base import Person, Remote
from journeyman.git.bases import Bases
from journeyman.git.commits import CommitMessage
from journeyman.git.mirror import FreshMirror, Mirror
from journeyman.git.mirrors import Mirrors
from journeyman.git.overlay import unmount
from journeyman.git.workspaces import Workspace, Workspaces
from journeyman.work_orders.repositories import Repository, parse_repository

Kind = Literal["git_branch", "git_worktree"]
ADA = Person("Ada", "ada@example.org")
ORDER = "wo-abc12345"
OVERLAYS = bool(os.environ.get("JOURNEYMAN_TEST_OVERLAYS"))
"""Set, it lets every test of git have workspaces that are overlays."""


def git(directory: Path, *arguments: str | bytes, stdin: bytes | None = None) -> str:
    """Plain git, as a person would run it, without anybody's configuration."""
    completed = subprocess.run(
        [
            "git",
            "-c",
            "user.name=Test",
            "-c",
            "user.email=test@example.org",
            "-c",
            "safe.directory=*",
            *arguments,
        ],
        cwd=directory,
        check=True,
        capture_output=True,
        input=stdin,
        env={"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
    )
    return completed.stdout.decode(errors="surrogateescape").strip("\n")


def make_repository(path: Path, files: dict[str, str] | None = None) -> Path:
    path.mkdir(parents=True)
    git(path, "init", "--quiet", "--initial-branch=main")
    return (
        path if files == {} else commit_files(path, files or {"readme.md": "hello\n", "src/app.py": "one\n"})
    )


def commit_files(path: Path, files: dict[str, str], message: str = "Begin") -> Path:
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(content)
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--message", message)
    return path


def repository_at(path: Path) -> Repository:
    return parse_repository(str(path), github_url="https://github.com", allow_local=True)


def remote_of(path: Path) -> Remote:
    return Remote(path.resolve().as_uri())


def message(subject: str = "Do it", *, subtask: int | None = None, round: int | None = None) -> CommitMessage:
    return CommitMessage(
        subject=subject, order_id=ORDER, phase="implementing", step="build", subtask=subtask, round=round
    )


@dataclass
class GitSetup:
    """A source repository, its mirror and workspaces of one kind."""

    source: Path
    home: Path
    kind: Kind
    overlays: bool = OVERLAYS
    """Whether workspaces are overlays, where this machine can mount them."""
    mirrors: Mirrors = field(init=False)
    workspaces: Workspaces = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """As after a crash: nothing is remembered but what is on disk."""
        self.mirrors = Mirrors(self.home / "mirrors")
        bases = Bases(self.home / "bases") if self.overlays else None
        self.workspaces = Workspaces(self.home / "workspaces", bases=bases)

    async def refresh(self) -> FreshMirror:
        return await self.mirrors.refresh(repository_at(self.source), remote_of(self.source))

    async def open(self, order_id: str = ORDER, branch: str | None = None) -> Workspace:
        mirror = await self.refresh()
        return await self.workspaces.open(
            mirror,
            order_id=order_id,
            kind=self.kind,
            branch=branch or f"journeyman/work-{order_id}",
            base_commit_sha=mirror.resolve("main"),
        )


def unmount_below(directory: Path) -> None:
    """Take away every overlay below a directory."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        place = Path(line.split()[4])
        if " - overlay " in line and place.is_relative_to(directory):
            unmount(place)


def tracked(mirror: Mirror, revision: str) -> list[str]:
    return git(mirror.path, "ls-tree", "-r", "-z", "--name-only", revision).strip("\0").split("\0")


def status(workspace: Workspace) -> str:
    """What git says in the workspace itself, as it would in a sandbox."""
    return git(workspace.tree, "--no-optional-locks", "status", "--porcelain", "--untracked-files=all")


def processes_about(directory: Path, doing: str = "") -> dict[int, str]:
    """Running processes whose command line names a directory, with that command line."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(FileNotFoundError, ProcessLookupError):
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
                if str(directory) in command and doing in command:
                    found[int(entry.name)] = command
    return found


async def processes_ended(directory: Path) -> None:
    """Waits until there are no such processes; one that was told to end takes a moment."""
    async with asyncio.timeout(30):
        while processes_about(directory):  # noqa: ASYNC110 - processes tell nobody
            await asyncio.sleep(0.01)


async def processes_started(directory: Path, doing: str = "") -> dict[int, str]:
    """Waits until there are such processes."""
    async with asyncio.timeout(60):
        while not (found := processes_about(directory, doing)):  # noqa: ASYNC110 - processes tell nobody
            await asyncio.sleep(0.01)
    return found
