"""Read files of a commit from the mirror's objects: nothing is checked out, and no link is followed."""

from collections.abc import Sequence
from dataclasses import dataclass

from journeyman.git.mirror import Mirror
from journeyman.git.refs import checked_commit
from journeyman.git.run import git

_LINK = b"120000"


@dataclass(frozen=True)
class ListedFile:
    path: str
    """Bytes that are not UTF-8 are shown as `\\xNN`."""
    blob: str
    size: int
    is_link: bool


async def list_files(mirror: Mirror, commit: str, directory: str) -> list[ListedFile]:
    """Every file below a directory of a commit, by path; the file itself where the path is one."""
    listing = await git(
        "ls-tree", "-r", "-l", "-z", "--full-tree", checked_commit(commit), "--", directory,
        git_dir=mirror.path,
    )  # fmt: skip
    found = []
    for entry in listing.split(b"\0"):
        facts, _, path = entry.partition(b"\t")
        if not path:
            continue
        mode, kind, blob, size = facts.split()
        if kind == b"blob":
            shown = path.decode(errors="backslashreplace")
            found.append(ListedFile(shown, blob.decode(), int(size), mode == _LINK))
    return found


async def read_files(mirror: Mirror, files: Sequence[ListedFile]) -> list[bytes]:
    """The contents of the files, in the same order."""
    if not files:
        return []
    asked = "".join(f"{file.blob}\n" for file in files).encode()
    answer = await git("cat-file", "--batch", git_dir=mirror.path, stdin=asked)
    read, place = [], 0
    for file in files:
        begin = answer.index(b"\n", place) + 1
        read.append(answer[begin : begin + file.size])
        place = begin + file.size + 1
    return read
