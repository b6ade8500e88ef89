"""Change the owner of a workspace's files to the user of its jail, and update git's index accordingly.

The index stores the owner and change time of each file, so without the update every later `git status` would
read every file again. Links are never followed.
"""

import hashlib
import os
import shutil
import struct
from contextlib import suppress
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
    content = _with_new_stat(index.read_bytes(), facts, hash_bytes)
    fresh = index.with_name("index.fresh")
    fresh.write_bytes(content)
    shutil.copystat(index, fresh)  # git compares its time with those of the files
    os.replace(fresh, index)


def _is_on_the_way(directory: bytes, inside: bytes) -> bool:
    return directory.startswith(inside) or inside.startswith(directory)


def _with_new_stat(content: bytes, facts: dict[bytes, os.stat_result], hash_bytes: int) -> bytes:
    signature, version, count = struct.unpack_from(">4sII", content)
    assert signature == b"DIRC"
    assert version in (2, 3)
    result = bytearray(content[:-hash_bytes])
    offset = 12
    for _ in range(count):
        flags_at = offset + _STAT.size + hash_bytes
        (flags,) = struct.unpack_from(">H", result, flags_at)
        name_at = flags_at + (4 if flags & _EXTENDED else 2)
        name_end = result.index(b"\0", name_at)
        now = facts.get(bytes(result[name_at:name_end]))
        if now is not None:
            _update_stat(result, offset, now)
        offset += ((name_end - offset) // 8 + 1) * 8
    digest = hashlib.sha1(usedforsecurity=False) if hash_bytes == 20 else hashlib.sha256()
    digest.update(result)
    return bytes(result) + digest.digest()


def _update_stat(index: bytearray, offset: int, now: os.stat_result) -> None:
    _, _, seconds, nanoseconds, device, inode, mode, _, _, size = _STAT.unpack_from(index, offset)
    mtime = divmod(now.st_mtime_ns, 10**9)
    if (seconds, nanoseconds, inode, size) != (*mtime, now.st_ino & _32_BITS, now.st_size & _32_BITS):
        return
    ctime = divmod(now.st_ctime_ns, 10**9)
    owner = (now.st_uid, now.st_gid)
    _STAT.pack_into(index, offset, *ctime, *mtime, device, inode, mode, *owner, size)
