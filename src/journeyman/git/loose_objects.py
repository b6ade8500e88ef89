"""Write a commit, and move a branch to it, without starting git.

An order does these two more often than anything else, and starting git costs fifty times as much as doing
them. What needs more than one file, a new branch for example, is left to git. Every commit of an order is
written by `write_commit`, byte for byte as `git commit-tree` would write it.
"""

import hashlib
import os
import tempfile
import time
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from journeyman.errors import Conflict
from journeyman.forges.base import Person
from journeyman.git.commits import identity

_READABLE = 0o444
"""The user of a jail has to be able to read an object, whatever the server's own umask is."""


def write_commit(
    git_dir: Path, *, tree: str, parents: Sequence[str], signatures: bytes, message: bytes
) -> str:
    """Store a commit object and return its name.

    `signatures` are the header lines after the parents: of `signatures_of` for a new commit, or those of
    another commit that is made again.
    """
    links = "".join(f"parent {parent}\n" for parent in parents)
    content = b"%b%b\n\n%b" % (f"tree {tree}\n{links}".encode(), signatures, message)
    stored = b"commit %d\0%b" % (len(content), content)
    make = hashlib.sha1 if len(tree) == 40 else hashlib.sha256
    name = make(stored, usedforsecurity=False).hexdigest()
    objects = git_dir / "objects"
    directory = objects / name[:2]
    with suppress(FileExistsError):
        directory.mkdir()
        directory.chmod(objects.stat().st_mode & 0o7777)  # what git made of umask and core.sharedRepository
    # A temporary file with git's own prefix: git's garbage collection removes what a killed server leaves.
    descriptor, temporary = tempfile.mkstemp(prefix="tmp_obj_", dir=directory)
    with open(descriptor, "wb") as file:
        file.write(zlib.compress(stored, 1))
    os.chmod(temporary, _READABLE)
    os.replace(temporary, directory / name[2:])
    return name


def signatures_of(author: Person) -> bytes:
    """The author and committer lines of a commit that is made now."""
    now = time.time()
    when = f"{int(now)} {time.strftime('%z', time.localtime(now))}"
    made = identity(author)
    parts = ((kind, made[f"GIT_{kind}_NAME"], made[f"GIT_{kind}_EMAIL"]) for kind in ("AUTHOR", "COMMITTER"))
    lines = (f"{kind.lower()} {_bare(name)} <{_bare(email)}> {when}" for kind, name, email in parts)
    return "\n".join(lines).encode(errors="replace")


def move_branch(git_dir: Path, ref: str, new: str, old: str) -> bool:
    """Move a branch to another commit. False, with nothing done, when the ref has no file of its own.

    For the holder of the mirror's lock, and in a thread, because it waits for the disk. Raises Conflict when
    the branch is not at the old commit or its lock file exists.
    """
    path, lock = git_dir / ref, git_dir / f"{ref}.lock"
    try:
        descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except FileExistsError:
        raise _moved(ref, "locked") from None
    except FileNotFoundError:
        return False
    try:
        with open(descriptor, "w") as file:
            os.fchmod(descriptor, 0o644)
            file.write(f"{new}\n")
            file.flush()
            os.fsync(descriptor)  # as git does: after a power cut the branch is at the old or the new commit
        at = path.read_text().strip()
        if at != old:
            raise _moved(ref, f"at {at} instead of {old}")
        os.replace(lock, path)
    except FileNotFoundError:
        return False
    finally:
        lock.unlink(missing_ok=True)
    return True


def _moved(ref: str, found: str) -> Conflict:
    return Conflict(
        f"{ref} is {found}",
        hint="Somebody else uses this branch; choose another name for the order's.",
    )


def _bare(text: str) -> str:
    """Without the characters that end a name or an address in a commit."""
    return text.translate({ord(sign): None for sign in "<>\n"}).strip()
