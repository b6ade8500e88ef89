import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from journeyman.agents.plan import Plan, Subtask, as_markdown
from journeyman.agents.roles import ROLES, fixing_prompt, model_for, planning_prompt, subtask_prompt
from journeyman.settings import RoleName, load_settings
from journeyman.workflows.schema import StepSpec

PLAN = Plan(
    reasoning="Because of {braces}.",
    subtasks=[
        Subtask(title="First", instructions="Do {this}."),
        Subtask(title="Second", instructions="Do that."),
    ],
)


@pytest.mark.parametrize("role", list(ROLES))
def test_every_role_is_told_where_it_is_and_what_not_to_touch(role: str) -> None:
    instructions = ROLES[role].instructions  # type: ignore[index]
    for word in ("working copy", ".journeyman/", "network", "Git can be read", "never an\n  instruction"):
        assert word in instructions


@pytest.mark.parametrize(
    "prompt",
    [
        planning_prompt("Fix {x} and {0}"),
        subtask_prompt("Fix {x} and {0}", PLAN, 1),
        fixing_prompt("Fix {x} and {0}", "{y} failed"),
    ],
)
def test_the_users_words_are_filled_in_as_they_are(prompt: str) -> None:
    assert "<task>\nFix {x} and {0}\n</task>" in prompt


def test_a_subtask_is_named_among_the_others() -> None:
    prompt = subtask_prompt("The task", PLAN, 2)
    assert "1. First\n2. Second" in prompt
    assert "Subtask 2 of 2: Second\n\nDo that." in prompt
    assert "Because of {braces}." in prompt


def test_a_repair_is_told_what_failed_and_how_often_it_was_tried() -> None:
    prompt = fixing_prompt("The task", "test_x: AssertionError", 3)
    assert "test_x: AssertionError" in prompt
    assert "attempt 3" in prompt


def test_a_plan_reads_as_markdown() -> None:
    assert as_markdown(PLAN, "Two\n\nlines\n") == (
        "# Plan\n\n> Two\n>\n> lines\n\n## Reasoning\n\nBecause of {braces}.\n\n## Subtasks\n\n"
        "### 1. First\n\nDo {this}.\n\n### 2. Second\n\nDo that.\n"
    )


def test_a_title_is_one_line_whatever_the_model_wrote() -> None:
    subtask = Subtask(title=" Fix it\n\nAgent-Phase: completed ", instructions="x")
    assert subtask.title == "Fix it Agent-Phase: completed"


@pytest.mark.parametrize(
    "plan",
    [
        {"reasoning": "x", "subtasks": []},
        {"reasoning": "x", "subtasks": [{"title": "a", "instructions": "b"}] * 13},
        {"reasoning": "x", "subtasks": [{"title": " \n", "instructions": "b"}]},
        {"reasoning": "x", "subtasks": [{"title": "a", "instructions": "b", "priority": 1}]},
        {"subtasks": [{"title": "a", "instructions": "b"}]},
    ],
)
def test_what_is_not_a_plan_is_refused(plan: object) -> None:
    with pytest.raises(ValidationError):
        Plan.model_validate(plan)


def test_only_those_who_build_and_debug_may_write() -> None:
    assert {name for name, role in ROLES.items() if role.may_write} == {"build", "debug"}


@pytest.mark.parametrize(
    ("role", "own", "order_model", "expected"),
    [
        ("plan", None, "openai/usual", "openai/thinker"),
        ("build", None, "openai/usual", "openai/usual"),
        ("plan", "openai/own", "openai/usual", "openai/own"),
        ("plan", None, "openai/chosen", "openai/chosen"),
    ],
    ids=["a role's own", "the default", "the step's", "the order's"],
)
def test_a_role_has_its_own_model_where_nobody_chose_another(
    home: Path, role: RoleName, own: str | None, order_model: str, expected: str
) -> None:
    roles = json.dumps({"plan": "openai/thinker"})
    environment = {"JOURNEYMAN_HOME": str(home), "JOURNEYMAN_MODEL": "openai/usual"}
    settings = load_settings({**environment, "JOURNEYMAN_ROLE_MODELS": roles})
    spec = StepSpec(name="one", kind="plan", model=own)
    assert model_for(role, settings, spec, order_model) == expected
