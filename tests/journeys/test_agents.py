"""Orders carried out by agents that others make: alone, and planned by one and built by another."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.installed import INSTALLED
from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, PLANS, builds, git, make_repository

PROGRAMS = ("claude_code", "opencode", "codex", "gemini")


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    home = tmp_path_factory.mktemp("agents") / "home"
    home.mkdir()
    with Product(home, JOURNEYMAN_AGENTS_DIRECTORY=str(INSTALLED)) as running:
        yield running


def steps_of(product: Product, order: dict[str, Any]) -> dict[str, Any]:
    records = product.get(f"/api/agent-work-orders/{order['agent_work_order_id']}/steps")["steps"]
    return {record["step"]: record for record in records}


@pytest.mark.parametrize("agent", PROGRAMS)
def test_an_order_is_carried_out_by_the_agent_it_names(product: Product, tmp_path: Path, agent: str) -> None:
    repository = make_repository(tmp_path / "adder")
    model = product.script("fix", PLANS, builds(FIXED))
    order = product.finish(product.submit(repository, model, agent=agent))
    assert (order["status"], order["verification"]) == ("completed", "passed"), order
    assert git(repository, "show", f"{order['git_branch_name']}:adder.py").strip() == FIXED.strip()
    assert order["agent_session_id"].startswith(f"{agent}:")
    assert order["tokens_in"] > 0


def test_one_order_is_planned_by_one_model_and_built_by_another_agent(
    product: Product, tmp_path: Path
) -> None:
    directory = product.home / "workflows"
    directory.mkdir(exist_ok=True)
    planner = product.script("planner", PLANS)
    (directory / "mixed.yaml").write_text(
        f"""
name: mixed
description: Planned by one model, built by another agent.
steps:
  - {{name: plan, kind: plan, model: {planner}}}
  - {{name: build, kind: build, depends_on: [plan], agent: codex}}
  - {{name: test, kind: verify, depends_on: [build]}}
  - {{name: publish, kind: open_pull_request, depends_on: [test]}}
"""
    )
    repository = make_repository(tmp_path / "adder")
    builder = product.script("builder", builds(FIXED))
    order_id = product.submit(repository, builder, workflow_type="mixed")
    order = product.finish(order_id)
    assert (order["status"], order["verification"]) == ("completed", "passed"), order
    called = [event for event in product.events(order_id) if event["type"] == "model_call_completed"]
    by_step = {step: {each["model"] for each in called if each["step"] == step} for step in ("plan", "build")}
    assert by_step == {"plan": {planner}, "build": {builder}}
    steps = steps_of(product, order)
    for count in ("tokens_in", "tokens_out"):
        assert sum(event[count] for event in called) == order[count]
        assert sum(step[count] for step in steps.values()) == order[count]


def test_a_model_that_an_agent_cannot_use_is_refused_before_anything_starts(
    product: Product, tmp_path: Path
) -> None:
    body = {
        "repository_url": str(make_repository(tmp_path / "adder")),
        "sandbox_type": "git_worktree",
        "workflow_type": "agent_workflow_build",
        "initial_prompt": "Fix it",
        "agent": "codex",
        "model": "anthropic/claude-sonnet-4-5",
    }
    answer = product.request("POST", "/api/agent-work-orders", json=body)
    assert answer.status_code == 422, answer.text


def test_a_killed_server_leaves_no_agent_behind_and_goes_on(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    slow = builds(FIXED)
    slow["replies"][-1]["delay_seconds"] = 3
    model = product.script("slow", slow)
    order_id = product.submit(repository, model, agent="claude_code", workflow_type="agent_workflow_build")
    product.until(order_id, lambda event: event["type"] == "tool_call_completed")
    product.kill()
    product.start()
    order = product.finish(order_id)
    assert order["status"] == "completed", order
    assert not _running_in(order_id)


def _running_in(order_id: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if f":{order_id}:".encode() in (entry / "environ").read_bytes():
                    found.append(entry.name)
            except OSError:
                continue
    return found
