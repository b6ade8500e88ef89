"""Walk a tree that an agent wrote and may still be changing.

No recursion, so that no depth ends it; one directory is open at a time; and no link is followed, not even one
that takes a directory's place while the walk is under way.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

LARGEST_RULES = 1024 * 1024
"""Bytes of a `.gitignore` or `.gitattributes` that git is given to read."""
RULES = (".gitignore", ".gitattributes")
_MOST_ENTRIES = 1_000_000
"""A larger tree is not looked through to its end; git's limits hold there all the same."""


@dataclass(frozen=True)
class Directory:
    path: bytes
    """From the root; empty for the root itself."""
    descriptor: int
    """Open until the walk goes on."""
    entries: tuple[os.DirEntry[str], ...]

    def path_of(self, entry: os.DirEntry[str]) -> bytes:
        return os.path.join(self.path, os.fsencode(entry.name))


@dataclass(frozen=True)
class LeftOut:
    """A file that is not in a commit, and why."""

    path: bytes
    size: int
    reason: str

    @property
    def shown_path(self) -> str:
        return self.path.decode(errors="backslashreplace")


def walk(root: Path, *, skip: Callable[[bytes], bool] = lambda _: False) -> Iterator[Directory]:
    """Every directory below and with the root; what cannot be opened is passed over."""
    try:
        top = os.open(root, _FLAGS)
    except OSError:
        return
    try:
        home = os.readlink(b"/proc/self/fd/%d" % top)
        pending = [b""]
        while pending:
            path = pending.pop()
            try:
                descriptor = os.open(path or b".", _FLAGS, dir_fd=top)
            except OSError:
                continue
            try:
                # A link further up would have been followed: the descriptor's real path shows whether there
                # was one.
                if path and os.readlink(b"/proc/self/fd/%d" % descriptor) != os.path.join(home, path):
                    continue
                with os.scandir(descriptor) as listed:
                    directory = Directory(path, descriptor, tuple(listed))
                yield directory
                below = (entry for entry in directory.entries if entry.is_dir(follow_symlinks=False))
                pending += [path for path in map(directory.path_of, below) if not skip(path)]
            except OSError:
                continue
            finally:
                os.close(descriptor)
    finally:
        os.close(top)


@contextmanager
def opened_directory(root: Path, path: bytes) -> Iterator[int]:
    """A descriptor of a directory below the root, no link on the way to it followed."""
    with ExitStack() as opened:
        descriptor = os.open(root, _FLAGS)
        opened.callback(os.close, descriptor)
        for name in path.split(b"/") if path else ():
            descriptor = os.open(name, _FLAGS, dir_fd=descriptor)
            opened.callback(os.close, descriptor)
        yield descriptor


@dataclass(frozen=True)
class Hazards:
    """What must be hidden from git."""

    files: tuple[LeftOut, ...] = ()
    """Files that would block a reader, and rule files that are too long for git."""
    repositories: tuple[bytes, ...] = ()
    """The `.git` directories that an agent made: git would obey the configuration in them."""


NO_HAZARDS = Hazards()


def find_hazards(root: Path, *, is_stopped: Callable[[], bool] = lambda: False) -> Hazards:
    found: list[LeftOut] = []
    repositories: list[bytes] = []
    seen = 0
    for directory in walk(root):
        seen += len(directory.entries)
        if seen > _MOST_ENTRIES or is_stopped():
            break
        for entry in directory.entries:
            if entry.name == ".git" and directory.path and entry.is_dir(follow_symlinks=False):
                repositories.append(directory.path_of(entry))
            if entry.name in RULES or _is_special(entry):
                try:
                    facts = os.stat(entry.name, dir_fd=directory.descriptor, follow_symlinks=False)
                except FileNotFoundError:
                    continue
                if (reason := _hazard(entry.name, facts)) is not None:
                    found.append(LeftOut(directory.path_of(entry), facts.st_size, reason))
    return Hazards(tuple(found), tuple(repositories))


def remove_special_files(root: Path) -> None:
    """Remove named pipes and devices, which would block git, before it writes files."""
    for directory in walk(root):
        special = (entry for entry in directory.entries if _is_special(entry))
        for entry in special:
            with suppress(FileNotFoundError):
                mode = os.stat(entry.name, dir_fd=directory.descriptor, follow_symlinks=False).st_mode
                if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
                    os.unlink(entry.name, dir_fd=directory.descriptor)


def _is_special(entry: os.DirEntry[str]) -> bool:
    return not (
        entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False) or entry.is_symlink()
    )


def kind_of(mode: int) -> str:
    """What a file is that is neither a regular file, a directory nor a link."""
    kinds = {stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")


def _hazard(name: str, facts: os.stat_result) -> str | None:
    if stat.S_ISREG(facts.st_mode):
        if name in RULES and facts.st_size > LARGEST_RULES:
            return f"larger than the {LARGEST_RULES:,} bytes that a {name} may have"
        return None
    if stat.S_ISSOCK(facts.st_mode) or stat.S_ISLNK(facts.st_mode) or stat.S_ISDIR(facts.st_mode):
        return None  # opening it does not block
    return f"{kind_of(facts.st_mode)}, which git cannot store"
