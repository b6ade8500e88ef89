"""A workspace of a django-size repository: made, asked for changes, committed and removed.

The other is `git worktree add` as it comes, and our own workspace as a full checkout. `--repository` takes a
git directory of a real repository; without it one of the size of Django's is made.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.measuring import ROOT, Row, Table, large_repository, median_ms

sys.path.insert(0, str(ROOT / "src"))

from journeyman.forges.base import Person, Remote
from journeyman.git.bases import Bases
from journeyman.git.commits import CommitMessage
from journeyman.git.mirror import FreshMirror
from journeyman.git.mirrors import Mirrors
from journeyman.git.workspaces import Workspaces
from journeyman.work_orders.repositories import parse_repository

_PART = 20
"""The workspace costs at most this part of `git worktree add`."""


class Contestant:
    """Workspaces of one way, with the seconds that each thing took."""

    def __init__(self, home: Path, mirror: FreshMirror, bases: Bases | None) -> None:
        self._workspaces = Workspaces(home, bases=bases)
        self._mirror = mirror
        self._number = 0
        self.opened: list[float] = []
        self.asked: list[float] = []
        self.committed: list[float] = []
        self.removed: list[float] = []

    async def measure(self) -> None:
        self._number += 1
        order_id = f"wo-{self._number:08}"
        started = time.perf_counter()
        workspace = await self._workspaces.open(
            self._mirror,
            order_id=order_id,
            kind="git_worktree",
            branch=f"bench/{self._workspaces.tree_of(order_id).parent.parent.name}-{order_id}",
            base_commit_sha=self._mirror.resolve(self._mirror.default_branch()),
        )
        self.opened.append(time.perf_counter() - started)
        started = time.perf_counter()
        assert not await workspace.has_changes()
        self.asked.append(time.perf_counter() - started)
        (workspace.tree / "notes.txt").write_text("done\n")
        message = CommitMessage(subject="Note", order_id=order_id, phase="implementing", step="build")
        started = time.perf_counter()
        assert await workspace.commit(message, author=Person("Ada", "ada@example.org"))
        self.committed.append(time.perf_counter() - started)
        started = time.perf_counter()
        await self._workspaces.remove(order_id)
        self.removed.append(time.perf_counter() - started)

    async def clear(self) -> None:
        await asyncio.to_thread(self._workspaces.trash.empty)


def add_worktree(mirror: Path, tree: Path, head: str) -> float:
    started = time.perf_counter()
    subprocess.run(["git", "worktree", "add", "-q", "--detach", str(tree), head], cwd=mirror, check=True)
    taken = time.perf_counter() - started
    subprocess.run(["git", "worktree", "remove", "--force", str(tree)], cwd=mirror, check=True)
    return taken


async def run(place: Path, source: Path, times: int) -> int:
    repository = parse_repository(str(source), github_url="https://github.com", allow_local=True)
    mirror = await Mirrors(place / "mirrors").refresh(repository, Remote(repository.url))
    head = mirror.resolve(mirror.default_branch())
    bases = Bases(place / "bases")
    started = time.perf_counter()
    if await bases.get(mirror, head) is None:
        print("Overlays cannot be mounted here: there is nothing to compare.")
        return 0
    first = time.perf_counter() - started
    overlay = Contestant(place / "overlays", mirror, bases)
    full = Contestant(place / "full", mirror, None)
    worktrees = []
    for number in range(times):
        await overlay.measure()
        await full.measure()
        worktrees.append(add_worktree(mirror.path, place / f"tree-{number}", head))
        await overlay.clear()
        await full.clear()
    table = Table(f"Workspaces of {source.name}, {times} of each in turn")
    bar = median_ms(worktrees) / _PART
    table.add(
        Row(
            "made, on a warm base",
            median_ms(overlay.opened),
            median_ms(worktrees),
            "git worktree add",
            bar=bar,
        )
    )
    table.add(
        Row("made as a full checkout", median_ms(full.opened), median_ms(worktrees), "git worktree add")
    )
    table.add(Row("asked for changes", median_ms(overlay.asked), median_ms(full.asked), "full checkout"))
    table.add(Row("a commit", median_ms(overlay.committed), median_ms(full.committed), "full checkout"))
    table.add(Row("removed", median_ms(overlay.removed), median_ms(full.removed), "full checkout"))
    table.notes.append(f"The base, made once for a tree of files, took {first * 1000:,.0f} ms.")
    return table.finish()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, a rougher figure")
    parser.add_argument("--repository", type=Path, help="a git directory, for example of Django")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="journeyman-bench-") as place:
        source = options.repository or large_repository(Path(place) / "generated")
        return asyncio.run(run(Path(place), source, 3 if options.quick else 7))


if __name__ == "__main__":
    sys.exit(main())
