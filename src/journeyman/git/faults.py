"""Map a failure of git to an error, by git's messages.

Git runs with `LC_ALL=C.UTF-8`, so its messages are always in English.
"""

import re
from pathlib import Path

from journeyman.errors import (
    Conflict,
    Internal,
    InvalidRepository,
    JourneymanError,
    RateLimited,
    StoreUnavailable,
    Transient,
    Unauthenticated,
)

_FULL = re.compile(r": (no space left on device|disk quota exceeded)$", re.IGNORECASE | re.MULTILINE)
_STALE_LOCK = re.compile(r"index\.lock': file exists", re.IGNORECASE)
"""The workspace is locked by us, so this file was left by a killed git; the next attempt removes it."""
_LIMITED = re.compile(r"returned error: 429")
_AUTHENTICATION = re.compile(
    r"authentication failed|could not read (username|password)|terminal prompts disabled"
    r"|returned error: 40[13]|permission to \S+ denied",
    re.IGNORECASE,
)
_NOT_FOUND = re.compile(
    r"repository ('.*' )?not found|repository '.*' does not exist|not a git repository"
    r"|does not appear to be a git repository|returned error: (404|30\d)|url base from redirection",
    re.IGNORECASE,
)
_TRANSIENT = re.compile(
    r"could not resolve|couldn't resolve|failed to connect|couldn't connect|connection (was )?(reset|refused)"
    r"|timed out|operation too slow|returned error: 5\d\d|early eof|hung up unexpectedly|remote end hung up"
    r"|rpc failed|empty reply|unexpected disconnect|http/2 stream|(gnutls|ssl|tls)\S* .*error"
    r"|transfer closed|network is unreachable|temporary failure",
    re.IGNORECASE,
)
_DAMAGED = re.compile(
    r"missing (blob|tree|commit|object)|bad (tree )?object|unable to (read|unpack|parse)|not our ref"
    r"|could not (read|fetch) [0-9a-f]{40}|could not parse|not a (tree|valid) object|object file .* is empty"
    r"|is corrupt|inflate: "
    r"|did not send all necessary|missing necessary|index file .* (too small|does not match)"
    r"|promisor|transport '\w+' not allowed|shallow (update|file)",
    re.IGNORECASE,
)
_OBJECT = re.compile(r"\b[0-9a-f]{40}")
_REFUSED_PATH = re.compile(r"invalid path '(.*)'", re.IGNORECASE)
_LOCKED = re.compile(r"cannot lock ref|reference already exists", re.IGNORECASE)


class UnreadableObjects(InvalidRepository):
    """Objects that git needs are missing or damaged."""


def fault_of(stderr: str, command: str, git_dir: Path | None = None) -> JourneymanError:
    """The error for a git that failed: the first pattern that matches, the most specific first."""
    last = last_line(stderr)
    if _FULL.search(stderr):
        return StoreUnavailable(
            f"git {command} found no room: {last}",
            hint="Free some space on the disk that holds JOURNEYMAN_HOME; it is tried again by itself.",
        )
    if _STALE_LOCK.search(stderr):
        return Transient(f"git {command} was cut off: {last}", hint="It is tried again.")
    if _LIMITED.search(stderr):
        return RateLimited(
            f"the forge refuses more requests for now: {last}", hint="It is tried again later."
        )
    if _AUTHENTICATION.search(stderr):
        return Unauthenticated(
            f"git {command} was refused: {last}",
            hint="Set GITHUB_TOKEN to a token that may read and write this repository.",
        )
    if _NOT_FOUND.search(stderr):
        return InvalidRepository(
            f"there is no such repository, or it may not be seen: {last}",
            hint="Check its address, and that the token may see it.",
        )
    if (refused := _REFUSED_PATH.search(stderr)) is not None:
        return InvalidRepository(
            f"the repository holds {refused[1]!r}, which git refuses to check out",
            hint="Remove it from the branch: it would lie where git keeps its own files, or outside.",
        )
    if _DAMAGED.search(stderr):
        return damaged(f"git {command} cannot read objects that it needs: {_named(stderr)}", git_dir)
    if _TRANSIENT.search(stderr):
        return Transient(f"git {command} was cut off: {last}", hint="It is tried again.")
    if _LOCKED.search(stderr):
        return Conflict(
            f"git {command} found a branch other than expected: {last}",
            hint="Somebody else uses this branch, or one whose name begins like it; choose another name.",
        )
    return Internal(f"git {command} failed: {last}", hint="The server's log may tell more.")


def damaged(what: str, git_dir: Path | None) -> UnreadableObjects:
    return UnreadableObjects(
        what,
        hint=f"Run `git --git-dir={git_dir or '…'} fsck --full` to see which are damaged or missing; "
        "a mirror that holds no unpushed work can be removed, and is made again.",
    )


def _named(stderr: str) -> str:
    """The line that names the object; git's last line only says that it gave up."""
    lines = [line.strip() for line in stderr.splitlines() if _DAMAGED.search(line)]
    named = [line for line in lines if _OBJECT.search(line)]
    return (named or lines)[0][:300]


def last_line(stderr: str) -> str:
    """The line that names the cause: git puts it last, after `fatal:` or `error:`."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    marked = [line for line in lines if line.startswith(("fatal:", "error:", "remote:"))]
    line = (marked or lines or ["git said nothing"])[-1]
    return line.removeprefix("fatal: ").removeprefix("error: ")[:500]
