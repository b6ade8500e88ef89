"""From a work order to a draft pull request: every built-in workflow, on both stores and both forges.

SQLite is paired with the local forge and PostgreSQL with GitHub; the two other pairs run with `--full`.
"""

import pytest

from tests.journeys.conftest import Hosting, on_each_store
from tests.journeys.product import Product
from tests.journeys.repositories import BROKEN, FIXED, NEVER, PLANS, builds, git

pytestmark = on_each_store


def test_a_plan_a_build_and_its_checks_end_in_a_verified_draft_pull_request(
    product: Product, hosting: Hosting
) -> None:
    repository = hosting.add()
    base = git(repository.path, "rev-parse", "main")
    order_id = product.submit(repository.url, product.script("fix", PLANS, builds(FIXED)))
    order = product.finish(order_id)

    assert (order["status"], order["verification"]) == ("completed", "passed"), order
    assert order["current_phase"] == "completed"
    branch = order["git_branch_name"]
    assert branch == f"journeyman/fix-the-adder-{order_id}"
    assert git(repository.path, "show", f"{branch}:adder.py") == FIXED.strip()
    assert git(repository.path, "rev-parse", "main") == base
    phase = "--format=%(trailers:key=Agent-Phase,valueonly)"
    phases = git(repository.path, "log", "--reverse", phase, f"main..{branch}").split()
    assert phases == ["planning", "implementing", "testing"]
    assert f"Agent-Work-Order: {order_id}" in git(repository.path, "log", "-1", "--format=%B", branch)
    assert "Make it add" in git(repository.path, "show", f"{branch}:.journeyman/{order_id}/plan.md")
    assert order["git_commit_count"] == 3

    [pull_request] = repository.pull_requests()
    assert pull_request["draft"] is True
    assert "The checks passed" in pull_request["body"]
    [evidence] = product.get(f"/api/agent-work-orders/{order_id}/evidence")["evidence"]
    assert evidence["passed"] is True
    assert evidence["commit_sha"] == git(repository.path, "rev-parse", f"{branch}~1")
    sequences = [event["sequence"] for event in product.events(order_id)]
    assert sequences == list(range(1, len(sequences) + 1))


def test_checks_that_fail_first_are_given_back_to_the_agent(product: Product, hosting: Hosting) -> None:
    repository = hosting.add()
    wrong = "def add(a, b):\n    return a * b\n"
    model = product.script("second", PLANS, builds(FIXED, "(?s)checks.*AssertionError"), builds(wrong))
    order_id = product.submit(repository.url, model)
    order = product.finish(order_id)
    evidence = product.get(f"/api/agent-work-orders/{order_id}/evidence")["evidence"]
    assert [one["passed"] for one in evidence] == [False, True]
    assert (order["status"], order["verification"]) == ("completed", "passed")
    assert git(repository.path, "show", f"{order['git_branch_name']}:adder.py") == FIXED.strip()


def test_checks_that_never_pass_fail_the_order_and_the_pull_request_says_so(
    product: Product, hosting: Hosting
) -> None:
    repository = hosting.add(NEVER)
    roles = ["build", "build", "debug", "debug"]
    attempts = [builds(f"{FIXED}# try {n}\n", f"attempt {n}", role) for n, role in enumerate(roles, start=1)]
    order_id = product.submit(repository.url, product.script("never", PLANS, *attempts, builds(FIXED)))
    order = product.finish(order_id)
    assert (order["status"], order["verification"]) == ("failed", "failed")
    assert order["error_category"] == "verification"
    evidence = product.get(f"/api/agent-work-orders/{order_id}/evidence")["evidence"]
    assert [one["passed"] for one in evidence] == [False] * 5
    told = [event["text"] for event in product.events(order_id) if event["type"] == "agent_notice"]
    assert ["debugging" in text for text in told] == [True, True]
    [pull_request] = repository.pull_requests()
    assert "did **not** pass" in pull_request["body"]
    assert "checks passed" not in pull_request["body"]


@pytest.mark.parametrize(
    ("workflow", "phases", "verification"),
    [
        ("agent_workflow_plan", ["planning"], "none"),
        ("agent_workflow_build", ["implementing"], "none"),
        ("agent_workflow_test", ["testing", "testing"], "passed"),
        ("agent_workflow_plan_build", ["planning", "implementing"], "none"),
    ],
)
def test_each_built_in_workflow_ends_in_a_draft_pull_request(
    product: Product, hosting: Hosting, workflow: str, phases: list[str], verification: str
) -> None:
    repository = hosting.add()
    model = product.script("fix", PLANS, builds(FIXED))
    order = product.finish(product.submit(repository.url, model, workflow_type=workflow))
    assert (order["status"], order["verification"]) == ("completed", verification)
    assert [one["draft"] for one in repository.pull_requests()] == [True]
    progress = product.get(f"/api/agent-work-orders/{order['agent_work_order_id']}/git-progress")
    assert [phase["phase"] for phase in progress["phase_history"] for _ in range(phase["commits"])] == phases


def test_checks_that_pass_at_once_propose_nothing(product: Product, hosting: Hosting) -> None:
    repository = hosting.add(tests="import adder\n")
    order_id = product.submit(
        repository.url, product.script("fix", builds(FIXED)), workflow_type="agent_workflow_test"
    )
    order = product.finish(order_id)
    assert order["status"] == "completed", order
    assert repository.pull_requests() == []
    [published] = [one for one in product.events(order_id) if one["type"] == "step_completed"][-1:]
    assert "no pull request" in published["output"]["note"]


@pytest.mark.parametrize("sandbox_type", ["git_branch", "git_worktree"])
def test_orders_on_one_repository_do_not_meet(product: Product, hosting: Hosting, sandbox_type: str) -> None:
    repository = hosting.add()
    model = product.script("fix", PLANS, builds(FIXED))
    ids = [product.submit(repository.url, model, sandbox_type=sandbox_type) for _ in range(2)]
    orders = [product.finish(order_id) for order_id in ids]
    assert [order["verification"] for order in orders] == ["passed", "passed"]
    assert len({order["github_pull_request_url"] for order in orders}) == 2
    for order in orders:
        assert git(repository.path, "show", f"{order['git_branch_name']}:adder.py") == FIXED.strip()


def test_a_task_whose_agent_changes_nothing_fails_plainly(product: Product, hosting: Hosting) -> None:
    model = product.script("idle", PLANS, builds(BROKEN))
    order = product.finish(product.submit(hosting.add().url, model))
    assert (order["status"], order["error_category"]) == ("failed", "agent")
    assert "without changing any file" in order["error_message"]


def test_nothing_is_left_behind_after_an_order(product: Product, hosting: Hosting) -> None:
    model = product.script("fix", PLANS, builds(FIXED))
    order = product.finish(product.submit(hosting.add().url, model))
    assert order["status"] == "completed"
    assert product.leftovers() == []
