"""When the checks of a round count as failing in the same way."""

import pytest

from journeyman.steps.verify import is_stuck

_FAILED = "$ python -m pytest\ntest_adder.py:7: AssertionError: -1 == 3 (0.02s, <Adder object at 0x7f3a>)"
_LATER = "$ python -m pytest\ntest_adder.py:9: AssertionError: -1 == 3 (0.13s, <Adder object at 0x7e01>)"
_OTHER = "$ python -m pytest\ntest_adder.py:7: TypeError: add() takes 2 positional arguments"


@pytest.mark.parametrize(
    ("failures", "stuck"),
    [
        ([], False),
        ([_FAILED], False),
        ([_FAILED, _FAILED], False),
        ([_FAILED, _FAILED, _FAILED], True),
        ([_FAILED, _LATER, _FAILED], True),
        ([_OTHER, _FAILED, _LATER, _FAILED], True),
        ([_FAILED, _FAILED, _OTHER], False),
        ([_FAILED, _FAILED, _FAILED, _OTHER], False),
    ],
)
def test_the_same_failure_three_times_in_a_row_is_being_stuck(failures: list[str], stuck: bool) -> None:
    assert is_stuck(failures) is stuck
