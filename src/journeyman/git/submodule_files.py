"""The files of submodules in a workspace or a checkout: plain files, at the commits that are pinned.

They have no `.git`: our git writes and compares them with an index beside the git directory of the workspace
and the objects of the submodule's mirror, so no configuration or hook of a submodule is ever read. What an
agent changes in them is not committed: the entry of the submodule stays as it is.
"""

import asyncio
import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from journeyman.files.removal import remove_below
from journeyman.git.checkout_check import GITLINK
from journeyman.git.confine import Confinement
from journeyman.git.faults import fault_of
from journeyman.git.ownership import change_owner
from journeyman.git.refs import PINNED, checked_commit
from journeyman.git.run import LOCAL_SECONDS, git, run_git
from journeyman.git.submodules import MAX_DEPTH, recorded
from journeyman.git.trees import Hazards, LeftOut, opened_directory
from journeyman.sandboxes.identity import jail_uid

DIRECTORY = "submodules"
"""Where a git directory of ours keeps their indexes."""
_STATE = "filled.json"
_REASON = "changed inside a submodule, which stays at its commit"


@dataclass(frozen=True)
class _Filled:
    path: str
    commit: str
    mirror: str
    """Name of its mirror's directory; empty where the submodule could not be had."""


@dataclass(frozen=True)
class SubmoduleFiles:
    """The submodules of one tree."""

    order_id: str
    tree: Path
    git_dir: Path
    mirror: Path

    async def fill(self, commit: str) -> None:
        """Write the files of submodules that are not there at their commits yet."""
        if recorded(self.mirror) is None:
            return
        wanted = await self._wanted(self.mirror, commit, "", depth=1)
        known = set(read_state(self.git_dir))
        if known == set(wanted):
            return
        await asyncio.to_thread(self._remove, [one for one in known if one not in wanted])
        for one in sorted(wanted, key=lambda one: one.path):
            if one not in known and one.mirror:
                await self._write(one)
        _write_state(self.git_dir, wanted)

    async def reset(self, commit: str) -> None:
        """Throw away what was changed in submodules."""
        if recorded(self.mirror) is None:
            return
        known = read_state(self.git_dir)
        _write_state(self.git_dir, [])
        await asyncio.to_thread(self._remove, known)
        await self.fill(commit)

    async def changed(self, hazards: Hazards) -> list[LeftOut]:
        """The submodules in which something differs from the commit; what they ignore does not count."""
        filled = [one for one in read_state(self.git_dir) if one.mirror]
        return [LeftOut(os.fsencode(one.path), 0, _REASON) for one in filled if await self._has(one, hazards)]

    async def _wanted(self, mirror: Path, commit: str, above: str, *, depth: int) -> list[_Filled]:
        listing = await git("ls-tree", "-r", "-z", "--full-tree", checked_commit(commit), git_dir=mirror)
        mirrors = recorded(mirror) or {}
        found: list[_Filled] = []
        for entry in listing.split(b"\0"):
            facts, _, path = entry.partition(b"\t")
            if not facts.startswith(GITLINK):
                continue
            shown, pinned = os.fsdecode(path), checked_commit(facts.split()[2].decode())
            name = mirrors.get(shown, "")
            place = mirror.parent / name
            if name and not await _has_pinned(place, pinned):
                name = ""
            found.append(_Filled(f"{above}{shown}", pinned, name))
            if name and depth < MAX_DEPTH and recorded(place) is not None:
                found += await self._wanted(place, pinned, f"{above}{shown}/", depth=depth + 1)
        return found

    async def _write(self, one: _Filled) -> None:
        index, mirror = self._index(one), self.mirror.parent / one.mirror
        shutil.rmtree(index.parent, ignore_errors=True)
        index.parent.mkdir(parents=True)
        await asyncio.to_thread(_make_directory, self.tree, one.path)
        shown = Confinement(readable=(mirror,), writable=(index.parent, self.tree))
        await git(
            "read-tree", "--reset", "-u", one.commit,
            git_dir=mirror, env=self._env(one), confinement=shown, timeout=LOCAL_SECONDS,
        )  # fmt: skip
        uid, below = jail_uid(self.order_id), os.fsencode(one.path)
        if uid is not None:
            size = len(one.commit) // 2
            await asyncio.to_thread(change_owner, self.tree, index, uid, hash_bytes=size, below=below)

    async def _has(self, one: _Filled, hazards: Hazards) -> bool:
        mirror = self.mirror.parent / one.mirror
        if not await asyncio.to_thread(_is_directory, self.tree, one.path):
            return True
        answer = await run_git(
            "status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all",
            git_dir=mirror,
            env=self._env(one),
            confinement=Confinement(
                readable=(self.tree, mirror, self._index(one).parent),
                hidden=tuple(self.tree / os.fsdecode(file.path) for file in hazards.files),
                hidden_directories=tuple(self.tree / os.fsdecode(path) for path in hazards.repositories),
            ),
        )  # fmt: skip
        if answer.exit_code != 0:
            raise fault_of(answer.error, "status")
        # The first column compares with a head, which the mirror of a submodule does not have.
        return any(entry[1:2] not in (b" ", b"") for entry in answer.output.split(b"\0"))

    def _env(self, one: _Filled) -> dict[str, str]:
        return {"GIT_INDEX_FILE": str(self._index(one)), "GIT_WORK_TREE": str(self.tree / one.path)}

    def _index(self, one: _Filled) -> Path:
        digest = hashlib.sha256(os.fsencode(one.path)).hexdigest()
        return self.git_dir / DIRECTORY / digest / "index"

    def _remove(self, filled: Sequence[_Filled]) -> None:
        """The directories stay, empty, as git leaves those of submodules."""
        remove_below(self.tree, [os.fsencode(one.path) for one in filled])
        for one in filled:
            _make_directory(self.tree, one.path)


def read_state(git_dir: Path) -> list[_Filled]:
    """The submodules of a tree, those that could not be had included."""
    try:
        stored = json.loads((git_dir / DIRECTORY / _STATE).read_bytes())
    except FileNotFoundError:
        return []
    return [_Filled(*one) for one in stored]


def is_above_submodule(path: bytes, submodules: Sequence[_Filled]) -> bool:
    """Whether a changed path lies where the directory of a submodule has to be."""
    return any(os.fsencode(one.path).startswith(path.rstrip(b"/") + b"/") for one in submodules)


def _write_state(git_dir: Path, filled: Sequence[_Filled]) -> None:
    state = git_dir / DIRECTORY / _STATE
    state.parent.mkdir(exist_ok=True)
    fresh = state.with_suffix(".fresh")
    fresh.write_text(json.dumps([[one.path, one.commit, one.mirror] for one in filled]))
    os.replace(fresh, state)


def _is_directory(tree: Path, path: str) -> bool:
    """Whether there is a directory, no link on the way to it followed."""
    try:
        with opened_directory(tree, os.fsencode(path)):
            return True
    except OSError:
        return False


def _make_directory(tree: Path, path: str) -> None:
    """Make a directory and those above it; what is in the way of one is removed, be it a link."""
    parts = path.split("/")
    for depth in range(1, len(parts) + 1):
        above, place = "/".join(parts[: depth - 1]), "/".join(parts[:depth])
        if _is_directory(tree, place):
            continue
        remove_below(tree, [os.fsencode(place)])
        with opened_directory(tree, os.fsencode(above)) as parent:
            os.mkdir(parts[depth - 1], 0o755, dir_fd=parent)


async def _has_pinned(mirror: Path, commit: str) -> bool:
    if (mirror / PINNED / commit).exists():
        return True
    ref = f"{PINNED}{commit}"
    return (await run_git("show-ref", "--verify", "--quiet", ref, git_dir=mirror)).exit_code == 0
