"""The bundled demo, played in the real jail on the bundled sample: it must really repair it."""

import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import journeyman
from journeyman.agents.plan import Plan
from journeyman.agents.roles import fixing_prompt, planning_prompt, question_prompt, subtask_prompt
from journeyman.events.types import ToolCallCompleted
from journeyman.sandboxes.base import SandboxSpec
from journeyman.sandboxes.local import LocalSandboxes
from tests.agents.turns import Workplace
from tests.sandboxes.specs import give_away

SAMPLE = Path(journeyman.__path__[0]) / "samples" / "pager"
TASK = "The last page is missing when the items do not fill it. Find out why and fix it."


@pytest.fixture
async def demo(place: Workplace) -> AsyncIterator[Workplace]:
    shutil.copytree(SAMPLE, place.tree, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    give_away(place.tree, "wo-demo0001")
    provider = LocalSandboxes(place.settings)
    place.sandbox = await provider.setup(SandboxSpec(order_id="wo-demo0001", tree=place.tree))
    yield place
    await provider.close()


def unittests_in(tree: Path) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-B", "-m", "unittest"], cwd=tree, capture_output=True, text=True)
    return done.returncode, done.stderr


def test_the_sample_has_exactly_one_failing_test(tmp_path: Path) -> None:
    tree = tmp_path / "pager"
    shutil.copytree(SAMPLE, tree, ignore=shutil.ignore_patterns("__pycache__"))
    code, said = unittests_in(tree)
    assert code != 0
    assert "FAILED (failures=1)" in said


async def test_the_demo_plans_repairs_and_tests_the_sample(demo: Workplace) -> None:
    planned = await demo.work("scripted/demo", prompt=planning_prompt(TASK), role="plan", deliverable=Plan)
    plan = planned.deliverable
    assert isinstance(plan, Plan)
    assert len(plan.subtasks) == 2
    counted = [int(unittests_in(demo.tree)[1].partition("Ran ")[2].partition(" ")[0])]
    for number in (1, 2):
        outcome = await demo.work("scripted/demo", prompt=subtask_prompt(TASK, plan, number))
        assert outcome.stop_reason == "finished"
        code, said = unittests_in(demo.tree)
        assert code == 0, said
        counted.append(int(said.partition("Ran ")[2].partition(" ")[0]))
    assert counted[2] == counted[1] + 1 == counted[0] + 1
    outputs = demo.of(ToolCallCompleted)
    assert [finished.output for finished in outputs if not finished.ok] == []
    assert "without the fix:\nERROR: test_the_last_page" in outputs[-1].output


@pytest.mark.parametrize(
    "prompt",
    [
        subtask_prompt(
            TASK,
            Plan.model_validate({"reasoning": "x", "subtasks": [{"title": "x", "instructions": "x"}]}),
            1,
        ),
        fixing_prompt(TASK, "unittest failed"),
    ],
    ids=["unplanned", "after failed checks"],
)
async def test_the_demo_also_works_without_a_plan(demo: Workplace, prompt: str) -> None:
    outcome = await demo.work("scripted/demo", prompt=prompt)
    assert outcome.stop_reason == "finished"
    code, said = unittests_in(demo.tree)
    assert code == 0, said
    assert [
        finished.output
        for finished in demo.of(ToolCallCompleted)
        if finished.tool != "shell" and not finished.ok
    ] == []


async def test_the_demo_answers_a_question_about_its_work(demo: Workplace) -> None:
    prompt = question_prompt("What did you change?", TASK)
    outcome = await demo.work("scripted/demo", prompt=prompt, role="answer")
    assert outcome.stop_reason == "finished"
    assert "page_count" in outcome.text
