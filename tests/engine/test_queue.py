"""Who starts next."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from journeyman.engine.queue import Waiting, next_to_start

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def waiting(order_id: str, *, priority: int = 0, minutes: int = 0) -> Waiting:
    return Waiting(order_id, priority, NOON + timedelta(minutes=minutes))


def test_the_highest_priority_starts_first_and_then_who_waited_longest() -> None:
    line = [waiting("late", minutes=2), waiting("early", minutes=1), waiting("urgent", priority=5, minutes=3)]
    assert next_to_start(line, [], limit=10) == ["urgent", "early", "late"]


def test_no_more_start_than_there_is_room_for() -> None:
    line = [waiting(str(n), minutes=n) for n in range(5)]
    assert next_to_start(line, ["x", "y"], limit=4) == ["0", "1"]


def test_what_runs_already_is_not_started_again() -> None:
    assert next_to_start([waiting("a"), waiting("b")], ["a"], limit=10) == ["b"]


@given(
    st.lists(st.builds(waiting, st.uuids().map(str), priority=st.integers(0, 9)), max_size=30),
    st.sets(st.text(max_size=3), max_size=10),
    st.integers(0, 20),
)
def test_the_limit_is_never_passed(line: list[Waiting], running: set[str], limit: int) -> None:
    started = next_to_start(line, running, limit=limit)
    assert len(started) + len(running) <= max(limit, len(running))
    assert len(set(started)) == len(started)
