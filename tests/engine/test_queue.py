"""Who starts next: the rule itself. `test_claims.py` holds the store to it."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tests.engine.line_rule import Waiting, next_to_start, positions

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def waiting(order_id: str, *, priority: int = 0, minutes: int = 0, repository: str = "pager") -> Waiting:
    return Waiting(order_id, priority, NOON + timedelta(minutes=minutes), repository)


def test_the_highest_priority_starts_first_and_then_who_waited_longest() -> None:
    line = [waiting("late", minutes=2), waiting("early", minutes=1), waiting("urgent", priority=5, minutes=3)]
    assert next_to_start(line, [], free=10) == ["urgent", "early", "late"]


def test_no_more_start_than_there_is_room_for() -> None:
    line = [waiting(str(n), minutes=n) for n in range(5)]
    assert next_to_start(line, [], free=2) == ["0", "1"]
    assert next_to_start(line, [], free=-1) == []


def test_repositories_take_turns_so_that_none_waits_behind_all_orders_of_another() -> None:
    line = [waiting(f"big-{n}", minutes=n, repository="big") for n in range(3)]
    line.append(waiting("small", minutes=9, repository="small"))
    assert next_to_start(line, [], free=10) == ["big-0", "small", "big-1", "big-2"]
    assert next_to_start(line, [waiting("running", repository="big")], free=1) == ["small"]


def test_a_repository_has_no_more_orders_running_than_it_may() -> None:
    line = [waiting(f"{name}-{n}", minutes=n, repository=name) for n in range(3) for name in ("a", "b")]
    running = [waiting("running", repository="a")]
    assert next_to_start(line, running, free=10, per_repository=2) == ["b-0", "a-0", "b-1"]


def test_the_place_in_the_line_is_the_order_of_starting() -> None:
    line = [waiting("late", minutes=2), waiting("early", minutes=1), waiting("urgent", priority=5, minutes=3)]
    assert positions(line, []) == {"urgent": 1, "early": 2, "late": 3}


@given(
    st.lists(
        st.builds(
            waiting,
            st.uuids().map(str),
            priority=st.integers(0, 9),
            minutes=st.integers(0, 5),
            repository=st.sampled_from("abc"),
        ),
        max_size=30,
    ),
    st.integers(0, 20),
    st.integers(1, 4),
)
def test_no_limit_is_ever_passed_and_nobody_starts_twice(
    line: list[Waiting], free: int, per_repository: int
) -> None:
    started = next_to_start(line, [], free=free, per_repository=per_repository)
    assert len(started) <= free
    assert len(set(started)) == len(started)
    repository_of = {one.order_id: one.repository_url for one in line}
    for name in "abc":
        assert sum(repository_of[order_id] == name for order_id in started) <= per_repository
