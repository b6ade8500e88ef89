"""A person steers: pause, resume, cancel and retry, at any moment, inside a running command too."""

import subprocess
from pathlib import Path

import pytest

from tests.journeys.conftest import on_each_store
from tests.journeys.product import Product
from tests.journeys.repositories import (
    BROKEN,
    FIXED,
    LASTING,
    PLANS,
    builds,
    git,
    make_repository,
)
from tests.journeys.rounds import control, in_the_command
from tests.journeys.traces import check_story, processes_of


def has(repository: Path, blob: str, content: str) -> bool:
    shown = subprocess.run(["git", "show", blob], cwd=repository, capture_output=True, text=True)
    return shown.returncode == 0 and shown.stdout.strip() == content


@on_each_store
def test_a_cancelled_order_ends_at_once_with_everything_it_started(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    order_id = product.submit(
        repository, product.script("lasting", LASTING), workflow_type="agent_workflow_build"
    )
    product.until(order_id, in_the_command)
    order = control(product, order_id, "cancel")["agent_work_order"]
    assert order["status"] == "cancelled"
    assert processes_of(order_id) == []
    assert product.leftovers() == []
    assert order["github_pull_request_url"] is None
    assert git(repository, "branch", "--list", "journeyman/*") == ""
    told = product.events(order_id)
    assert told[-1]["type"] == "agent_work_order_cancelled"
    assert told[-2]["type"] == "git_snapshot_created"
    assert control(product, order_id, "cancel")["agent_work_order"]["status"] == "cancelled"
    snapshot, notes = told[-2]["commit_sha"], "an untracked file"
    mirrors = (product.home / "mirrors").glob("*.git")
    assert any(has(mirror, f"{snapshot}:notes.txt", notes) for mirror in mirrors)


@on_each_store
def test_a_paused_order_goes_on_with_what_it_had(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    order_id = product.submit(repository, product.script("pausing", PLANS, LASTING))
    product.until(order_id, in_the_command)
    assert control(product, order_id, "pause")["agent_work_order"]["status"] == "paused"
    assert processes_of(order_id) == []
    [workspace] = [path for path in (product.home / "workspaces").iterdir() if path.name == order_id]
    (workspace / "tree" / "go").write_text("")
    assert control(product, order_id, "resume")["agent_work_order"]["status"] == "pending"
    order = product.finish(order_id)
    assert (order["status"], order["verification"]) == ("completed", "passed"), order
    assert git(repository, "show", f"{order['git_branch_name']}:notes.txt") == "an untracked file"
    check_story(product.events(order_id))


def test_the_model_changes_while_the_order_is_paused_and_not_while_it_generates(
    product: Product, tmp_path: Path
) -> None:
    order_id = product.submit(
        make_repository(tmp_path / "adder"),
        product.script("first", LASTING),
        workflow_type="agent_workflow_build",
    )
    product.until(order_id, in_the_command)
    address, change = f"/api/agent-work-orders/{order_id}", {"model": product.script("second", builds(FIXED))}
    refused = product.request("PATCH", address, json=change)
    assert (refused.status_code, "while it generates" in refused.json()["detail"]) == (409, True)
    assert product.order(order_id)["model"] == "scripted/first"
    control(product, order_id, "pause")
    assert product.request("PATCH", address, json=change).status_code == 200
    control(product, order_id, "resume")
    order = product.finish(order_id)
    assert (order["status"], order["model"]) == ("completed", "scripted/second"), order
    called = [one["model"] for one in product.events(order_id) if one["type"] == "model_call_completed"]
    assert called[-1] == "scripted/second"


@on_each_store
def test_a_paused_order_survives_a_restart(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    order_id = product.submit(repository, product.script("pausing", PLANS, LASTING))
    product.until(order_id, in_the_command)
    control(product, order_id, "pause")
    product.kill()
    product.start()
    assert product.order(order_id)["status"] == "paused"
    assert control(product, order_id, "cancel")["agent_work_order"]["status"] == "cancelled"
    assert product.leftovers() == []


@on_each_store
def test_a_retry_goes_on_from_the_step_that_failed(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    model = product.script("learning", PLANS, builds(BROKEN))
    order_id = product.submit(repository, model)
    assert product.finish(order_id)["error_category"] == "agent"
    product.script("learning", PLANS, builds(FIXED))
    control(product, order_id, "retry")
    order = product.finish(order_id)
    assert (order["status"], order["verification"], order["error_message"]) == ("completed", "passed", None)
    started = [event["step"] for event in product.events(order_id) if event["type"] == "step_started"]
    assert started.count("plan") == 1
    assert started.count("build") == 2


def test_a_retry_after_failed_checks_runs_them_again(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    wrong = "def add(a, b):\n    return a * b\n"
    model = product.script("stuck", PLANS, builds(wrong))
    order_id = product.submit(repository, model)
    assert product.finish(order_id)["verification"] == "failed"
    product.script("stuck", PLANS, builds(FIXED))
    control(product, order_id, "retry")
    order = product.finish(order_id)
    assert (order["status"], order["verification"]) == ("completed", "passed")
    started = [event["step"] for event in product.events(order_id) if event["type"] == "step_started"]
    assert {step: started.count(step) for step in started} == {
        "plan": 1,
        "draft": 1,
        "build": 1,
        "verify": 2,
        "publish": 2,
    }


@pytest.mark.parametrize("action", ["pause", "resume", "cancel"])
def test_what_the_state_does_not_allow_is_refused_with_the_reason(
    product: Product, tmp_path: Path, action: str
) -> None:
    repository = make_repository(tmp_path / "adder")
    order_id = product.submit(
        repository, product.script("fix", builds(FIXED)), workflow_type="agent_workflow_build"
    )
    product.finish(order_id)
    problem = control(product, order_id, action, 409)
    assert "completed" in problem["detail"]
    assert problem["hint"]
    assert product.order(order_id)["status"] == "completed"


def test_an_order_whose_repository_vanishes_comes_to_its_end_and_stays_readable(
    product: Product, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder")
    order_id = product.submit(
        repository, product.script("lasting", LASTING), workflow_type="agent_workflow_build"
    )
    product.until(order_id, in_the_command)
    repository.rename(tmp_path / "elsewhere")
    product.kill()
    product.start()
    workspace = product.home / "workspaces" / order_id / "tree"
    (workspace / "go").write_text("")
    order = product.finish(order_id)
    assert order["status"] == "failed", order
    assert order["git_commit_count"] == 1
    assert product.leftovers() == []
    diff = product.request("GET", f"/api/agent-work-orders/{order_id}/diff")
    assert "return a + b" in diff.text
