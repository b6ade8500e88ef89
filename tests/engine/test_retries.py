"""When a failed step is tried again."""

import pytest

from journeyman.engine.retries import wait_before_retry
from journeyman.errors import Category


def test_a_step_without_retries_fails_at_once() -> None:
    assert wait_before_retry("transient", 1, 0) is None


def test_waits_double_and_end_with_the_last_retry() -> None:
    assert [wait_before_retry("transient", attempt, 3) for attempt in (1, 2, 3, 4)] == [1, 2, 4, None]


def test_what_usually_goes_away_is_tried_three_times_without_being_told() -> None:
    waits = [wait_before_retry("transient", attempt, 0, passes=True) for attempt in (1, 2, 3)]
    assert waits == [1, 2, None]


def test_what_the_other_side_asked_for_is_honoured() -> None:
    assert wait_before_retry("rate_limited", 1, 3, retry_after=30) == 30


def test_a_wait_that_would_keep_a_worker_for_long_is_not_waited_here() -> None:
    assert wait_before_retry("rate_limited", 1, 3, passes=True, retry_after=3600) is None


@pytest.mark.parametrize("category", ["invalid_input", "auth", "permission", "budget", "quota", "conflict"])
def test_what_only_a_person_can_change_is_not_tried_again(category: Category) -> None:
    assert wait_before_retry(category, 1, 5) is None


def test_jitter_only_lengthens_the_wait() -> None:
    assert wait_before_retry("agent", 2, 3, jitter=0.25) == 2.5


def test_a_wait_stays_bounded_however_often_it_was_tried() -> None:
    assert wait_before_retry("transient", 5000, 10_000, passes=True) == 60.0
