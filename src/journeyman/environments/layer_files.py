"""What a set-up left on disk, made into a layer: moved, with modes and owners that suit every order.

The files were written by install scripts. They are handled after the last process of the set-up has ended, so
nothing changes any more; but links lead anywhere, directories may be unreadable, and there may be devices.
"""

import os
import shutil
import stat
import subprocess
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from journeyman.access.redaction import Redactor
from journeyman.errors import StoreUnavailable, WorkspaceUnreadable
from journeyman.sandboxes.overlay_launcher import DIRECTORY, make_directory

_NEVER = frozenset({"__pycache__", ".git"})
_BLOCK = 512
_CHUNK = 1 << 20
_LONGEST_PATH = 3500
_MOST_MOUNTS = 2000
_MOST_FILES = 5000
_LARGEST_FILES = 256 * 1024 * 1024
"""Bytes of single files, which are copied into each workspace."""


@dataclass(frozen=True)
class TreeSize:
    size_bytes: int = 0
    file_count: int = 0


@dataclass(frozen=True)
class Collected:
    """Paths in the workspace."""

    mounts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def normalise(top: Path) -> TreeSize:
    """Let everybody read and write everything, drop what is neither file, directory nor link; returns sizes.

    Only the sandboxes that a layer is shown in reach it: the directory above is closed to all other users.
    """
    owner = 0 if os.geteuid() == 0 else None
    size = count = 0
    seen: set[int] = set()
    for directory in _directories(top, owner):
        with os.scandir(directory) as entries:
            for entry in entries:
                facts = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(facts.st_mode):
                    continue
                if not stat.S_ISREG(facts.st_mode) and not stat.S_ISLNK(facts.st_mode):
                    os.unlink(entry.path)
                    continue
                count += 1
                if facts.st_nlink == 1 or facts.st_ino not in seen:
                    seen.add(facts.st_ino)
                    size += facts.st_blocks * _BLOCK
                    _share(entry.path, facts, owner)
    return TreeSize(size, count)


def _share(path: str, facts: os.stat_result, owner: int | None) -> None:
    if owner is not None and (facts.st_uid, facts.st_gid) != (owner, owner):
        os.chown(path, owner, owner, follow_symlinks=False)
    if stat.S_ISLNK(facts.st_mode):
        return
    mode = 0o777 if stat.S_ISDIR(facts.st_mode) or facts.st_mode & 0o111 else 0o666
    if stat.S_IMODE(facts.st_mode) != mode:
        os.chmod(path, mode)


def _directories(top: Path, owner: int | None) -> Iterator[str]:
    """Every directory from the top down, made accessible first."""
    pending = [str(top)]
    while pending:
        path = pending.pop()
        if len(os.fsencode(path)) > _LONGEST_PATH:
            raise WorkspaceUnreadable(
                "the install commands left directories that are nested too deeply",
                hint="Look which command makes them.",
            )
        _share(path, os.lstat(path), owner)
        yield path
        with os.scandir(path) as entries:
            pending += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]


def make_accessible(top: Path) -> None:
    """Let us look into every directory; root can anyway."""
    if os.geteuid() != 0:
        for _ in _directories(top, None):
            pass


def collect(tree: Path, target: Path, ignored: Iterable[str], tracked: Collection[str]) -> Collected:
    """Move what belongs to the layer out of the tree. `ignored` are paths; those of directories may end in /.

    What the repository tracks is never part of it, and neither is a link: where that leads is not ours.
    """
    mounts: dict[str, None] = {}
    files: list[str] = []
    above_tracked = {path[:end] for path in tracked for end in _slashes(path)}
    size = 0
    for path in sorted({path.rstrip("/") for path in ignored}):
        names = path.split("/")
        is_taken = any("/".join(names[:end]) in mounts for end in range(1, len(names)))
        if is_taken or path in above_tracked or path in tracked or _is_never_kept(names):
            continue
        facts = _facts(tree, names)
        if facts is None:
            continue
        place = target / path
        if stat.S_ISDIR(facts.st_mode):
            if not os.listdir(tree / path) or len(mounts) >= _MOST_MOUNTS:
                continue
            mounts[path] = None
        else:
            size += facts.st_size
            if size > _LARGEST_FILES or len(files) >= _MOST_FILES:
                continue
            files.append(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        os.rename(tree / path, place)
    return Collected(tuple(mounts), tuple(files))


def _slashes(path: str) -> list[int]:
    return [place for place, character in enumerate(path) if character == "/"]


def _is_never_kept(names: list[str]) -> bool:
    is_odd = any(name in ("", ".", "..") for name in names)
    return is_odd or ".git" in names or names[-1] in _NEVER or names[-1].endswith((".pyc", ".pyo"))


def _facts(tree: Path, names: list[str]) -> os.stat_result | None:
    """Of a regular file or a directory that is reached without any link."""
    path = tree
    for name in names[:-1]:
        path /= name
        if not path.is_dir() or path.is_symlink():
            return None
    with suppress(FileNotFoundError, NotADirectoryError):
        facts = os.lstat(path / names[-1])
        if stat.S_ISDIR(facts.st_mode) or stat.S_ISREG(facts.st_mode):
            return facts
    return None


def find_secret(tops: Iterable[Path], secrets: Collection[str]) -> str | None:
    """The path of a file that holds one of the secrets, in any of the ways in which one is written."""
    redactor = Redactor(secrets)
    overlap = 4 * max((len(secret) for secret in secrets), default=0)
    for top in tops:
        for directory, _, names in os.walk(top):
            for path in (os.path.join(directory, name) for name in names):
                if not os.path.islink(path) and _holds_secret(path, redactor, overlap):
                    return os.path.relpath(path, top.parent)
    return None


def _holds_secret(path: str, redactor: Redactor, overlap: int) -> bool:
    before = ""
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            text = before + chunk.decode("latin-1")
            if redactor.places_in(text):
                return True
            before = text[-overlap:] if overlap else ""
    return False


def copy_trees(
    source: Path, paths: Iterable[str], tree: Path, tracked: Collection[str], *, uid: int | None
) -> None:
    """Copy parts of an older layer into a new checkout, except where the repository has files of its own."""
    above_tracked = {path[:end] for path in tracked for end in _slashes(path)}
    for path in paths:
        if path not in above_tracked and _has_real_parents(tree, path) and not os.path.lexists(tree / path):
            copy_tree(source / path, tree / path, uid=uid)


def copy_tree(source: Path, target: Path, *, uid: int | None) -> None:
    """With times, modes and links as they are; the blocks are shared where the disk can do that."""
    words = ("--archive", "--reflink=auto", "--no-target-directory")
    _run("cp", *words, "--", str(source), str(target))
    if uid is not None:
        _run("chown", "--recursive", "--no-dereference", "--", f"{uid}:{uid}", str(target))


def _run(*command: str) -> None:
    done = subprocess.run(command, check=False, capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        why = done.stderr.decode(errors="replace").strip()[-300:]
        raise StoreUnavailable(
            f"an older environment could not be copied: {why}",
            hint="Look at the free space of the disk that holds JOURNEYMAN_HOME; it is tried again.",
        )


def _has_real_parents(tree: Path, path: str) -> bool:
    above = [tree / path[:end] for end in _slashes(path)]
    return all(one.is_dir() and not one.is_symlink() for one in above)


def copy_files(source: Path, paths: Iterable[str], tree: Path, *, uid: int | None) -> None:
    """Copy single files of a layer into a workspace, where there is nothing yet. No link is followed."""
    root = os.open(tree, DIRECTORY)
    try:
        for path in paths:
            with suppress(OSError):  # something is there already, or a link on the way
                _copy_file(source / path, root, path.split("/"), uid)
    finally:
        os.close(root)


def _copy_file(source: Path, root: int, names: list[str], uid: int | None) -> None:
    parent = os.dup(root)
    try:
        for name in names[:-1]:
            is_new = make_directory(parent, os.fsencode(name))
            below = os.open(name, DIRECTORY, dir_fd=parent)
            os.close(parent)
            parent = below
            if is_new and uid is not None:
                os.fchown(parent, uid, uid)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        mode = 0o755 if source.stat().st_mode & 0o111 else 0o644
        made = os.open(names[-1], flags, mode, dir_fd=parent)
        with open(made, "wb") as copy, source.open("rb") as file:
            if uid is not None:
                os.fchown(made, uid, uid)
            shutil.copyfileobj(file, copy)
            facts = os.fstat(file.fileno())
            os.utime(made, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    finally:
        os.close(parent)
