"""The floor: the same git and jail operations by a plain script, with nothing durable and nobody watching.

Git as it comes, for everything that an order has git do: the repository and its remote are looked at, a
worktree is made, what changed is looked for, staged in a jail, committed, counted and pushed, and what is
left over is looked for again. The jail has the namespaces of ours; a persistent shell in it starts each
command.
"""

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

from bench.measuring import git

_IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")


class Floor:
    """A warm mirror of one repository, and work done on it by hand."""

    def __init__(self, repository: Path, place: Path) -> None:
        self._place = place
        self._mirror = place / "mirror.git"
        self._names = 0
        self._alone = asyncio.Lock()
        """Held for what two gits cannot do at once in one repository: fetch, and add a worktree."""
        place.mkdir()
        git(place, "clone", "-q", "--bare", str(repository), str(self._mirror))
        git(self._mirror, "config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")

    def _next(self) -> tuple[str, Path]:
        self._names += 1
        name = f"floor-{self._names}"
        return name, self._place / name

    async def start(self) -> None:
        """What has to happen before an agent can begin: its files, and a jail."""
        name, tree = self._next()
        await _git(self._mirror, "worktree", "add", "-q", "-b", name, str(tree), "main")
        await _run("/", *_jail(tree), "true")

    async def submit(self) -> None:
        """From an order to a pushed branch, the agent being instant."""
        name, tree = self._next()
        async with self._alone:
            await _git(self._mirror, "fetch", "-q", "origin")
        await self._check_out(name, tree)
        (tree / "notes.txt").write_text("done\n")
        await self._publish(name, tree)

    async def work(self, *, calls: int, latency: float, command: str) -> None:
        """An order whose agent calls a shell so many times, each after an answer that takes its time."""
        name, tree = self._next()
        await _git(self._mirror, "rev-parse", "--verify", "--quiet", "main^{commit}")
        await _git(self._mirror, "ls-remote", "-q", "--heads", "origin")
        await self._check_out(name, tree)
        shell = await asyncio.create_subprocess_exec(
            *_jail(tree), "bash", stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert shell.stdin is not None
        assert shell.stdout is not None
        for _ in range(calls):
            await asyncio.sleep(latency)
            shell.stdin.write(f"bash -c '{command}'; echo $?\n".encode())
            assert await shell.stdout.readline() == b"0\n"
        await asyncio.sleep(latency)
        shell.stdin.close()
        await shell.wait()
        await self._publish(name, tree)
        await _git(tree, "status", "--porcelain")
        await asyncio.to_thread(shutil.rmtree, tree)

    async def _check_out(self, name: str, tree: Path) -> None:
        """As `worktree add` does it, with the files written outside the lock."""
        async with self._alone:
            add = ("worktree", "add", "-q", "--no-checkout", "-b", name, str(tree), "main")
            await _git(self._mirror, *add)
        await _git(tree, "reset", "-q", "--hard")

    async def _publish(self, name: str, tree: Path) -> None:
        await _git(tree, "status", "--porcelain")
        await _run(str(tree), *_jail(tree, writable=self._mirror), "git", "add", "-A")
        await _git(tree, *_IDENTITY, "commit", "-q", "-m", "Work")
        await _git(tree, "diff", "--numstat", "main", "HEAD")
        await _git(tree, "push", "-q", "origin", name)


def _jail(tree: Path, writable: Path | None = None) -> list[str]:
    own_users = [] if os.geteuid() == 0 else ["--unshare-user"]
    result = ["bwrap", *own_users, "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    result += ["--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    result += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
    for path in filter(None, (tree, writable)):
        result += ["--bind", str(path), str(path)]
    return [*result, "--chdir", str(tree)]


async def _git(place: Path, *arguments: str) -> None:
    await _run(str(place), "git", *arguments)


async def _run(place: str, *command: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *command, cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    code = await process.wait()
    assert code == 0, command
