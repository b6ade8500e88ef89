"""Clean checkouts of a commit, made from the mirror alone.

Checks must prove something about the commit, so they run where nothing of an agent can be: no ignored file,
no environment and no process. A checkout is discarded after its checks.
"""

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from journeyman.git.lfs_files import fill_lfs
from journeyman.git.mirror import Mirror
from journeyman.git.ownership import change_owner
from journeyman.git.refs import checked_commit
from journeyman.git.staging import Index, in_thread
from journeyman.git.submodule_files import SubmoduleFiles
from journeyman.git.trees import find_hazards
from journeyman.sandboxes.identity import jail_uid


@dataclass(frozen=True)
class Checkout:
    tree: Path
    git_dir: Path
    mirror: Path

    @property
    def git_directories(self) -> tuple[Path, ...]:
        """What a sandbox has to show, read-only and at the same path, for git to work in it."""
        return (self.git_dir, self.mirror)

    async def ignored(self, order_id: str) -> list[str]:
        """What lies in the tree and is ignored by git; a directory that is ignored as a whole ends in `/`."""
        index = _index_of(self, order_id)
        hazards = await in_thread(find_hazards, self.tree)
        listing = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
        found = await index.hiding(hazards).git(*listing)
        return [os.fsdecode(path) for path in found.split(b"\0") if path]


class Checkouts:
    """The checkouts of one process, in a directory of its own; what lies beside it was left by others."""

    def __init__(self, directory: Path, *, discard: Callable[[Path], None]) -> None:
        """`discard` removes a directory that hostile code could write."""
        self._all = directory
        self._own = directory / uuid.uuid4().hex
        self._discard = discard

    @asynccontextmanager
    async def open(self, mirror: Mirror, order_id: str, commit_sha: str) -> AsyncIterator[Checkout]:
        directory = self._own / uuid.uuid4().hex
        checkout = Checkout(directory / "tree", directory / "git", mirror.path)
        try:
            await _fill(checkout, order_id, checked_commit(commit_sha))
            yield checkout
        finally:
            self._discard(directory)

    def leftovers(self) -> list[Path]:
        """Checkouts that killed processes left."""
        return [path for path in self._all.iterdir() if path != self._own] if self._all.is_dir() else []


async def _fill(checkout: Checkout, order_id: str, commit_sha: str) -> None:
    """As `git worktree add --detach` would, but not registered in the mirror: it can vanish at any time."""
    checkout.tree.mkdir(parents=True)
    checkout.git_dir.mkdir()
    for name, content in {"HEAD": commit_sha, "commondir": str(checkout.mirror)}.items():
        (checkout.git_dir / name).write_text(f"{content}\n")
    index = _index_of(checkout, order_id)
    await index.write_files("read-tree", "--reset", "-u", commit_sha)
    (checkout.tree / ".git").write_text(f"gitdir: {checkout.git_dir}\n")
    (checkout.git_dir / "gitdir").write_text(f"{checkout.tree / '.git'}\n")
    os.chmod(checkout.git_dir, 0o755)  # noqa: S103 - shown read-only in the sandbox, whose user is not ours
    for path in checkout.git_dir.iterdir():
        os.chmod(path, 0o644)
    uid = jail_uid(order_id)
    if uid is not None:
        await asyncio.to_thread(change_owner, checkout.tree, index.path, uid, hash_bytes=len(commit_sha) // 2)
    await fill_lfs(order_id, checkout.tree, index.path, checkout.mirror, commit_sha)
    await SubmoduleFiles(order_id, checkout.tree, checkout.git_dir, checkout.mirror).fill(commit_sha)


def _index_of(checkout: Checkout, order_id: str) -> Index:
    return Index(
        order_id=order_id,
        path=checkout.git_dir / "index",
        git_dir=checkout.git_dir,
        tree=checkout.tree,
        mirror=checkout.mirror,
    )
