"""Share the objects of a local repository by hard links instead of copies: git never changes an object."""

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from journeyman.git.trees import walk

_DIRECTORIES = ("pack", *(f"{number:02x}" for number in range(256)))
_PACK_SUFFIXES = (".pack", ".idx", ".rev")


def link_objects(source: Path, target: Path) -> None:
    """Link every object file of a repository into another, or copy it where a link is not possible.

    Objects that the repository itself borrows (alternates) are fetched afterwards.
    """
    for directory in walk(source, skip=lambda path: os.fsdecode(path) not in _DIRECTORIES):
        if not directory.path:
            continue
        place = target / os.fsdecode(directory.path)
        place.mkdir(exist_ok=True)
        for entry in directory.entries:
            is_object = (
                len(entry.name) in (38, 62)
                if directory.path != b"pack"
                else entry.name.endswith(_PACK_SUFFIXES)
            )
            with suppress(FileNotFoundError, FileExistsError):  # git may be repacking there
                if is_object and entry.is_file(follow_symlinks=False):
                    _link(entry.name, directory.descriptor, place / entry.name)


def _link(name: str, directory: int, place: Path) -> None:
    try:
        os.link(name, place, src_dir_fd=directory, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # another file system, or another user's file
        descriptor = os.open(
            name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory
        )
        with open(descriptor, "rb") as file:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                with place.open("xb") as copy:
                    shutil.copyfileobj(file, copy)
                place.chmod(0o444)
