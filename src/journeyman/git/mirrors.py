"""The mirrors of one Journeyman home: found, made, and brought up to date with their remotes."""

import asyncio
import hashlib
import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from journeyman.files.removal import remove_tree
from journeyman.forges.base import Remote
from journeyman.git.fetch import fetch, list_branches
from journeyman.git.hardlinks import link_objects
from journeyman.git.locks import FileLock
from journeyman.git.mirror import FreshMirror, Mirror
from journeyman.git.remote_access import ResolvedRemote, resolved_remote
from journeyman.git.run import git
from journeyman.work_orders.repositories import Repository

ATTRIBUTES = "* !filter !working-tree-encoding\n"
"""Wins over every `.gitattributes`: no file is left out because its attributes cannot be honoured."""

EXCLUDED = "".join(
    f"{name}\n"
    for name in (
        *("__pycache__/", "*.py[co]", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/"),
        *(".venv/", "venv/", ".tox/", ".nox/", "*.egg-info/", ".coverage", "node_modules/", ".gradle/"),
    )
)
"""Files of tools that are not meant to be committed, for repositories whose .gitignore does not list them."""


@dataclass(frozen=True)
class _Refresh:
    started: int
    remote: Remote
    found: FreshMirror


class Mirrors:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._known: dict[Path, Mirror] = {}
        self._refreshes: dict[Path, _Refresh] = {}
        self._counter = itertools.count()

    def at(self, repository: Repository) -> Mirror:
        """The mirror as it is, without asking the remote."""
        digest = hashlib.sha256(repository.url.encode(errors="surrogateescape")).hexdigest()[:16]
        readable = re.sub(r"[^A-Za-z0-9_.-]+", "-", f"{repository.owner}-{repository.name}")[:60]
        return self._at(self._directory.absolute() / f"{readable}-{digest}.git")

    def _at(self, path: Path) -> Mirror:
        if path not in self._known:
            self._known[path] = Mirror(path, FileLock(path.with_suffix(".lock")))
        return self._known[path]

    def all(self) -> list[Mirror]:
        """Every mirror there is."""
        return [self._at(path) for path in sorted(self._directory.absolute().glob("*.git"))]

    async def refresh(self, repository: Repository, remote: Remote) -> FreshMirror:
        """The mirror with the remote's branches as they are now: cloned at first, fetched when they moved.

        Calls that arrive during a refresh share the next one, because that starts after they were made.
        """
        mirror = self.at(repository)
        self._directory.mkdir(parents=True, exist_ok=True)
        asked = next(self._counter)
        async with mirror.lock.hold():
            shared = self._refreshes.get(mirror.path)
            if shared is not None and shared.started > asked and shared.remote == remote:
                return shared.found
            started = next(self._counter)
            found = await _refreshed(mirror, remote)
            self._refreshes[mirror.path] = _Refresh(started, remote, found)
        return found


async def _refreshed(mirror: Mirror, remote: Remote) -> FreshMirror:
    """For the holder of the mirror's lock."""
    cache = mirror.cache
    async with resolved_remote(remote) as source:
        theirs, head = await list_branches(source.remote)
        if not mirror.path.exists():
            cache.branches = None
            await _make(mirror.path, source, theirs)
        if theirs != cache.branches:
            if cache.branches is not None or theirs != await mirror.remote_branches():
                await fetch(mirror.path, source.remote)
            cache.branches = dict(theirs)
    return FreshMirror(mirror.path, mirror.lock, cache, theirs, head)


async def _make(path: Path, source: ResolvedRemote, branches: Mapping[str, str]) -> None:
    """Make a mirror under another name, and rename it when it is complete."""
    partial = path.with_suffix(".partial")
    await asyncio.to_thread(remove_tree, partial)
    object_format = "sha256" if any(len(sha) == 64 for sha in branches.values()) else "sha1"
    await git(
        "init", "--quiet", "--bare", "--template=", f"--object-format={object_format}", "--", str(partial)
    )
    (partial / "HEAD").write_text("ref: refs/heads/none-of-the-orders\n")
    (partial / "info").mkdir(exist_ok=True)
    (partial / "info" / "attributes").write_text(ATTRIBUTES)
    (partial / "info" / "exclude").write_text(EXCLUDED)
    if source.directory is not None:
        objects = source.directory.source.common / "objects"
        await asyncio.to_thread(link_objects, objects, partial / "objects")
    await fetch(partial, source.remote)
    partial.rename(path)
