"""Where git connects to for a remote: a server, or the stand-in of a repository of this machine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from journeyman.errors import InvalidRepository, JourneymanError
from journeyman.forges.base import Remote
from journeyman.forges.local_directory import StandIn, stand_in
from journeyman.git.faults import UnreadableObjects


@dataclass(frozen=True)
class ResolvedRemote:
    remote: Remote
    directory: StandIn | None = None
    """What the remote is, where it is a directory of this machine."""


@asynccontextmanager
async def resolved_remote(remote: Remote) -> AsyncIterator[ResolvedRemote]:
    """A remote that git can be given; no configuration of a repository of this machine counts there."""
    parts = urlsplit(remote.url)
    if parts.scheme != "file":
        yield ResolvedRemote(remote)
        return
    async with stand_in(Path(unquote(parts.path))) as directory:
        try:
            yield ResolvedRemote(Remote(directory.path.as_uri()), directory)
        except UnreadableObjects as error:
            raise _told(error, directory) from error


def _told(error: JourneymanError, directory: StandIn) -> InvalidRepository:
    """What to do about objects that a repository of this machine does not have, or has damaged."""
    path = directory.source.path
    if directory.is_partial:
        return InvalidRepository(
            f"{path} is a partial clone, and objects that are needed are not in it: {error.message}",
            hint=f"Run `git -C {path} fetch --refetch --no-filter` to get them.",
        )
    if directory.is_shallow:
        return InvalidRepository(
            f"{path} is a shallow clone, and history that is needed is not in it: {error.message}",
            hint=f"Run `git -C {path} fetch --unshallow` to get it.",
        )
    return InvalidRepository(
        f"objects of {path} are damaged or missing: {error.message}",
        hint=f"Run `git -C {path} fsck --full` to see which; a fresh clone of its origin has them.",
    )
