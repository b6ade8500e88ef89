"""A cache of the commands of a commit.

The commit is the one that an order began from: what an agent writes to the branch can never become the text
of a command.
"""

from journeyman.git.commit_files import list_files, read_files
from journeyman.git.mirror import Mirror
from journeyman.knowledge.commands import (
    DIRECTORY,
    MAX_BYTES,
    MAX_FILES,
    CommandFile,
    Commands,
    is_wanted,
    read_commands,
)

_MAX_COMMITS = 64


class CommandCache:
    def __init__(self) -> None:
        self._by_commit: dict[str, Commands] = {}

    async def at(self, mirror: Mirror, commit: str) -> Commands:
        if commit not in self._by_commit:
            while len(self._by_commit) >= _MAX_COMMITS:
                del self._by_commit[next(iter(self._by_commit))]
            self._by_commit[commit] = await _read(mirror, commit)
        return self._by_commit[commit]


async def _read(mirror: Mirror, commit: str) -> Commands:
    listed = await list_files(mirror, commit, DIRECTORY)
    first = sorted((file for file in listed if is_wanted(file.path)), key=lambda file: file.path)[:MAX_FILES]
    fit = [file for file in first if file.size <= MAX_BYTES and not file.is_link]
    read = dict(zip([file.path for file in fit], await read_files(mirror, fit), strict=True))
    return read_commands(
        CommandFile(file.path, file.size, file.is_link, read.get(file.path, b"")) for file in listed
    )
