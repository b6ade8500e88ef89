"""What an agent is given to repair, what a person is asked, and when a round is stuck."""

import pytest

from journeyman.environments.plan import Check, CheckOutcome
from journeyman.events.types import AgentWorkOrderPaused
from journeyman.steps.verify import is_stuck, to_repair, what_to_ask
from journeyman.verification.faults.fault import EnvironmentFault
from journeyman.verification.run import CheckResult
from journeyman.verification.verdict import Verdict, judge

_FAILED = "test_adder.py::test_add"
_OTHER = "test_adder.py::test_subtract"


@pytest.mark.parametrize(
    ("failures", "stuck"),
    [
        ([], False),
        ([_FAILED], False),
        ([_FAILED, _FAILED], False),
        ([_FAILED, _FAILED, _FAILED], True),
        ([_OTHER, _FAILED, _FAILED, _FAILED], True),
        ([_FAILED, _FAILED, _OTHER], False),
        ([_FAILED, _FAILED, _FAILED, _OTHER], False),
    ],
)
def test_the_same_failure_three_times_in_a_row_is_being_stuck(failures: list[str], stuck: bool) -> None:
    assert is_stuck([frozenset({one}) for one in failures]) is stuck


LACKS = EnvironmentFault(
    what="the Python package freezegun is not installed",
    remedy="Declare it.",
    who="maintainer",
    command="pip install freezegun",
)


def verdict(**outcomes: CheckOutcome) -> Verdict:
    return judge(
        CheckResult(
            check=Check(name=name, kind="test", command=name, tool=name, why="x", probe="x"),
            outcome=outcome,
            summary=outcome,
            faults=(LACKS,) if outcome == "environment" else (),
        )
        for name, outcome in outcomes.items()
    )


def repaired(now: Verdict, earlier: Verdict | None = None) -> list[str]:
    return [result.check.name for result in to_repair(now, earlier)]


def test_only_what_failed_is_given_to_the_agent() -> None:
    now = verdict(unit="failed", web="environment", docs="passed", empty="unavailable")
    assert repaired(now) == ["unit"]


def test_a_check_that_takes_too_long_is_given_to_the_agent_once() -> None:
    slow = verdict(unit="timed_out")
    assert repaired(slow) == ["unit"]
    assert repaired(slow, slow) == []
    assert repaired(slow, verdict(unit="failed")) == ["unit"]
    assert repaired(verdict(unit="timed_out", web="failed"), slow) == ["web"]


def test_a_person_is_asked_what_is_missing_and_told_what_brings_it() -> None:
    question = what_to_ask(verdict(unit="environment"), [])
    assert question is not None
    assert (question.category, question.retryable) == ("environment", False)
    assert LACKS.what in question.message
    assert LACKS.remedy in question.hint
    assert LACKS.command in question.hint


@pytest.mark.parametrize("outcome", ["passed", "failed", "timed_out", "unavailable"])
def test_nothing_is_asked_where_nothing_is_missing(outcome: CheckOutcome) -> None:
    assert what_to_ask(verdict(unit=outcome), []) is None
    assert what_to_ask(verdict(unit="environment", web="failed"), []) is None


def test_the_same_question_is_not_asked_twice() -> None:
    now = verdict(unit="environment")
    question = what_to_ask(now, [])
    assert question is not None
    other = AgentWorkOrderPaused(reason="something else", error_category="environment")
    assert what_to_ask(now, [other]) is not None
    asked = AgentWorkOrderPaused(reason=question.message, error_category="environment")
    assert what_to_ask(now, [other, asked]) is None
