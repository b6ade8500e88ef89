"""Recorded results that tests compare with: what was recorded on the base and says something else now."""

import re
from collections.abc import Iterator

from journeyman.verification.tampering.findings import TamperFinding, as_code

_SNAPSHOT = re.compile(
    r"(?:.*/)?(?:__snapshots__|__image_snapshots__|snapshots|[^/]+-snapshots)/.+"
    r"|.*\.(?:snap|ambr|golden|approved\.\w+|snap\.png)"
)
_ENTRY = re.compile(r"^(?:exports\[`(?P<jest>.*)`\] = |# name: (?P<syrupy>.*)$)", re.MULTILINE)


def is_snapshot(path: str) -> bool:
    return bool(_SNAPSHOT.fullmatch(path))


def compare_snapshots(path: str, base: bytes | None, head: bytes | None) -> Iterator[TamperFinding]:
    if base is None:
        return
    if head is None:
        yield _finding(path, "A snapshot is removed; the next run may record another.")
        return
    old, new = _entries(base), _entries(head)
    changed = [name for name in old if name in new and old[name] != new[name]]
    gone = [name for name in old if name not in new]
    for names, what in ((changed, "recorded anew"), (gone, "removed")):
        if names:
            shown = f", the first {as_code(names[0])}" if names[0] else ""
            yield _finding(path, f"{len(names)} of {len(old)} snapshots are {what}{shown}.")


def _entries(content: bytes) -> dict[str, str]:
    """By name; a file without names is one entry."""
    source = content.decode(errors="replace")
    parts = list(_ENTRY.finditer(source))
    if not parts:
        return {"": re.sub(r"\A---\n.*?\n---\n", "", source, count=1, flags=re.DOTALL)}
    ends = [part.start() for part in parts[1:]] + [len(source)]
    return {
        part["jest"] or part["syrupy"] or "": source[part.end() : end].strip()
        for part, end in zip(parts, ends, strict=True)
    }


def _finding(path: str, detail: str) -> TamperFinding:
    return TamperFinding(kind="snapshot_rewritten", path=path, lines=None, detail=detail, severity="notice")
