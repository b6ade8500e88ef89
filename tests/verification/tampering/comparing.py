"""Small changes, and what is found in them. The tables in `edits/` are written like a diff."""

from dataclasses import dataclass
from pathlib import Path

from journeyman.verification.tampering.findings import TamperFinding
from journeyman.verification.tampering.report import ChangedFile, find_tampering

_EDITS = Path(__file__).parent / "edits"


@dataclass(frozen=True)
class Edit:
    name: str
    path: str
    base: str | None
    head: str | None
    finds: str
    """A kind of finding, or `nothing`: then no finding may ask for approval."""


def source_edits(language: str) -> list[Edit]:
    """Edits of one source file: its path and text first, then the lines of each that it replaces."""
    text, _, edits = (_EDITS / f"{language}.txt").read_text(encoding="utf-8").partition("---\n")
    path, _, base = text.removeprefix("file ").partition("\n")
    found = []
    for name, finds, old, new in _blocks(edits):
        assert old is not None
        assert base.count(old) == 1, f"{name}: {old!r}"
        head = base.replace(old, new or "")
        found.append(Edit(f"{language}: {name}", path, base, head, finds))
    return found


def settings_edits() -> list[Edit]:
    """Edits of whole files, each as the base has it (-) and the head (+); no lines, no file."""
    blocks = _blocks((_EDITS / "settings.txt").read_text(encoding="utf-8"))
    return [Edit(f"{path}: {finds}", path, base, head, finds) for path, finds, base, head in blocks]


def _blocks(text: str) -> list[tuple[str, str, str | None, str | None]]:
    """What is before and behind the colon, the lines with a minus, those with a plus."""
    found = []
    for block in text.strip("\n").split("\n\n"):
        title, *lines = block.split("\n")
        name, _, finds = title.rpartition(": ")
        old, new = ([line[1:] + "\n" for line in lines if line[0] == sign] for sign in "-+")
        found.append((name, finds, "".join(old) if old else None, "".join(new) if new else None))
    return found


def changed(path: str, base: str | None, head: str | None) -> ChangedFile:
    return ChangedFile(
        path=path,
        base=base.encode() if base is not None else None,
        head=head.encode() if head is not None else None,
    )


def findings(path: str, base: str | None, head: str | None) -> tuple[TamperFinding, ...]:
    return find_tampering([changed(path, base, head)])


def holds(edit: Edit) -> bool:
    """Whether what is found in an edit is what its table says."""
    found = findings(edit.path, edit.base, edit.head)
    asked = {one.kind for one in found if one.severity == "ask"}
    return not asked if edit.finds == "nothing" else edit.finds in {one.kind for one in found}
