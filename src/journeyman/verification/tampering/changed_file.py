"""A file of the change, as both commits have it."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ChangedFile:
    path: str
    base: bytes | None
    """None: the change adds the file."""
    head: bytes | None
    """None: the change removes it, or it has another path now."""
    is_complete: bool = True
    """Whether both contents are here. One that is too large is left empty, and not compared."""
