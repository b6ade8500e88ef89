"""What stands still is found, and something is done about it."""

import pytest

from journeyman.engine.watchdog import RESCUES, StallLimits, StallTimer, remedy

LIMITS = StallLimits(unattended_seconds=10, stalled_seconds=100)


def test_what_moves_is_never_still() -> None:
    stillness: StallTimer[str] = StallTimer()
    for now in range(50):
        assert stillness.watch({"a": now}, float(now)) == {"a": 0.0}


def test_stillness_is_counted_from_when_it_was_first_seen() -> None:
    stillness: StallTimer[str] = StallTimer()
    stillness.watch({"a": 7}, 1000.0)
    assert stillness.watch({"a": 7}, 1030.0) == {"a": 30.0}
    assert stillness.watch({"a": 8}, 1040.0) == {"a": 0.0}


def test_what_was_gone_and_comes_back_has_just_moved() -> None:
    stillness: StallTimer[str] = StallTimer()
    stillness.watch({"a": 7}, 0.0)
    stillness.watch({}, 50.0)
    assert stillness.watch({"a": 7}, 100.0) == {"a": 0.0}


@pytest.mark.parametrize(
    ("is_attended", "still", "rescues", "what"),
    [
        (True, 99, 0, None),
        (True, 101, 0, "begin again"),
        (True, 101, RESCUES, "give up"),
        (False, 9, 0, None),
        (False, 11, 0, "begin again"),
        (False, 11, RESCUES - 1, "begin again"),
        (False, 11, RESCUES, "give up"),
    ],
)
def test_an_order_without_progress_is_begun_again_and_in_the_end_given_up(
    is_attended: bool, still: float, rescues: int, what: str | None
) -> None:
    found = remedy(is_attended=is_attended, still_seconds=still, rescues=rescues, limits=LIMITS)
    assert (found[0] if found else None) == what
