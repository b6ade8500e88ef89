"""What orders leave goes by policy: shown first, then cleared away, and what is still needed stays."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from journeyman.settings import SETTING_NAMES
from tests.faults.waiting import wait_for
from tests.journeys.cleanup import HANGS, cleanup, mirror_refs, wait_for_half
from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, builds, git, make_repository

AT_ONCE = {name: "0" for name in SETTING_NAMES if name.startswith("JOURNEYMAN_KEEP_")}


@pytest.fixture
def product(home: Path) -> Iterator[Product]:
    with Product(home, **AT_ONCE) as product:
        yield product


def test_what_a_merged_order_left_is_shown_and_then_goes(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    key = {"Idempotency-Key": "once"}
    order_id = product.submit(
        repository, product.script("fix", builds(FIXED)), workflow_type="agent_workflow_build"
    )
    order = product.finish(order_id)
    product.request("POST", f"/api/agent-work-orders/{order_id}/pull-request/ready", headers=key)
    with sqlite3.connect(product.home / "journeyman.db") as database:
        database.execute("UPDATE local_pull_requests SET state = 'merged'")
        database.execute("UPDATE work_orders SET updated_at = '2026-01-01 00:00:00.000000'")
    before, refs = product.events(order_id), mirror_refs(product)

    # The engine marks the round as ended just after the order has.
    wait_for(lambda: "engine rows of 1 rounds" in cleanup(product, dry_run=True), "an ended round")
    told = {f"log of {order_id}", f"chatter of {order_id}", "engine rows of 1 rounds"}
    (product.home / "sessions" / order_id).mkdir(parents=True)
    told |= {f"agent home of {order_id}", "1 answers under an Idempotency-Key"}
    assert set(cleanup(product, dry_run=True)) == told, "nobody has looked yet whether it was merged"
    assert (product.events(order_id), mirror_refs(product)) == (before, refs)

    assert set(cleanup(product)) == told | {f"branch of {order_id}"}
    assert cleanup(product) == []
    assert [entry.name for entry in (product.home / "sessions").iterdir()] == [".trash"]
    wait_for(lambda: not list((product.home / "sessions" / ".trash").iterdir()), "an empty trash")
    assert product.order(order_id)["pull_request_state"] == "merged"
    assert [ref for ref in mirror_refs(product) if order_id in ref] == [
        ref for ref in mirror_refs(product) if ref.startswith("refs/remotes/") and order_id in ref
    ]
    assert git(repository, "branch", "--list", order["git_branch_name"]), "theirs is not ours to delete"
    kept = [event["type"] for event in product.events(order_id)]
    assert "agent_work_order_completed" in kept
    assert not {"agent_text", "tool_call_started", "tool_call_completed"} & set(kept)
    sequences = [event["sequence"] for event in product.events(order_id)]
    assert sequences == sorted(set(sequences))
    assert product.get(f"/api/agent-work-orders/{order_id}/steps")["steps"]
    answer = product.request(
        "POST",
        f"/api/agent-work-orders/{order_id}/prompt",
        json={"agent_work_order_id": order_id, "prompt_text": "More"},
    )
    assert answer.status_code == 409


def test_a_paused_order_loses_its_workspace_and_none_of_its_work(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    order_id = product.submit(
        repository, product.script("hangs", HANGS), workflow_type="agent_workflow_build"
    )
    wait_for_half(product, order_id)
    assert cleanup(product) == [], "an order under way keeps everything"
    product.request("POST", f"/api/agent-work-orders/{order_id}/pause")
    removed = cleanup(product)
    assert f"workspace of {order_id}" in removed
    assert product.leftovers() == []
    assert any(ref.startswith(f"refs/journeyman/snapshots/{order_id}/") for ref in mirror_refs(product))
    product.request("POST", f"/api/agent-work-orders/{order_id}/resume")
    order = product.finish(order_id)
    assert order["status"] == "completed", order
    assert git(repository, "show", f"{order['git_branch_name']}:found.txt") == "half done"


def test_an_order_that_failed_keeps_its_branch_and_newest_snapshot(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    order_id = product.submit(
        repository, product.script("hangs", HANGS), workflow_type="agent_workflow_build"
    )
    wait_for_half(product, order_id)
    product.request("POST", f"/api/agent-work-orders/{order_id}/cancel")
    cleanup(product)
    refs = [ref for ref in mirror_refs(product) if order_id in ref]
    assert any(ref.startswith("refs/heads/") for ref in refs)
    [snapshot] = [ref for ref in refs if ref.startswith("refs/journeyman/snapshots/")]
    [mirror] = (product.home / "mirrors").glob("*.git")
    assert git(mirror, "show", f"{snapshot}:half.txt") == "half done"


def test_what_cannot_be_meant_is_refused(product: Product) -> None:
    answer = product.request("POST", "/api/cleanup", json={"dry_run": True, "more": 1})
    assert answer.status_code == 422
