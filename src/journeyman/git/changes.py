"""What `git status` says about a workspace, without what is not to be staged."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from journeyman.git.submodule_files import is_above_submodule, read_state
from journeyman.git.trees import NO_HAZARDS, Hazards

UNSTORABLE = re.compile(rb"(?:^|/)(?:\.git|git~1)[ .]*(?::[^/]*)?(?:/|$)", re.IGNORECASE)
"""Paths that git refuses to store."""


@dataclass(frozen=True)
class Changes:
    head: str
    is_staged: bool
    """Whether the index already differs from the head: a commit was interrupted."""
    files: tuple[bytes, ...]
    nested: tuple[bytes, ...]
    """Directories in which git saw a repository of their own, with the slash at the end."""
    new: frozenset[bytes] = frozenset()
    """The files among these that are not tracked."""
    hazards: Hazards = NO_HAZARDS
    """What was hidden from git."""

    def __bool__(self) -> bool:
        return self.is_staged or bool(self.files or self.nested)


def read_status(output: bytes, order_id: str, *, is_stopped: Callable[[], bool] = lambda: False) -> Changes:
    """`git status --porcelain=v2 --branch -z`, without what the platform itself keeps below `.journeyman`."""
    head, is_staged = "", False
    files: list[bytes] = []
    nested: list[bytes] = []
    new: set[bytes] = set()
    for entry in output.split(b"\0"):
        if is_stopped():
            break
        if entry.startswith(b"# branch.oid "):
            head = entry.removeprefix(b"# branch.oid ").decode()
        if entry[:2] not in (b"1 ", b"u ", b"? "):
            continue
        path = entry[2:] if entry[:2] == b"? " else entry.split(b" ", 8 if entry[:2] == b"1 " else 10)[-1]
        if entry[:2] == b"1 " and entry[2:3] != b".":
            is_staged = True
        is_as_staged = entry[:2] == b"1 " and entry[3:4] == b"."
        if is_as_staged or _is_ours(path, order_id) or UNSTORABLE.search(path):
            continue
        (nested if path.endswith(b"/") else files).append(path)
        if entry[:2] == b"? ":
            new.add(path)
    return Changes(head, is_staged, tuple(files), tuple(nested), frozenset(new))


def without_hidden(changes: Changes, hazards: Hazards) -> Changes:
    hidden = {one.path for one in hazards.files}
    return replace(
        changes, files=tuple(path for path in changes.files if path not in hidden), hazards=hazards
    )


def keeping_submodules(changes: Changes, git_dir: Path) -> Changes:
    """Without what lies in the place of a submodule's directory: its entry stays."""
    if not (submodules := read_state(git_dir)):
        return changes
    files = tuple(path for path in changes.files if not is_above_submodule(path, submodules))
    return replace(changes, files=files)


def _is_ours(path: bytes, order_id: str) -> bool:
    own = f".journeyman/{order_id}".encode()
    return path.rstrip(b"/") in (b".journeyman", own) or path.startswith(own + b"/")
