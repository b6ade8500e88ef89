"""The files of a change that matter here, read from the mirror's objects: nothing is checked out."""

from collections.abc import Collection
from dataclasses import dataclass

from journeyman.git.commit_files import ListedFile, read_files
from journeyman.git.mirror import Mirror
from journeyman.git.refs import checked_commit
from journeyman.git.run import git
from journeyman.verification.tampering.changed_file import ChangedFile
from journeyman.verification.tampering.compare_scripts import has_recipes
from journeyman.verification.tampering.snapshots import is_snapshot
from journeyman.verification.tampering.startup_hooks import is_startup_hook
from journeyman.verification.tampering.syntax import MAX_BYTES, grammar_of
from journeyman.verification.trust_roots import is_trust_root

MAX_FILES = 1_500
MAX_TOTAL_BYTES = 15_000_000
_FILE_MODES = (b"100644", b"100755", b"120000")
_LISTING_BYTES = 50_000_000


@dataclass(frozen=True)
class _Change:
    path: str
    base: str | None
    head: str | None
    """Blobs; None where that commit has no file at the path."""


def matters(path: str) -> bool:
    """Whether a change of this path could be tampering."""
    found = grammar_of(path) is not None or is_trust_root(path) or is_snapshot(path)
    return found or has_recipes(path) or is_startup_hook(path)


async def gather_changes(mirror: Mirror, base: str, head: str) -> list[ChangedFile]:
    """Files that differ between two commits. What is too large, or beyond what is read of one change, is
    listed without its contents."""
    listing = await git(
        "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev",
        checked_commit(base), checked_commit(head), "--",
        git_dir=mirror.path, limit=_LISTING_BYTES,
    )  # fmt: skip
    changes = [one for one in _changes(listing) if matters(one.path)]
    # What decides about all tests is read first, should the change be larger than what is read.
    changes.sort(key=lambda one: (not is_trust_root(one.path), one.path))
    sizes = await _sizes(
        mirror, {blob for one in changes for blob in (one.base, one.head) if blob is not None}
    )
    readable: set[_Change] = set()
    total = 0
    for one in changes:
        both = [sizes[blob] for blob in (one.base, one.head) if blob is not None]
        if len(readable) < MAX_FILES and max(both) <= MAX_BYTES and total + sum(both) <= MAX_TOTAL_BYTES:
            readable.add(one)
            total += sum(both)
    contents = await _contents(mirror, readable, sizes)
    return [_changed_file(one, contents if one in readable else None) for one in changes]


def _changes(listing: bytes) -> list[_Change]:
    fields = listing.split(b"\0")
    found = []
    for facts, path in zip(fields[::2], fields[1::2], strict=False):
        old_mode, mode, old, new = facts.lstrip(b":").split()[:4]
        found.append(
            _Change(
                path.decode(errors="backslashreplace"),
                old.decode() if old_mode in _FILE_MODES else None,
                new.decode() if mode in _FILE_MODES else None,
            )
        )
    return [one for one in found if one.base != one.head]


async def _sizes(mirror: Mirror, blobs: set[str]) -> dict[str, int]:
    if not blobs:
        return {}
    asked = "".join(f"{blob}\n" for blob in sorted(blobs)).encode()
    answer = await git(
        "cat-file", "--batch-check=%(objectname) %(objectsize)", git_dir=mirror.path, stdin=asked
    )
    return {blob: int(size) for blob, size in (line.split() for line in answer.decode().splitlines())}


async def _contents(mirror: Mirror, changes: Collection[_Change], sizes: dict[str, int]) -> dict[str, bytes]:
    blobs = sorted({blob for one in changes for blob in (one.base, one.head) if blob is not None})
    listed = [ListedFile(path="", blob=blob, size=sizes[blob], is_link=False) for blob in blobs]
    return dict(zip(blobs, await read_files(mirror, listed), strict=True))


def _changed_file(change: _Change, contents: dict[str, bytes] | None) -> ChangedFile:
    if contents is None:
        empty = (b"" if change.base else None, b"" if change.head else None)
        return ChangedFile(path=change.path, base=empty[0], head=empty[1], is_complete=False)
    base = contents[change.base] if change.base is not None else None
    head = contents[change.head] if change.head is not None else None
    return ChangedFile(path=change.path, base=base, head=head)
