"""Saying more to an order: work on the same branch, answers without a trace, in order, until taken back."""

from pathlib import Path
from typing import Any

from tests.journeys.conftest import on_each_store
from tests.journeys.product import Product
from tests.journeys.repositories import BROKEN, FIXED, PLANS, builds, calls, git, make_repository, says
from tests.journeys.rounds import finish_round, prompt

MORE: dict[str, Any] = {
    "when": {"role": "build", "contains": "Add a changelog"},
    "replies": [calls("write_file", path="CHANGES.md", content="# Changes\n"), says("Added.")],
}
ANSWERS: dict[str, Any] = {
    "when": {"role": "answer"},
    "replies": [
        calls("shell", command="echo x > /workspace/sneaky.txt; cat adder.py"),
        says("It adds two numbers, see adder.py:2."),
    ],
}
WAITS: dict[str, Any] = {
    "when": {"role": "build"},
    "replies": [
        calls("write_file", path="adder.py", content=FIXED),
        calls("shell", command="until [ -e go ]; do sleep 0.02; done; rm go"),
        says("Done."),
    ],
}


def test_work_asked_for_afterwards_goes_on_the_same_branch_and_pull_request(
    product: Product, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder")
    order_id = product.submit(
        repository, product.script("more", MORE, builds(FIXED)), workflow_type="agent_workflow_build"
    )
    first = product.finish(order_id)
    assert prompt(product, order_id, "Add a changelog")["prompt_accepted"] is True
    second = finish_round(product, order_id, 2)
    assert (second["status"], second["verification"]) == ("completed", "passed"), second
    assert second["git_branch_name"] == first["git_branch_name"]
    assert second["github_pull_request_url"] == first["github_pull_request_url"]
    assert git(repository, "show", f"{second['git_branch_name']}:CHANGES.md") == "# Changes"
    assert git(repository, "show", f"{second['git_branch_name']}:adder.py") == FIXED.strip()


def test_a_question_is_answered_and_leaves_no_trace(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    model = product.script("asked", ANSWERS, builds(FIXED))
    order_id = product.submit(repository, model, workflow_type="agent_workflow_build")
    first = product.finish(order_id)
    head = git(repository, "rev-parse", first["git_branch_name"])
    prompt(product, order_id, "What does the adder do?")
    second = finish_round(product, order_id, 2)
    assert second["status"] == "completed", second
    [answered] = [event for event in product.events(order_id) if event["type"] == "agent_answered"]
    assert "adder.py:2" in answered["text"]
    assert git(repository, "rev-parse", first["git_branch_name"]) == head
    assert second["git_commit_count"] == first["git_commit_count"]


def test_a_prompt_that_needs_no_change_is_answered_and_spoils_nothing(
    product: Product, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder")
    thanks = {"when": {"role": "build", "contains": "Thanks"}, "replies": [says("You are welcome.")]}
    model = product.script("friendly", PLANS, thanks, ANSWERS, builds(FIXED))
    order_id = product.submit(repository, model, workflow_type="agent_workflow_plan_build_test")
    first = product.finish(order_id)
    assert (first["status"], first["verification"]) == ("completed", "passed"), first
    prompt(product, order_id, "Thanks, looks good to me!", mode="work")
    second = finish_round(product, order_id, 2)
    assert (second["status"], second["verification"]) == ("completed", "passed"), second
    [answered] = [event for event in product.events(order_id) if event["type"] == "agent_answered"]
    assert answered["text"] == "You are welcome."
    steps = product.get(f"/api/agent-work-orders/{order_id}/steps")["steps"]
    later = {one["step"]: one["status"] for one in steps if one["round"] == 2}
    assert later == {"build": "completed", "verify": "skipped", "publish": "skipped"}
    assert second["git_commit_count"] == first["git_commit_count"]
    assert (
        "An answer begins"
        in prompt(product, order_id, "Mark the pull request as ready for review")["message"]
    )


@on_each_store
def test_prompts_wait_in_order_while_a_round_runs_and_can_be_taken_back(
    product: Product, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder")
    model = product.script("waits", MORE, ANSWERS, WAITS)
    order_id = product.submit(repository, model, workflow_type="agent_workflow_build")
    product.until(order_id, lambda event: event["type"] == "tool_call_started" and event["tool"] == "shell")
    assert "has come to its end" in prompt(product, order_id, "Add a changelog")["message"]
    prompt(product, order_id, "This one is taken back")
    prompt(product, order_id, "Tell me what it does", mode="ask")
    path = f"/api/agent-work-orders/{order_id}/prompts"
    taken = product.request("DELETE", f"{path}/2").json()["prompts"]
    assert [one["status"] for one in taken] == ["queued", "cancelled", "queued"]
    product.kill()
    product.start()
    (product.home / "workspaces" / order_id / "tree" / "go").write_text("")
    order = finish_round(product, order_id, 3)
    assert order["status"] == "completed", order
    told = product.get(path)["prompts"]
    assert [one["status"] for one in told] == ["started", "cancelled", "started"]
    assert [one["round"] for one in told] == [2, None, 3]
    assert product.request("DELETE", f"{path}/1").status_code == 409
    sequences = [event["sequence"] for event in product.events(order_id)]
    assert sequences == list(range(1, len(sequences) + 1))


@on_each_store
def test_cancelling_an_order_takes_its_waiting_prompts_back(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    model = product.script("waits", MORE, ANSWERS, WAITS)
    order_id = product.submit(repository, model, workflow_type="agent_workflow_build")
    product.until(order_id, lambda event: event["type"] == "tool_call_started" and event["tool"] == "shell")
    prompt(product, order_id, "Add a changelog")
    product.request("POST", f"/api/agent-work-orders/{order_id}/cancel")
    [taken_back] = product.get(f"/api/agent-work-orders/{order_id}/prompts")["prompts"]
    assert taken_back["status"] == "cancelled"
    assert product.order(order_id)["status"] == "cancelled"


def test_work_after_a_cancelled_round_begins_without_what_that_round_left(
    product: Product, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "cancelled", tests="import adder\n")
    model = product.script("waits", MORE, ANSWERS, WAITS)
    order_id = product.submit(repository, model, workflow_type="agent_workflow_build")
    product.until(order_id, lambda event: event["type"] == "tool_call_started" and event["tool"] == "shell")
    product.request("POST", f"/api/agent-work-orders/{order_id}/cancel")
    kept = product.order(order_id)["kept"]
    assert kept["snapshot_ref"].startswith("refs/journeyman/snapshots/")
    prompt(product, order_id, "Add a changelog")
    order = finish_round(product, order_id, 2)
    assert order["status"] == "completed", order
    assert git(repository, "show", f"{order['git_branch_name']}:CHANGES.md") == "# Changes"
    assert git(repository, "show", f"{order['git_branch_name']}:adder.py") == BROKEN.strip()
    [mirror] = (product.home / "mirrors").glob("*-cancelled-*.git")
    assert git(mirror, "show", f"{kept['snapshot_ref']}:adder.py") == FIXED.strip(), "it is still there"


def test_a_prompt_that_cannot_be_taken_is_refused(product: Product, tmp_path: Path) -> None:
    order_id = product.submit(
        make_repository(tmp_path / "adder"),
        product.script("fix", builds(FIXED)),
        workflow_type="agent_workflow_build",
    )
    product.finish(order_id)
    for text in ("", "  ", "a\0b"):
        prompt(product, order_id, text, 422)
    prompt(product, order_id, "x", 422, mode="shout")
    answer = product.request(
        "POST",
        f"/api/agent-work-orders/{order_id}/prompt",
        json={"agent_work_order_id": "wo-other000", "prompt_text": "x"},
    )
    assert answer.status_code == 422
    assert product.get(f"/api/agent-work-orders/{order_id}/prompts")["prompts"] == []
