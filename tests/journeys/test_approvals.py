"""Steps that wait for a person: asked once, bound to a commit, and in nobody's way."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import fresh_postgres_url
from tests.journeys.conftest import on_each_store
from tests.journeys.product import Product, run_jm
from tests.journeys.repositories import FIXED, builds, git, make_repository

GATED = """name: gated
description: A person has the last word.
steps:
  - {name: build, kind: build}
  - {name: release, kind: shell, depends_on: [build], requires_approval: true, command: "echo 1 > out.txt"}
  - {name: publish, kind: open_pull_request, depends_on: [release]}
"""


SIDE_BY_SIDE = """name: side_by_side
description: Two questions, and work that depends on neither.
steps:
  - {name: first, kind: shell, requires_approval: true, command: "echo 1 > first.txt"}
  - {name: second, kind: shell, requires_approval: true, on_failure: continue, command: "echo 2 > second.txt"}
  - {name: slow, kind: shell, command: "until [ -e go ]; do sleep 0.02; done; rm go; echo 3 > slow.txt"}
  - {name: after, kind: shell, depends_on: [slow], command: "echo 4 > after.txt"}
  - {name: publish, kind: open_pull_request, depends_on: [first, second, after]}
"""


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.lasting)])
def product(
    request: pytest.FixtureRequest, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Product]:
    home = tmp_path_factory.mktemp("approvals") / "home"
    (home / "workflows").mkdir(parents=True)
    (home / "workflows" / "gated.yaml").write_text(GATED)
    (home / "workflows" / "side_by_side.yaml").write_text(SIDE_BY_SIDE)
    with ExitStack() as stack:
        url = stack.enter_context(fresh_postgres_url(pytestconfig)) if request.param == "postgresql" else ""
        made = Product(home, DATABASE_URL=url, JOURNEYMAN_MAX_CONCURRENT_ORDERS="1")
        yield stack.enter_context(made)


def submit_gated(product: Product, repository: Path) -> str:
    order_id = product.submit(repository, product.script("fix", builds(FIXED)), workflow_type="gated")
    assert product.finish(order_id)["status"] == "awaiting_approval"
    return order_id


def decide(
    product: Product,
    order_id: str,
    decision: str,
    status: int = 202,
    step: str = "release",
    **more: str | bool,
) -> dict[str, Any]:
    answer = product.request(
        "POST",
        f"/api/agent-work-orders/{order_id}/approvals/{step}",
        json={"decision": decision, **more},
    )
    assert answer.status_code == status, answer.text
    result: dict[str, Any] = answer.json()
    return result


@on_each_store
def test_an_approved_step_runs_and_finished_ones_do_not_run_again(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    order_id = submit_gated(product, repository)
    [asked] = product.get(f"/api/agent-work-orders/{order_id}/approvals")["approvals"]
    assert (asked["step"], asked["decision"]) == ("release", "waiting")
    product.kill()
    product.start()
    assert product.order(order_id)["status"] == "awaiting_approval"
    decide(product, order_id, "approve", comment="fine")
    order = product.finish(order_id)
    assert order["status"] == "completed", order
    assert git(repository, "show", f"{order['git_branch_name']}:out.txt") == "1"
    started = [event["step"] for event in product.events(order_id) if event["type"] == "step_started"]
    assert started == ["build", "release", "publish"]
    decide(product, order_id, "approve")
    decide(product, order_id, "reject", 409)


def test_what_is_sent_back_is_done_again_with_the_comment_and_asked_again(
    product: Product, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder")
    order_id = submit_gated(product, repository)
    product.script("fix", builds("def add(a, b):\n    return b + a\n", contains="swap the two"))
    decide(product, order_id, "reject", 422, rework=True)
    decide(product, order_id, "approve", 422, rework=True, comment="fine")
    decide(product, order_id, "reject", rework=True, comment="Please swap the two.")
    assert product.finish(order_id)["status"] == "awaiting_approval"
    asked = product.get(f"/api/agent-work-orders/{order_id}/approvals")["approvals"]
    assert [one["decision"] for one in asked] == ["rework", "waiting"]
    decide(product, order_id, "approve")
    order = product.finish(order_id)
    assert order["status"] == "completed", order
    assert "b + a" in git(repository, "show", f"{order['git_branch_name']}:adder.py")


def test_a_rejected_step_fails_the_order_with_the_comment(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    order_id = submit_gated(product, repository)
    told = run_jm(
        "reject",
        order_id,
        "--comment",
        "not on a Friday",
        JOURNEYMAN_HOME=str(product.home),
        JOURNEYMAN_URL=product.url,
    )
    assert told.returncode == 0, told.stderr
    order = product.finish(order_id)
    assert (order["status"], order["error_category"]) == ("failed", "permission")
    assert "not on a Friday" in order["error_message"]
    assert git(repository, "branch", "--list", "journeyman/*") == ""


def test_a_waiting_order_is_in_nobodys_way_and_can_be_cancelled(product: Product, tmp_path: Path) -> None:
    waiting = submit_gated(product, make_repository(tmp_path / "first"))
    other = product.submit(
        make_repository(tmp_path / "second"), "scripted/fix", workflow_type="agent_workflow_build"
    )
    assert product.finish(other)["status"] == "completed"
    answer = product.request("POST", f"/api/agent-work-orders/{waiting}/cancel")
    assert answer.json()["agent_work_order"]["status"] == "cancelled"
    assert product.leftovers(waiting, other) == []


def open_questions(product: Product, repository: Path) -> tuple[str, Path]:
    """An order that works while two of its steps wait for a person; and what lets the work go on."""
    order_id = product.submit(repository, product.script("fix", builds(FIXED)), workflow_type="side_by_side")
    missing = {"first", "second", "slow"}
    for event in product.follow(order_id):
        if event["type"] in ("approval_requested", "step_started"):
            missing.discard(event["step"])
        if not missing:
            break
    return order_id, product.home / "workspaces" / order_id / "tree" / "go"


def test_an_open_question_stops_only_what_depends_on_it(product: Product, tmp_path: Path) -> None:
    order_id, go = open_questions(product, make_repository(tmp_path / "adder"))
    go.touch()
    assert product.finish(order_id)["status"] == "awaiting_approval"
    steps = {
        one["step"]: one["status"] for one in product.get(f"/api/agent-work-orders/{order_id}/steps")["steps"]
    }
    assert steps == {"slow": "completed", "after": "completed"}


@on_each_store
def test_every_decision_counts_whatever_the_order_does_meanwhile(product: Product, tmp_path: Path) -> None:
    """Both steps write, so the branch moves on between the decisions; nobody is asked a second time."""
    repository = make_repository(tmp_path / "adder")
    order_id, go = open_questions(product, repository)
    decide(product, order_id, "approve", step="first")
    go.touch()
    assert product.finish(order_id)["status"] == "awaiting_approval"
    decide(product, order_id, "reject", step="second", comment="not this one")
    order = product.finish(order_id)
    assert order["status"] == "completed", order
    listed = git(repository, "ls-tree", "--name-only", order["git_branch_name"]).split()
    assert {"first.txt", "slow.txt", "after.txt"} <= set(listed)
    assert "second.txt" not in listed
    asked = product.get(f"/api/agent-work-orders/{order_id}/approvals")["approvals"]
    assert {one["step"]: one["decision"] for one in asked} == {"first": "approved", "second": "rejected"}
    assert len(asked) == 2
    steps = {one["step"]: one for one in product.get(f"/api/agent-work-orders/{order_id}/steps")["steps"]}
    assert "not this one" in steps["second"]["error_message"]
