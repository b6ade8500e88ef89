"""Conditions: what they can ask, and that no output can change the question."""

from typing import Any

import pytest

from journeyman.errors import InvalidWorkflow
from journeyman.workflows.conditions import check_condition, holds

CONTEXT: dict[str, Any] = {
    "steps": {
        "lint": {
            "status": "completed",
            "output": {"error_count": 3, "text": "x", "ratio": 0.5, "files": ["a", "b"], "by-file": {"a": 1}},
        },
        "fix-lint": {"status": "skipped", "output": {"x": 1}},
    },
    "order": {"title": "Repair", "github_issue_number": None},
}


@pytest.mark.parametrize(
    ("condition", "answer"),
    [
        ("steps.lint.output.error_count > 0", True),
        ("{{steps.lint.output.error_count}} > 0", True),
        ("{{ steps.lint.output.error_count }} > 3", False),
        ("steps.lint.output.ratio > 0", True),
        ("steps.fix-lint.output.x == 1", True),
        ("{{steps.fix-lint.output.x}} == 1", True),
        ("steps['fix-lint'].status == 'skipped'", True),
        ('{{steps["fix-lint"].status}} == "skipped"', True),
        ("{{steps.lint.output.by-file.a}} == 1", True),
        ("steps.lint.output.error_count-1 == 2", True),
        ("{{steps.lint.output.files[1]}} == 'b'", True),
        ("order.title == 'Repair' && order.github_issue_number == null", True),
        ("has(steps.lint.output.nothing)", False),
        ("has(steps.fix-lint.output.x)", True),
        ("steps.lint.output.files.exists(file, file == 'b')", True),
        ("'steps.nobody' == 'steps.nobody'", True),
    ],
)
def test_a_condition_is_answered(condition: str, answer: bool) -> None:
    check_condition(condition, CONTEXT["steps"])
    assert holds(condition, CONTEXT) is answer


@pytest.mark.parametrize(
    ("condition", "what"),
    [
        ("steps.lint.output.nothing > 0", "asks for 'nothing', which is not there"),
        ("steps.lint.output.files[7] == 'a'", "which is not there"),
        ("steps.lint.output.text > 1", "cannot be answered"),
        ("steps.lint.output.error_count / 0 > 1", "cannot be answered"),
        ("steps.lint.output.error_count * 9223372036854775807 > 1", "cannot be answered"),
        ("steps.lint.output.text.matches('(')", "cannot be answered"),
        ("nothing_known(1)", "cannot be answered"),
        ("steps.lint.output.error_count", "neither true nor false"),
        ("'true'", "neither true nor false"),
    ],
)
def test_a_condition_without_an_answer_says_so(condition: str, what: str) -> None:
    with pytest.raises(InvalidWorkflow, match="condition") as refused:
        holds(condition, CONTEXT)
    assert what in refused.value.message
    assert refused.value.hint


@pytest.mark.parametrize(
    ("condition", "what"),
    [
        ("", "cannot be read"),
        ("1 +", "cannot be read"),
        ("steps.lint.output.x > 0; true", "cannot be read"),
        ("{{steps.lint.output.x > 0", "cannot be read"),
        ("{{steps.lint.output.x > 0}}", "is not a path"),
        ("{{ 1 + 1 }} == 2", "is not a path"),
        ("{{ step.lint }} == 2", "is not a path"),
        ("'{{steps.lint.output.text}}' == 'x'", "is a text"),
        ("steps.nobody.output.x > 0", "step 'nobody', which does not exist"),
        ("steps.no-body.output.x > 0", "step 'no-body', which does not exist"),
        ("size(steps) > 0", "without naming a step"),
        ("steps[order.title].output.x > 0", "without naming a step"),
        ("step.lint.output.x > 0", "'step', which does not exist"),
        ("lint > 0", "'lint', which does not exist"),
        ("steps.lint.output.files.all(a, steps.lint.output.files.all(b, a != b))", "2 times"),
        ("(" * 900 + "true" + ")" * 900, "cannot be read"),
    ],
)
def test_a_condition_that_could_not_be_answered_is_refused_early(condition: str, what: str) -> None:
    with pytest.raises(InvalidWorkflow) as refused:
        check_condition(condition, {"lint", "fix-lint"})
    assert what in refused.value.message
    assert refused.value.hint


@pytest.mark.parametrize("hostile", ["x' || true || 'x", "{{order.title}}", '"', "x == x"])
def test_an_output_cannot_change_what_is_asked(hostile: str) -> None:
    context = {"steps": {"lint": {"status": "completed", "output": {"text": hostile}}}, "order": {}}
    assert holds("{{steps.lint.output.text}} == 'x'", context) is False
