"""What stops says why, what there is of its work and what to do; what waits comes to an end."""

import asyncio
import time
from pathlib import Path
from typing import Any

from tests.cli.jm import Terminal
from tests.journeys.cleanup import HANGS, cleanup, mirror_refs, wait_for_half
from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, NEVER, PLANS, builds, git, make_repository
from tests.journeys.rounds import control
from tests.standins.model_server import ModelServer, Reply, in_order

WRITES = (Reply(tools=[("write_file", {"path": "adder.py", "content": FIXED})]), Reply(text="Done."))
MODEL = "openai/gpt-5.5"


def used_up(seconds: int) -> Reply:
    body = {"error": {"type": "usage_limit_reached", "message": "no more", "resets_in_seconds": seconds}}
    return Reply(status=429, body=body)


def asking(server: ModelServer, home: Path) -> Product:
    return Product(home, OPENAI_API_KEY="none", OPENAI_BASE_URL=f"{server.url}/v1")


def build(product: Product, directory: Path) -> str:
    repository = make_repository(directory / "adder")
    return product.submit(repository, MODEL, workflow_type="agent_workflow_build")


def paused(product: Product, order_id: str) -> dict[str, Any]:
    return product.until(order_id, lambda event: event["type"] == "agent_work_order_paused")


def jm(product: Product, *arguments: str) -> str:
    """What a command says, in one line."""
    return " ".join(asyncio.run(Terminal(product.home, product.url).run(*arguments)).out.split())


def test_an_order_that_failed_says_what_was_kept_and_what_to_do(home: Path, tmp_path: Path) -> None:
    refused = Reply(status=401, body={"error": {"message": "Incorrect API key provided"}})
    with ModelServer(in_order(WRITES[0], refused)) as server, asking(server, home) as product:
        order = product.finish(build(product, tmp_path))
        assert (order["status"], order["error_category"]) == ("failed", "auth")
        assert order["error_hint"] == "Check the provider's API key."
        [snapshot] = [ref for ref in mirror_refs(product) if "/snapshots/" in ref]
        assert order["kept"] == {
            "git_branch_name": None,
            "git_commit_count": 0,
            "snapshot_ref": snapshot,
            "github_pull_request_url": None,
        }
        for command in ("show", "watch"):
            said = jm(product, command, order["agent_work_order_id"])
            for words in ("Incorrect API key", f"snapshot {snapshot}", order["error_hint"]):
                assert words in said, said


def test_an_order_whose_checks_failed_keeps_its_commits_and_its_pull_request(
    home: Path, tmp_path: Path
) -> None:
    with Product(home, JOURNEYMAN_VERIFICATION_ATTEMPTS="1") as product:
        repository = make_repository(tmp_path / "adder", NEVER)
        order = product.finish(product.submit(repository, product.script("tries", PLANS, builds(FIXED))))
        assert (order["status"], order["error_category"]) == ("failed", "verification")
        assert "retry" in order["error_hint"]
        assert order["kept"]["git_branch_name"] == order["git_branch_name"]
        assert order["kept"]["git_commit_count"] == order["git_commit_count"] > 0
        assert order["kept"]["snapshot_ref"] is None
        assert order["kept"]["github_pull_request_url"] == order["github_pull_request_url"] is not None
        commits = f"{order['git_commit_count']} commits on {order['git_branch_name']}"
        assert commits in jm(product, "show", order["agent_work_order_id"])


def test_an_order_without_quota_says_until_when_it_waits_and_goes_on_by_itself(
    home: Path, tmp_path: Path
) -> None:
    with ModelServer(in_order(used_up(2), *WRITES)) as server, asking(server, home) as product:
        order_id = build(product, tmp_path)
        told = paused(product, order_id)
        assert (told["error_category"], bool(told["resume_at"])) == ("quota", True)
        assert "quota is used up" in told["reason"]
        while (order := product.finish(order_id))["status"] == "paused":
            time.sleep(0.05)
        assert (order["status"], order["error_message"], order["resume_at"]) == ("completed", None, None)
        types = [event["type"] for event in product.events(order_id)]
        assert types.count("agent_work_order_resumed") == 1


def test_an_order_whose_provider_is_down_retries_visibly_then_pauses_and_goes_on(
    home: Path, tmp_path: Path
) -> None:
    down = Reply(status=503, body={"error": {"message": "down"}})
    with ModelServer(in_order(*[down] * 9, *WRITES)) as server, asking(server, home) as product:
        order_id = build(product, tmp_path)
        told = paused(product, order_id)
        assert (told["error_category"], bool(told["resume_at"])) == ("transient", True)
        retries = [event for event in product.events(order_id) if event["type"] == "step_retrying"]
        assert [event["attempt"] for event in retries] == [2, 3]
        assert all(event["wait_seconds"] >= 1 for event in retries)
        order = product.order(order_id)
        assert (order["status"], order["resume_at"]) == ("paused", told["resume_at"])
        assert "Tried again after a while" in order["error_hint"]
        control(product, order_id, "resume")
        assert product.finish(order_id)["status"] == "completed"


def test_a_person_can_end_the_wait_for_a_quota_early_or_make_it_last(home: Path, tmp_path: Path) -> None:
    with ModelServer(in_order(used_up(36_000), *WRITES)) as server, asking(server, home) as product:
        order_id = build(product, tmp_path)
        told = paused(product, order_id)
        waiting = product.order(order_id)
        assert (waiting["status"], waiting["error_category"]) == ("paused", "quota")
        assert waiting["resume_at"] == told["resume_at"]
        assert "goes on " + told["resume_at"][:10] in jm(product, "show", order_id)
        assert "It goes on by itself at " in jm(product, "watch", order_id)

        held = control(product, order_id, "pause")["agent_work_order"]
        assert (held["status"], held["resume_at"], held["error_category"]) == ("paused", None, "quota")
        assert product.events(order_id)[-1]["resume_at"] is None
        assert control(product, order_id, "pause")["agent_work_order"] == held

        control(product, order_id, "resume")
        assert product.finish(order_id)["status"] == "completed"


def test_an_order_that_was_paused_for_too_long_is_cancelled_with_its_work_and_can_be_retried(
    home: Path, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder")
    with Product(home, JOURNEYMAN_MAX_PAUSED_DAYS="0.00000001") as product:
        order_id = product.submit(
            repository, product.script("hangs", HANGS), workflow_type="agent_workflow_build"
        )
        wait_for_half(product, order_id)
        control(product, order_id, "pause")
        [told] = [one for one in cleanup(product, dry_run=True) if one.startswith(order_id)]
        assert told.endswith("nobody resumed it")
        assert product.order(order_id)["status"] == "paused"
        assert told in cleanup(product)

        order = product.order(order_id)
        assert (order["status"], order["error_category"]) == ("cancelled", "conflict")
        assert "nobody resumed it" in order["error_message"]
        last = product.events(order_id)[-1]
        assert (last["type"], last["reason"]) == ("agent_work_order_cancelled", order["error_message"])
        assert order["kept"]["snapshot_ref"] in mirror_refs(product)
        assert f"snapshot {order['kept']['snapshot_ref']}" in jm(product, "show", order_id)
        assert product.leftovers() == []

        control(product, order_id, "retry")
        order = product.finish(order_id)
        assert (order["status"], order["kept"], order["error_hint"]) == ("completed", None, None)
        assert git(repository, "show", f"{order['git_branch_name']}:found.txt") == "half done"
