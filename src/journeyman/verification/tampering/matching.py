"""Which test of the head is which of the base: by name, then by name in another file, then by body.

A test that was moved or renamed is compared with itself instead of being called removed.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from journeyman.verification.tampering.cases import Case, Language

SIMILAR = 0.75
_MAX_CANDIDATES = 40
_MAX_COMPARISONS = 20_000


@dataclass(frozen=True, kw_only=True)
class PlacedCase:
    path: str
    case: Case
    language: Language


@dataclass(frozen=True, kw_only=True)
class Matching:
    pairs: list[tuple[PlacedCase, PlacedCase]]
    gone: list[PlacedCase]
    new: list[PlacedCase]


def match(base: Sequence[PlacedCase], head: Sequence[PlacedCase]) -> Matching:
    pairs: list[tuple[PlacedCase, PlacedCase]] = []
    gone, new = _by_name(base, head, pairs, lambda one: f"{one.path}\0{one.case.name}")
    # A test that is moved to where no runner looks is gone.
    paths = {one.path for one in gone}
    targets = [one for one in new if one.language.is_collected(one.path) or one.path in paths]
    gone, targets = _by_name(gone, targets, pairs, lambda one: one.case.name)
    gone = _by_body(gone, targets, pairs)
    matched = {id(one) for _, one in pairs}
    return Matching(pairs=pairs, gone=gone, new=[one for one in head if id(one) not in matched])


def _by_name(
    base: Sequence[PlacedCase],
    head: Sequence[PlacedCase],
    pairs: list[tuple[PlacedCase, PlacedCase]],
    key: Callable[[PlacedCase], str],
) -> tuple[list[PlacedCase], list[PlacedCase]]:
    """Adds to `pairs`; what is left of both."""
    found: dict[str, list[PlacedCase]] = defaultdict(list)
    for one in reversed(head):
        found[key(one)].append(one)
    gone = []
    for one in base:
        if found[key(one)]:
            pairs.append((one, found[key(one)].pop()))
        else:
            gone.append(one)
    left = {id(one) for rest in found.values() for one in rest}
    return gone, [one for one in head if id(one) in left]


def _by_body(
    base: Sequence[PlacedCase],
    head: Sequence[PlacedCase],
    pairs: list[tuple[PlacedCase, PlacedCase]],
) -> list[PlacedCase]:
    """Adds the most similar to `pairs`, and returns what resembles nothing. Candidates share rare words, so
    that ten thousand tests are not compared with ten thousand others."""
    free = dict(enumerate(head))
    index: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, one in free.items():
        for pair in one.case.words:
            index[pair].append(number)
    gone, comparisons = [], 0
    for one in base:
        best, similarity = None, SIMILAR
        for number in _candidates(one.case, index):
            if number not in free or comparisons >= _MAX_COMPARISONS:
                continue
            comparisons += 1
            if (found := _similarity(one.case.words, free[number].case.words)) > similarity:
                best, similarity = number, found
        if best is None:
            gone.append(one)
        else:
            pairs.append((one, free.pop(best)))
    return gone


def _candidates(case: Case, index: dict[tuple[str, str], list[int]]) -> Iterable[int]:
    rare = sorted((pair for pair in case.words if pair in index), key=lambda pair: len(index[pair]))
    votes = Counter(number for pair in rare[:_MAX_CANDIDATES] for number in index[pair][:_MAX_CANDIDATES])
    return [number for number, _ in votes.most_common(_MAX_CANDIDATES)]


def _similarity(a: Counter[tuple[str, str]], b: Counter[tuple[str, str]]) -> float:
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if total else 0.0
