"""Keep a mirror small without losing anything that a ref, a snapshot or a workspace needs.

Objects that nothing refers to are thrown away two weeks after they were written, so work that is under way,
whose objects come before their ref, is never among them. Refs are not packed: who commits removes the lock
file of its own ref, which must never be another git's.
"""

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path

from journeyman.git.mirror import Mirror
from journeyman.git.run import NETWORK_SECONDS, git

LOOSE_OBJECTS = 6700
"""How many single files make a mirror worth packing: git's own measure."""
_GRACE = "2.weeks.ago"
_SETTINGS = ("gc.packRefs=false", "gc.worktreePruneExpire=never", "gc.cruftPacks=false")


async def delete_refs(mirror: Mirror, refs: Iterable[str]) -> None:
    """Safe to repeat because a ref that is gone stays gone."""
    orders = "".join(f"delete {ref}\n" for ref in refs)
    async with mirror.lock.hold():
        mirror.drop_stale_lock("packed-refs")
        mirror.cache.branches = None  # what was pushed may have been held by one of these refs alone
        await git("update-ref", "--stdin", git_dir=mirror.path, stdin=orders.encode())


async def needs_gc(mirror: Mirror, *, loose_objects: int = LOOSE_OBJECTS) -> bool:
    return await asyncio.to_thread(_count_loose, mirror.path / "objects") > loose_objects


async def run_gc(mirror: Mirror) -> None:
    """Put objects into packs, and drop those that nothing has referred to for two weeks."""
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    async with mirror.lock.hold():
        await git(
            *settings, "gc", "--quiet", f"--prune={_GRACE}", git_dir=mirror.path, timeout=NETWORK_SECONDS
        )


def _count_loose(objects: Path) -> int:
    return sum(len(os.listdir(entry)) for entry in os.scandir(objects) if len(entry.name) == 2)
