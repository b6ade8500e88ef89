"""The address that git is given for a remote: a server, or the stand-in of a repository of this machine."""

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
    """The stand-in, where the remote is a directory of this machine."""


@asynccontextmanager
async def resolved_remote(remote: Remote) -> AsyncIterator[ResolvedRemote]:
    """A remote that is safe to give to git: the configuration of a local repository is not read."""
    parts = urlsplit(remote.url)
    if parts.scheme != "file":
        yield ResolvedRemote(remote)
        return
    async with stand_in(Path(unquote(parts.path))) as directory:
        try:
            yield ResolvedRemote(Remote(directory.path.as_uri()), directory)
        except UnreadableObjects as error:
            raise _explained(error, directory) from error


def _explained(error: JourneymanError, directory: StandIn) -> InvalidRepository:
    """The error with what to do about objects that are missing or damaged in a local repository."""
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
