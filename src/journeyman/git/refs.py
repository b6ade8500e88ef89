"""Every ref that Journeyman writes in a mirror, and the check that a text is a commit.

What a ref holds is never collected as garbage, so deleting a ref is the only way to lose work.
"""

import re
from contextlib import suppress
from pathlib import Path

from journeyman.errors import InvalidInput

REMOTE_BRANCHES = "refs/remotes/origin/"
"""The remote's branches as they were last fetched. The orders' own branches are `refs/heads/*`."""
ORDERS = "refs/journeyman/orders/"
"""The base commit of each order. Its presence also says that the order owns its branch."""
SNAPSHOTS = "refs/journeyman/snapshots/"
"""Uncommitted work of an order, numbered."""
REPLACED = "refs/journeyman/replaced/"
"""Heads of an order's branch from before a rebase: evidence names those commits."""
STASHES = "refs/journeyman/set-aside/"
"""The order's side of a rebase conflict, by round."""
FOUND = "refs/journeyman/remote/"
"""Head of the remote's branch where it was not what the order had pushed."""
PINNED = "refs/journeyman/pinned/"
"""Commits that other repositories have as a submodule."""
NOTES = "refs/notes/journeyman"
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def is_commit(text: str) -> bool:
    return _COMMIT.fullmatch(text) is not None


def checked_commit(text: str) -> str:
    """The full name of a commit, or InvalidInput: nothing else is ever passed to git as a revision."""
    if not is_commit(text):
        raise InvalidInput(f"{text!r} is not the full name of a commit", hint="Give all of its 40 digits.")
    return text


def drop_stale_lock(git_dir: Path, ref: str) -> None:
    """Remove a lock file that a killed git left at a ref. Only for the holder of the lock that guards it."""
    with suppress(FileNotFoundError, NotADirectoryError):
        (git_dir / f"{ref}.lock").unlink()
