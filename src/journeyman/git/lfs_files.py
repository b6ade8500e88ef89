"""The contents of LFS files in a workspace or a checkout.

They are copied from the store, never linked: an agent that writes its file must not change the content of
others. The index keeps the pointer's blob with the times of the content's file, so git takes it as unchanged.
What an agent changes is staged as a pointer, and its content put into the store, where a push finds it.
"""

import asyncio
import errno
import os
import stat
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias

from journeyman.git.lfs import LfsStore, Pointer, parse_pointer, pointer_text
from journeyman.git.ownership import mark_unchanged
from journeyman.git.trees import opened_directory
from journeyman.sandboxes.identity import jail_uid

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_ELSEWHERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
"""Errors that mean that the file is gone, or that a link is in its place."""
_EARLIER_SECONDS = 10
"""How much older than the index a content is made: git reads a file that is as new as the index again."""

_Marks: TypeAlias = dict[bytes, tuple[str, os.stat_result]]


async def fill_lfs(order_id: str, tree: Path, index: Path, mirror: Path, commit: str) -> None:
    """Replace the pointers that lie in the tree by their contents, as far as the store has them."""
    store = LfsStore(mirror)
    if store.exists():
        pointers = await store.pointers(commit)
        uid, size = jail_uid(order_id), len(commit) // 2
        await asyncio.to_thread(_fill, store, tree, index, pointers, uid=uid, hash_bytes=size)


async def stage_lfs(
    store: LfsStore,
    tree: Path,
    index: Path,
    run: Callable[..., Awaitable[bytes]],
    paths: Sequence[bytes],
) -> None:
    """Stage files as pointers, with their contents in the store. `run` runs git on the index."""
    found = await asyncio.to_thread(_store_contents, store, tree, paths)
    if not found:
        return
    with tempfile.TemporaryDirectory(dir=index.parent) as directory:
        files = [Path(directory) / str(number) for number in range(len(found))]
        for file, one in zip(files, found.values(), strict=True):
            file.write_bytes(pointer_text(one.pointer))
        blobs = (await run("hash-object", "-w", "--no-filters", "--", *map(str, files))).decode().split()
    entries = b""
    marks: _Marks = {}
    for blob, (path, one) in zip(blobs, found.items(), strict=True):
        mode = 0o755 if one.facts.st_mode & 0o100 else 0o644
        entries += f"100{mode:o} {blob}\t".encode() + path + b"\0"
        marks[path] = (blob, one.facts)
    await run("update-index", "--replace", "-z", "--index-info", stdin=entries)
    await asyncio.to_thread(mark_unchanged, index, marks, hash_bytes=len(blobs[0]) // 2)


def lfs_contents(tree: Path, paths: Sequence[bytes]) -> set[bytes]:
    """Those of the paths that are regular files and no pointers themselves."""
    return {path for path in paths if _is_content(tree, path)}


@dataclass(frozen=True)
class _Taken:
    pointer: Pointer
    facts: os.stat_result


def _store_contents(store: LfsStore, tree: Path, paths: Sequence[bytes]) -> dict[bytes, _Taken]:
    taken: dict[bytes, _Taken] = {}
    for path in paths:
        try:
            with _opened(tree, path) as file:
                facts = os.fstat(file.fileno())
                taken[path] = _Taken(store.add(file), facts)
        except FileNotFoundError:
            continue  # gone since git saw it; the next time it is staged as deleted
    return taken


def _is_content(tree: Path, path: bytes) -> bool:
    try:
        with _opened(tree, path) as file:
            is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            return is_file and parse_pointer(file.read(1024)) is None
    except OSError:
        return False


def _opened(tree: Path, path: bytes) -> IO[bytes]:
    above, _, name = path.rpartition(b"/")
    with opened_directory(tree, above) as directory:
        return open(os.open(name, _READ, dir_fd=directory), "rb")


def _fill(
    store: LfsStore,
    tree: Path,
    index: Path,
    pointers: Mapping[bytes, Pointer],
    *,
    uid: int | None,
    hash_bytes: int,
) -> None:
    marks: _Marks = {}
    for path, pointer in pointers.items():
        if not store.has(pointer):
            continue
        above, _, name = path.rpartition(b"/")
        try:
            with opened_directory(tree, above) as directory:
                facts = _replace(store, directory, name, pointer, uid)
        except OSError as error:
            if error.errno not in _ELSEWHERE:
                raise
            continue
        if facts is not None:
            marks[path] = (pointer.blob, facts)
    if marks:
        mark_unchanged(index, marks, hash_bytes=hash_bytes)


def _replace(
    store: LfsStore, directory: int, name: bytes, pointer: Pointer, uid: int | None
) -> os.stat_result | None:
    """Put the content in the place of its pointer; None where something else lies there."""
    with open(os.open(name, _READ, dir_fd=directory), "rb") as there:
        facts = os.fstat(there.fileno())
        if not stat.S_ISREG(facts.st_mode) or there.read(len(pointer.text) + 1) != pointer.text:
            return None
    fresh = f".lfs-{uuid.uuid4().hex}".encode()
    descriptor = os.open(fresh, _WRITE, 0o600, dir_fd=directory)
    try:
        with open(descriptor, "wb") as file, store.path_of(pointer.oid).open("rb") as content:
            while os.sendfile(file.fileno(), content.fileno(), None, 1 << 30):
                pass
            os.fchmod(descriptor, stat.S_IMODE(facts.st_mode))
            if uid is not None:
                os.fchown(descriptor, uid, uid)
            earlier = time.time_ns() - _EARLIER_SECONDS * 10**9
            os.utime(descriptor, ns=(earlier, earlier))
        os.replace(fresh, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        os.unlink(fresh, dir_fd=directory)
        raise
    return os.stat(name, dir_fd=directory, follow_symlinks=False)
