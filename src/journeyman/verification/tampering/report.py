"""From what a change did to files to what a reviewer should see of it.

Pure, and bounded in everything but a parser's time; `apart.py` bounds that too.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

from journeyman.verification.manifests import MANIFESTS, judges
from journeyman.verification.tampering.changed_file import ChangedFile
from journeyman.verification.tampering.code_marks import compare_marks
from journeyman.verification.tampering.collected import find_uncollected
from journeyman.verification.tampering.compare_cases import compare_cases
from journeyman.verification.tampering.compare_ci import compare_pipelines, is_pipeline
from journeyman.verification.tampering.compare_scripts import (
    compare_environment_checks,
    compare_package_scripts,
    compare_recipes,
    has_recipes,
)
from journeyman.verification.tampering.compare_settings import compare_settings
from journeyman.verification.tampering.findings import TamperFinding, as_code
from journeyman.verification.tampering.paths import holds_tests
from journeyman.verification.tampering.settings_values import SettingValues, read_values
from journeyman.verification.tampering.snapshots import compare_snapshots, is_snapshot
from journeyman.verification.tampering.sources import Source, read_source
from journeyman.verification.tampering.startup_hooks import find_entry_points, find_startup_hooks
from journeyman.verification.tampering.syntax import MAX_BYTES, grammar_of
from journeyman.verification.trust_roots import is_lock, is_trust_root, restored

__all__ = ["ChangedFile", "find_tampering"]

_ENVIRONMENT = re.compile(r"\.journeyman/environment\.ya?ml")
_MOST_OF_A_KIND = 20
_MOST = 500


def find_tampering(
    files: Sequence[ChangedFile],
    *,
    collected_on_base: Collection[str] = (),
    collected_on_head: Collection[str] = (),
    on_file: Callable[[str], None] = lambda _: None,
) -> tuple[TamperFinding, ...]:
    """`collected_*`: the ids of tests in the runner's reports. `on_file` is called with the path of each file
    before it is read."""
    found: list[TamperFinding] = []
    sources: dict[str, list[Source]] = {"base": [], "head": []}
    for file in files:
        on_file(file.path)
        if not _can_be_compared(file):
            found += _not_compared(file)
            continue
        found += _compare_file(file)
        if _may_hold_tests(file):
            sides = (("base", file.base), ("head", file.head))
            for side, content in sides:
                if (source := read_source(file.path, content)) is not None:
                    sources[side].append(source)
    on_file("")
    of_cases, known = compare_cases(sources["base"], sources["head"])
    found += of_cases
    found += find_uncollected(collected_on_base, collected_on_head, known)
    return tuple(_bounded(found))


def _can_be_compared(file: ChangedFile) -> bool:
    sides = [one for one in (file.base, file.head) if one is not None]
    return file.is_complete and all(len(one) <= MAX_BYTES and b"\0" not in one[:8000] for one in sides)


def _not_compared(file: ChangedFile) -> Iterator[TamperFinding]:
    if is_snapshot(file.path):
        if file.base is not None and file.base != file.head:
            detail = "A recorded result is different, and too large or no text to be compared."
            yield TamperFinding(
                kind="snapshot_rewritten", path=file.path, lines=None, detail=detail, severity="notice"
            )
    elif is_lock(file.path):
        yield _changed_root(file)
    elif is_trust_root(file.path) or _may_hold_tests(file):
        detail = "The file is too large, or no text, so it was not compared."
        yield TamperFinding(kind="not_compared", path=file.path, lines=None, detail=detail, severity="ask")
    yield from find_startup_hooks(ChangedFile(path=file.path, base=file.base, head=file.head and b""))


def _compare_file(file: ChangedFile) -> Iterator[TamperFinding]:
    path = file.path
    if is_snapshot(path) and grammar_of(path) is None:
        yield from compare_snapshots(path, file.base, file.head)
        return
    is_root = is_trust_root(path)
    found = list(find_startup_hooks(file))
    found += compare_marks(path, file.base, file.head, is_test=is_root or holds_tests(path))
    if is_root and not is_lock(path):
        found += _compare_settings(file)
    if has_recipes(path):
        old, new = ((one or b"").decode(errors="replace") for one in (file.base, file.head))
        found += compare_recipes(path, old, new)
    yield from found
    if is_root and not found and _judges(file):
        yield _changed_root(file)


def _compare_settings(file: ChangedFile) -> Iterator[TamperFinding]:
    base, head = read_values(file.path, file.base), read_values(file.path, file.head)
    if base is None or head is None:
        return
    if is_pipeline(file.path):
        yield from compare_pipelines(file.path, base, head)
    elif _ENVIRONMENT.fullmatch(file.path):
        yield from compare_environment_checks(file.path, base, head)
    else:
        name = posixpath.basename(file.path)
        if name == "package.json":
            yield from compare_package_scripts(file.path, base, head)
        yield from find_entry_points(file.path, base, head)
        yield from compare_settings(file.path, _judging(name, base), _judging(name, head))


def _judging(name: str, values: SettingValues) -> SettingValues:
    """The values of a settings file that judge: all, but in a manifest."""
    return {key: value for key, value in values.items() if name not in MANIFESTS or judges(name, key)}


def _judges(file: ChangedFile) -> bool:
    """Whether anything that judges is different in a trust root."""
    return is_lock(file.path) or restored(file.path, file.base, file.head) != file.head


def _changed_root(file: ChangedFile) -> TamperFinding:
    verb = "added" if file.base is None else "removed" if file.head is None else "different"
    detail = f"{as_code(file.path)}, which decides what the checks mean, is {verb}."
    return TamperFinding(
        kind="trust_root_changed", path=file.path, lines=None, detail=detail, severity="notice"
    )


def _may_hold_tests(file: ChangedFile) -> bool:
    """Rust keeps tests beside the code; elsewhere a test is in a file of its own."""
    grammar = grammar_of(file.path)
    return grammar == "rs" or (grammar is not None and holds_tests(file.path))


def _bounded(found: Sequence[TamperFinding]) -> Iterator[TamperFinding]:
    """What asks first, and of one kind in one file only so many."""
    counts: Counter[tuple[str, str]] = Counter()
    ordered = sorted(found, key=lambda one: (one.severity != "ask", one.path, one.lines or (0, 0), one.kind))
    shown = 0
    for one in ordered:
        counts[one.path, one.kind] += 1
        if counts[one.path, one.kind] <= _MOST_OF_A_KIND and shown < _MOST:
            shown += 1
            yield one
    for (path, kind), count in counts.items():
        if count > _MOST_OF_A_KIND and shown < _MOST:
            shown += 1
            first = next(one for one in ordered if (one.path, one.kind) == (path, kind))
            detail = f"{count - _MOST_OF_A_KIND} more of the same kind in this file."
            yield TamperFinding(
                kind=first.kind, path=path, lines=None, detail=detail, severity=first.severity
            )
