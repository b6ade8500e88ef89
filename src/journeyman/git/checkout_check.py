"""Whether a commit can be checked out, decided while git is still listing its files.

A repository of a few kilobytes can expand to 10^10 files (a tree bomb); the first entry beyond the limit ends
the listing. Directories count as well, because a tree bomb need not contain a file.
"""

import posixpath
import re
from dataclasses import dataclass, field
from pathlib import Path

from journeyman.errors import InvalidRepository
from journeyman.git.faults import damaged
from journeyman.git.trees import LARGEST_RULES, RULES

_LFS = re.compile(rb"^[^#\n]*\sfilter=lfs(?:\s|$)", re.MULTILINE)
GITLINK = b"160000"
"""The mode of a submodule's entry."""
_MAX_PATH_BYTES = 4000
_REFUSED_NAME = re.compile(rb"\.{1,2}|(?:\.git|git~1)[ .]*(?::.*)?", re.IGNORECASE)


@dataclass
class CheckoutCheck:
    max_files: int
    max_bytes: int
    git_dir: Path | None = None
    """The repository, for the hint about objects that cannot be read."""
    attributes: list[str] = field(default_factory=list)
    """Blobs that are `.gitattributes` files."""
    gitlinks: dict[bytes, str] = field(default_factory=dict)
    """Where submodules lie, and the commits that they are pinned to."""
    uses_lfs: bool = False
    entries: int = 0
    total_bytes: int = 0
    _rest: bytes = b""

    def take(self, piece: bytes) -> None:
        """The next piece of `git ls-tree -r -t -l -z`. Raises InvalidRepository at the first thing wrong."""
        *entries, self._rest = (self._rest + piece).split(b"\0")
        for entry in entries:
            facts, _, path = entry.partition(b"\t")
            mode, _, blob, size = facts.split()
            self._take_entry(mode, blob.decode(), size, path)

    def take_attributes(self, content: bytes) -> None:
        """The content of those blobs, as `git cat-file --batch` gives it."""
        self.uses_lfs = _LFS.search(content) is not None

    def _take_entry(self, mode: bytes, blob: str, size: bytes, path: bytes) -> None:
        if size == b"BAD":  # an object that git cannot read
            raise damaged(f"{path.decode(errors='replace')} ({blob}) is damaged or missing", self.git_dir)
        self.entries += 1
        self.total_bytes += int(size) if size != b"-" else 0
        if self.entries > self.max_files:
            raise InvalidRepository(
                f"a checkout would have more than {self.max_files:,} files and directories",
                hint="An operator can raise JOURNEYMAN_REPOSITORY_MAX_FILES.",
            )
        if self.total_bytes > self.max_bytes:
            raise InvalidRepository(
                f"a checkout would be larger than {self.max_bytes:,} bytes",
                hint="An operator can raise JOURNEYMAN_REPOSITORY_MAX_BYTES.",
            )
        name = posixpath.basename(path)
        if _REFUSED_NAME.fullmatch(name):
            raise InvalidRepository(
                f"the repository holds {path.decode(errors='replace')!r}, which git refuses to check out",
                hint="Remove it from the branch: it would lie where git keeps its own files, or outside.",
            )
        if len(path) > _MAX_PATH_BYTES:
            raise InvalidRepository(
                f"a file lies deeper than {_MAX_PATH_BYTES} characters of path", hint="Shorten its path."
            )
        is_rules = name.decode(errors="replace") in RULES or path == b".gitmodules"
        if is_rules and size.isdigit() and int(size) > LARGEST_RULES:
            raise InvalidRepository(
                f"{path.decode(errors='replace')} is larger than the {LARGEST_RULES:,} bytes it may have",
                hint="Shorten the file: every rule in it costs time for every file.",
            )
        if mode == GITLINK:
            self.gitlinks[path] = blob
        if name == b".gitattributes":
            self.attributes.append(blob)
