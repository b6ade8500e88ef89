"""Which new files are left out of a commit: personal and machine files, very large files, secrets.

Such a file stays in the workspace and in snapshots, which are never pushed. Files that the repository already
tracks are committed, unless a change would add a secret.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePath

from journeyman.settings import Settings


@dataclass(frozen=True)
class CommitPolicy:
    patterns: tuple[str, ...] = ()
    """Names, or paths, of new files to leave out. `!` lets one in again; the last that fits decides."""
    max_file_bytes: int | None = None
    finds_secrets: bool = False
    known_secrets: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: Settings) -> "CommitPolicy":
        return cls(
            patterns=tuple(settings.commit_leaves_out),
            max_file_bytes=settings.commit_max_file_bytes or None,
            finds_secrets=settings.commit_finds_secrets,
            known_secrets=tuple(settings.secrets()),
        )

    def refuses(self, path: bytes, size: int) -> str | None:
        """Why a new file is to be left out, if it is."""
        shown = path.decode(errors="backslashreplace")
        name, fitting = PurePath(shown).name, None
        for pattern in self.patterns:
            plain = pattern.removeprefix("!")
            if fnmatchcase(shown if "/" in plain else name, plain):
                fitting = pattern
        if fitting is not None and not fitting.startswith("!"):
            return f"new files named like {fitting} are not committed"
        if self.max_file_bytes is not None and size > self.max_file_bytes:
            return f"new files above {self.max_file_bytes:,} bytes are not committed"
        return None


EVERYTHING = CommitPolicy()
"""The policy of snapshots: nothing is left out."""
