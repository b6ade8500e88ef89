"""Change the owner of a workspace's files to the user of its jail, and update git's index accordingly.

The index stores the owner and change time of each file, so without the update every later `git status` would
read every file again. Links are never followed.
"""

import hashlib
import os
import shutil
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from journeyman.git.trees import walk

_STAT = struct.Struct(">10I")
"""ctime, its ns, mtime, its ns, device, inode, mode, user, group, size: as git's index has them."""
_OWNER_AT = 28
"""Bytes of an entry before its user."""
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
        if os.fstat(directory.descriptor).st_uid != uid:
            os.chown(directory.descriptor, uid, uid)
        for entry in directory.entries:
            with suppress(FileNotFoundError):  # an agent's process may still be running
                found = _chown(entry.name, directory.descriptor, uid)
                facts[directory.path_of(entry).removeprefix(inside)] = found
    _rewrite(index, hash_bytes, lambda entry: _refreshed(entry, facts.get(entry.path)))


def owned_by(index: Path, uid: int, *, hash_bytes: int) -> None:
    """Let every file of an index belong to a user."""
    content = index.read_bytes()
    result, owner = bytearray(content[:-hash_bytes]), struct.pack(">2I", uid, uid)
    for offset in _offsets(content, hash_bytes):
        result[offset + _OWNER_AT : offset + _OWNER_AT + 8] = owner
    _replace(index, _signed(result, hash_bytes))


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


def _chown(name: str, directory: int, uid: int) -> os.stat_result:
    """The file as it is afterwards. In an overlay each change of an owner would cost a copy of the file."""
    found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    if (found.st_uid, found.st_gid) == (uid, uid):
        return found
    os.chown(name, uid, uid, dir_fd=directory, follow_symlinks=False)
    return os.stat(name, dir_fd=directory, follow_symlinks=False)


def _rewrite(index: Path, hash_bytes: int, update: Callable[[_Entry], os.stat_result | None]) -> None:
    content = index.read_bytes()
    result = bytearray(content[:-hash_bytes])
    for offset in _offsets(content, hash_bytes):
        blob_at = offset + _STAT.size
        flags_at = blob_at + hash_bytes
        (flags,) = struct.unpack_from(">H", content, flags_at)
        name_at = flags_at + (4 if flags & _EXTENDED else 2)
        path = content[name_at : content.index(b"\0", name_at)]
        _, _, seconds, nanoseconds, device, inode, mode, _, _, size = _STAT.unpack_from(content, offset)
        blob = content[blob_at:flags_at].hex()
        now = update(_Entry(path, blob, (seconds, nanoseconds), inode, size))
        if now is not None:
            times = (*divmod(now.st_ctime_ns, 10**9), *divmod(now.st_mtime_ns, 10**9))
            inode, size, owner = now.st_ino & _32_BITS, now.st_size & _32_BITS, (now.st_uid, now.st_gid)
            _STAT.pack_into(result, offset, *times, device, inode, mode, *owner, size)
    _replace(index, _signed(result, hash_bytes))


def _offsets(content: bytes, hash_bytes: int) -> Iterator[int]:
    """Where the entries of an index begin."""
    signature, version, count = struct.unpack_from(">4sII", content)
    assert signature == b"DIRC"
    assert version in (2, 3)
    offset = 12
    for _ in range(count):
        yield offset
        flags_at = offset + _STAT.size + hash_bytes
        name_at = flags_at + (4 if content[flags_at] & (_EXTENDED >> 8) else 2)
        offset += ((content.index(b"\0", name_at) - offset) // 8 + 1) * 8


def _signed(content: bytearray, hash_bytes: int) -> bytes:
    digest = hashlib.sha1(usedforsecurity=False) if hash_bytes == 20 else hashlib.sha256()
    digest.update(content)
    return bytes(content) + digest.digest()


def _replace(index: Path, content: bytes) -> None:
    fresh = index.with_name("index.fresh")
    fresh.write_bytes(content)
    shutil.copystat(index, fresh)  # git compares its time with those of the files
    os.replace(fresh, index)
