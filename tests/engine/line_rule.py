"""Which waiting orders may start now, as a pure rule: what the choice in SQL is held against."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Waiting:
    """An order, as far as its place in the line is concerned."""

    order_id: str
    priority: int
    created_at: datetime
    repository_url: str


def line(waiting: Sequence[Waiting], running: Sequence[Waiting]) -> list[tuple[Waiting, int]]:
    """Who comes after whom, each with how many of its repository run or come before it.

    The highest priority first; among equals repositories take turns, so that a hundred orders of one do
    not hold up the first of another; then the one that has waited longest.
    """
    turns = Counter(one.repository_url for one in running)
    placed = []
    for one in sorted(waiting, key=lambda one: (-one.priority, one.created_at, one.order_id)):
        placed.append((one, turns[one.repository_url]))
        turns[one.repository_url] += 1
    return sorted(placed, key=lambda place: (-place[0].priority, place[1], place[0].created_at))


def next_to_start(
    waiting: Sequence[Waiting], running: Sequence[Waiting], *, free: int, per_repository: int | None = None
) -> list[str]:
    """The orders to start, in order, where so many places are free."""
    allowed = [
        one.order_id
        for one, before_it in line(waiting, running)
        if per_repository is None or before_it < per_repository
    ]
    return allowed[: max(0, free)]


def positions(waiting: Sequence[Waiting], running: Sequence[Waiting]) -> dict[str, int]:
    """The place in the line of each order that waits; 1 is the next."""
    return {one.order_id: place for place, (one, _) in enumerate(line(waiting, running), start=1)}
