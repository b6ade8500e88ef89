"""Change the owner of a workspace's files to the user of its jail, and update git's index accordingly.

The index stores the owner and change time of each file, so without the update every later `git status` would
read every file again. Links are never followed.
"""

import hashlib
import os
import shutil
import struct
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from journeyman.git.trees import walk

_STAT = struct.Struct(">10I")
"""ctime, its ns, mtime, its ns, device, inode, mode, user, group, size: as git's index has them."""
_EXTENDED = 0x4000
_32_BITS = 0xFFFFFFFF


def change_owner(tree: Path, index: Path, uid: int, *, hash_bytes: int, below: bytes = b"") -> None:
    """To be called right after git wrote files: one with git's time and size counts as unchanged.

    `below`: only this directory of the tree, which the index is about.
    """
    facts: dict[bytes, os.stat_result] = {}
    inside = below + b"/" if below else b""
    for directory in walk(tree, skip=lambda path: not _is_on_the_way(path + b"/", inside)):
        if not (directory.path + b"/").startswith(inside):
            continue
        os.chown(directory.descriptor, uid, uid)
        for entry in directory.entries:
            with suppress(FileNotFoundError):  # an agent's process may still be running
                os.chown(entry.name, uid, uid, dir_fd=directory.descriptor, follow_symlinks=False)
                facts[directory.path_of(entry).removeprefix(inside)] = os.stat(
                    entry.name, dir_fd=directory.descriptor, follow_symlinks=False
                )
    _rewrite(index, hash_bytes, lambda entry: _refreshed(entry, facts.get(entry.path)))


def mark_unchanged(
    index: Path, files: Mapping[bytes, tuple[str, os.stat_result]], *, hash_bytes: int
) -> None:
    """Let git take files for what the index has: those that stand for a blob of another content.

    By path, the blob that the file stands for and how it lies on the disk. An entry of another blob stays.
    """

    def update(entry: "_Entry") -> os.stat_result | None:
        blob, facts = files.get(entry.path, ("", None))
        return facts if entry.blob == blob else None

    _rewrite(index, hash_bytes, update)


@dataclass(frozen=True)
class _Entry:
    path: bytes
    blob: str
    mtime: tuple[int, int]
    inode: int
    size: int


def _is_on_the_way(directory: bytes, inside: bytes) -> bool:
    return directory.startswith(inside) or inside.startswith(directory)


def _refreshed(entry: _Entry, now: os.stat_result | None) -> os.stat_result | None:
    """The file as it is now, if it is the one that git wrote."""
    if now is None:
        return None
    found = (divmod(now.st_mtime_ns, 10**9), now.st_ino & _32_BITS, now.st_size & _32_BITS)
    return now if (entry.mtime, entry.inode, entry.size) == found else None


def _rewrite(index: Path, hash_bytes: int, update: Callable[[_Entry], os.stat_result | None]) -> None:
    content = _with_new_stat(index.read_bytes(), hash_bytes, update)
    fresh = index.with_name("index.fresh")
    fresh.write_bytes(content)
    shutil.copystat(index, fresh)  # git compares its time with those of the files
    os.replace(fresh, index)


def _with_new_stat(
    content: bytes, hash_bytes: int, update: Callable[[_Entry], os.stat_result | None]
) -> bytes:
    signature, version, count = struct.unpack_from(">4sII", content)
    assert signature == b"DIRC"
    assert version in (2, 3)
    result = bytearray(content[:-hash_bytes])
    offset = 12
    for _ in range(count):
        blob_at = offset + _STAT.size
        flags_at = blob_at + hash_bytes
        (flags,) = struct.unpack_from(">H", result, flags_at)
        name_at = flags_at + (4 if flags & _EXTENDED else 2)
        name_end = result.index(b"\0", name_at)
        _, _, seconds, nanoseconds, device, inode, mode, _, _, size = _STAT.unpack_from(result, offset)
        blob = bytes(result[blob_at:flags_at]).hex()
        now = update(_Entry(bytes(result[name_at:name_end]), blob, (seconds, nanoseconds), inode, size))
        if now is not None:
            times = (*divmod(now.st_ctime_ns, 10**9), *divmod(now.st_mtime_ns, 10**9))
            inode, size, owner = now.st_ino & _32_BITS, now.st_size & _32_BITS, (now.st_uid, now.st_gid)
            _STAT.pack_into(result, offset, *times, device, inode, mode, *owner, size)
        offset += ((name_end - offset) // 8 + 1) * 8
    digest = hashlib.sha1(usedforsecurity=False) if hash_bytes == 20 else hashlib.sha256()
    digest.update(result)
    return bytes(result) + digest.digest()
