"""Garbage collection of a mirror, without losing anything that a ref, a snapshot or a workspace needs.

Unreferenced objects are deleted two weeks after they were written, so objects of a commit that is being made,
which come before their ref, are kept. Refs are not packed: a commit removes a stale lock file of its own ref,
and that must never be the lock of a running `pack-refs`.
"""

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path

from journeyman.git.mirror import Mirror
from journeyman.git.run import NETWORK_SECONDS, git

LOOSE_OBJECTS = 6700
"""Loose objects from which a mirror is packed: git's own default."""
_GRACE = "2.weeks.ago"
_SETTINGS = ("gc.packRefs=false", "gc.worktreePruneExpire=never", "gc.cruftPacks=false")


async def delete_refs(mirror: Mirror, refs: Iterable[str]) -> None:
    """Safe to repeat because a ref that is gone stays gone."""
    commands = "".join(f"delete {ref}\n" for ref in refs)
    async with mirror.lock.hold():
        mirror.drop_stale_lock("packed-refs")
        mirror.cache.branches = (
            None  # objects of a pushed branch may have been held by one of these refs alone
        )
        await git("update-ref", "--stdin", git_dir=mirror.path, stdin=commands.encode())


async def needs_gc(mirror: Mirror, *, loose_objects: int = LOOSE_OBJECTS) -> bool:
    return await asyncio.to_thread(_count_loose, mirror.path / "objects") > loose_objects


async def run_gc(mirror: Mirror) -> None:
    """Pack objects, and delete those that have been unreferenced for two weeks."""
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    async with mirror.lock.hold():
        await git(
            *settings, "gc", "--quiet", f"--prune={_GRACE}", git_dir=mirror.path, timeout=NETWORK_SECONDS
        )


def _count_loose(objects: Path) -> int:
    return sum(len(os.listdir(entry)) for entry in os.scandir(objects) if len(entry.name) == 2)
