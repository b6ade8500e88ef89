"""A commit and a move of a branch, written as git writes them.

An order makes these two more often than anything else, and starting git for them costs fifty times as much as
doing them. Whatever needs more than one file, a new branch above all, is left to git.
"""

import hashlib
import os
import tempfile
import time
import zlib
from contextlib import suppress
from pathlib import Path

from journeyman.errors import Conflict
from journeyman.forges.base import Person
from journeyman.git.commits import identity

_READABLE = 0o444
_ENTERED = 0o755
"""The user of a jail has to be able to read what is written here, whatever the server's own mask is."""


def write_commit(git_dir: Path, tree: str, parent: str, text: str, author: Person) -> str:
    """Make the commit's object; its name."""
    message = text.encode(errors="replace")
    head = f"tree {tree}\nparent {parent}\n{_signatures(author)}\n\n"
    content = head.encode(errors="replace") + message
    stored = b"commit %d\0%b" % (len(content), content)
    make = hashlib.sha1 if len(tree) == 40 else hashlib.sha256
    name = make(stored, usedforsecurity=False).hexdigest()
    directory = git_dir / "objects" / name[:2]
    with suppress(FileExistsError):
        directory.mkdir()
        directory.chmod(_ENTERED)
    # Git's own prefix: what a killed server leaves, git throws away with the other garbage.
    descriptor, making = tempfile.mkstemp(prefix="tmp_obj_", dir=directory)
    with open(descriptor, "wb") as file:
        file.write(zlib.compress(stored, 1))
    os.chmod(making, _READABLE)
    os.replace(making, directory / name[2:])
    return name


def move_branch(git_dir: Path, ref: str, new: str, old: str) -> bool:
    """Move a branch from one commit to another; False, and nothing done, when it has no file of its own.

    For the holder of the mirror's lock, in a thread: it waits for the disk. Raises Conflict when the branch
    is not at the old commit, or somebody else is about to move it.
    """
    path, lock = git_dir / ref, git_dir / f"{ref}.lock"
    try:
        descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except FileExistsError:
        raise _elsewhere(ref, "locked") from None
    except FileNotFoundError:
        return False
    try:
        with open(descriptor, "w") as file:
            os.fchmod(descriptor, 0o644)
            file.write(f"{new}\n")
            file.flush()
            os.fsync(descriptor)  # as git does: a power cut leaves the old place or the new one
        at = path.read_text().strip()
        if at != old:
            raise _elsewhere(ref, f"at {at} instead of {old}")
        os.replace(lock, path)
    except FileNotFoundError:
        return False
    finally:
        lock.unlink(missing_ok=True)
    return True


def _elsewhere(ref: str, found: str) -> Conflict:
    return Conflict(
        f"{ref} is {found}",
        hint="Somebody else uses this branch; choose another name for the order's.",
    )


def _signatures(author: Person) -> str:
    now = time.time()
    when = f"{int(now)} {time.strftime('%z', time.localtime(now))}"
    made = identity(author)
    parts = ((kind, made[f"GIT_{kind}_NAME"], made[f"GIT_{kind}_EMAIL"]) for kind in ("AUTHOR", "COMMITTER"))
    return "\n".join(f"{kind.lower()} {_bare(name)} <{_bare(email)}> {when}" for kind, name, email in parts)


def _bare(text: str) -> str:
    """Without what would end a name or an address."""
    return text.translate({ord(sign): None for sign in "<>\n"}).strip()
