"""What became of each test: removed, skipped, emptied, made to demand less."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from journeyman.verification.tampering.assertions import Assertion, Strength
from journeyman.verification.tampering.cases import is_empty
from journeyman.verification.tampering.findings import Severity, TamperFinding, TamperKind, as_code
from journeyman.verification.tampering.matching import Matching, PlacedCase, match
from journeyman.verification.tampering.paths import holds_tests
from journeyman.verification.tampering.sources import Source

_CONSTANT = re.compile(
    r"|[Tt]rue|[Ff]alse|None|null|nil|undefined|-? ?[\d.]\S*|([\"']).*\1|`[^$]*`", re.DOTALL
)


class Side(NamedTuple):
    source: Source
    placed: PlacedCase


def compare_cases(
    base: Sequence[Source], head: Sequence[Source]
) -> tuple[list[TamperFinding], frozenset[tuple[str, str]]]:
    """The findings, and path and name of the base's tests that have another now, or are shown as gone."""
    sources = {(side, one.path): one for side, sources in (("base", base), ("head", head)) for one in sources}
    matching = match(_placed(base), _placed(head))
    found: list[TamperFinding] = []
    for old, new in matching.pairs:
        before, after = sources["base", old.path], sources["head", new.path]
        found += _compare(Side(before, old), Side(after, new))
    found += _helpers(base, head)
    found += _removed(matching, head)
    for one in matching.new:
        found += _new(Side(sources["head", one.path], one))
    renamed = [old for old, new in matching.pairs if (old.path, old.case.name) != (new.path, new.case.name)]
    known = [*renamed, *matching.gone]
    return found, frozenset((one.path, re.split(r"::| > |\.", one.case.name)[-1]) for one in known)


def _placed(sources: Sequence[Source]) -> list[PlacedCase]:
    return [
        PlacedCase(path=one.path, case=case, language=one.language) for one in sources for case in one.cases
    ]


def _helpers(base: Sequence[Source], head: Sequence[Source]) -> Iterator[TamperFinding]:
    """Functions beside the tests in which they make their assertions."""
    after = {source.path: source for source in head}
    for before in base:
        source = after.get(before.path)
        if source is None or not holds_tests(before.path):
            continue
        for name, old in before.helpers.items():
            new = source.helpers.get(name)
            if new is not None and new.text != old.text:
                sides = (
                    Side(one, PlacedCase(path=one.path, case=case, language=one.language))
                    for one, case in ((before, old), (source, new))
                )
                yield from _compare_assertions(*sides)


def _removed(matching: Matching, head: Sequence[Source]) -> Iterator[TamperFinding]:
    """A test whose assertions are all made by tests that are new or changed was merged into them."""
    if not matching.gone:
        return
    unchanged = {old.case.text for old, _ in matching.pairs}
    made: Counter[str] = Counter()
    paths = {one.path for one in matching.gone}
    for source in head:
        is_run = source.path in paths or source.language.is_collected(source.path)
        for case in source.cases:
            if is_run and case.text not in unchanged:
                made.update(one.text for one in source.behaviour(case).assertions)
    for one in matching.gone:
        source = Source(one.path, one.language, one.case.node)
        demanded = Counter(each.text for each in source.behaviour(one.case).assertions)
        if demanded and demanded <= made:
            continue
        yield _finding(
            "test_removed",
            one,
            f"The test {as_code(one.case.name)} of the base is gone (lines of the base).",
        )


def _new(side: Side) -> Iterator[TamperFinding]:
    case = side.placed.case
    if case.is_focused:
        yield _focused(side.placed)
    assertions = side.source.behaviour(case).assertions
    if assertions and all(one.strength is Strength.VACUOUS for one in assertions):
        yield _finding(
            "vacuous_assertion",
            side.placed,
            f"The new test {as_code(case.name)} demands nothing: {as_code(assertions[0].shown)}.",
            severity="notice",
        )


def _compare(before: Side, after: Side) -> Iterator[TamperFinding]:
    old, new = before.placed.case, after.placed.case
    if old.content == new.content:
        return
    if new.is_focused and not old.is_focused:
        yield _focused(after.placed)
    if new.is_retried and not old.is_retried:
        yield _finding(
            "retry_added", after.placed, f"The test {as_code(new.name)} is repeated until it passes."
        )
    if old.rows and new.rows is not None and new.rows < old.rows:
        detail = f"The test {as_code(new.name)} has {new.rows} of the {old.rows} rows of its table left."
        yield _finding("cases_removed", after.placed, detail)
    yield from _compare_behaviour(before, after)


def _compare_behaviour(before: Side, after: Side) -> Iterator[TamperFinding]:
    old, new = before.source.behaviour(before.placed.case), after.source.behaviour(after.placed.case)
    case = after.placed.case
    skipped = case.skipped or new.skipped
    if skipped and not (before.placed.case.skipped or old.skipped):
        detail = f"The test {as_code(case.name)} is no longer run, or may fail: {as_code(skipped)}."
        yield _finding("test_skipped", after.placed, detail)
    was_empty = is_empty(before.placed.case, before.source.language)
    if is_empty(case, after.source.language) and not was_empty:
        yield _finding("test_emptied", after.placed, f"The test {as_code(case.name)} does nothing any more.")
        return
    yield from _compare_assertions(before, after)


def _compare_assertions(before: Side, after: Side) -> Iterator[TamperFinding]:
    case = after.placed.case
    old, new = before.source.behaviour(before.placed.case), after.source.behaviour(case)
    gone, added = _difference(old.assertions, new.assertions)
    yield from _changed(gone, added, after.placed)
    helped_before, helped = before.source.assertions_called(old), after.source.assertions_called(new)
    count_before, count = len(old.assertions), len(new.assertions)
    if count < count_before and count + helped.total() < count_before + helped_before.total():
        detail = f"The test {as_code(case.name)} makes {count} of the {count_before} assertions of the base"
        lost = f", without {as_code(gone[0].shown)}" if gone else ""
        yield _finding("assertions_removed", after.placed, f"{detail}{lost}.")


def _difference(old: list[Assertion], new: list[Assertion]) -> tuple[list[Assertion], list[Assertion]]:
    """The assertions that only one of both has. One that is swallowed is another than one that is not."""
    kept = Counter((one.text, one.strength) for one in old) & Counter((one.text, one.strength) for one in new)
    return _without(old, kept.copy()), _without(new, kept.copy())


def _without(assertions: list[Assertion], kept: Counter[tuple[str, Strength]]) -> list[Assertion]:
    left = []
    for one in assertions:
        if kept[one.text, one.strength]:
            kept[one.text, one.strength] -= 1
        else:
            left.append(one)
    return left


def _changed(gone: list[Assertion], added: list[Assertion], placed: PlacedCase) -> Iterator[TamperFinding]:
    """Assertions about the same thing that demand less, or something else."""
    free = list(added)
    for one in gone:
        other = next((each for each in free if _is_about_the_same(one, each)), None)
        if other is None:
            continue
        free.remove(other)
        both = f"{as_code(one.shown)} became {as_code(other.shown)}"
        if other.strength < one.strength:
            what = "demands nothing any more" if other.strength is Strength.VACUOUS else "demands less"
            detail = f"An assertion of {as_code(placed.case.name)} {what}: {both}."
            yield _finding("assertion_weakened", placed, detail, lines=other.lines)
        elif other.matcher == one.matcher:
            detail = f"The test {as_code(placed.case.name)} expects something else: {both}."
            yield _finding("expected_value_changed", placed, detail, lines=other.lines, severity="notice")
    for one in free:
        if one.strength is Strength.VACUOUS:
            detail = (
                f"An assertion added to {as_code(placed.case.name)} demands nothing: {as_code(one.shown)}."
            )
            yield _finding("vacuous_assertion", placed, detail, lines=one.lines)


def _is_about_the_same(a: Assertion, b: Assertion) -> bool:
    if a.text == b.text:
        return True
    shared = set(a.operands) & set(b.operands)
    return any(not _CONSTANT.fullmatch(one) for one in shared)


def _focused(placed: PlacedCase) -> TamperFinding:
    detail = f"Only {as_code(placed.case.name)} is run, and no other test beside it."
    return _finding("test_focused", placed, detail)


def _finding(
    kind: TamperKind,
    placed: PlacedCase,
    detail: str,
    *,
    lines: tuple[int, int] | None = None,
    severity: Severity = "ask",
) -> TamperFinding:
    return TamperFinding(
        kind=kind, path=placed.path, lines=lines or placed.case.lines, detail=detail, severity=severity
    )
