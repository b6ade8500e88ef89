"""From a work order to a draft pull request, for every built-in workflow, on both stores."""

from pathlib import Path

import pytest

from tests.journeys.product import Product
from tests.journeys.repositories import BROKEN, FIXED, NEVER, PLANS, TESTS, builds, git, make_repository


def test_a_plan_a_build_and_its_checks_end_in_a_verified_draft_pull_request(
    product: Product, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder")
    base = git(repository, "rev-parse", "HEAD")
    model = product.script("fix", PLANS, builds(FIXED))
    order_id = product.submit(repository, model)
    order = product.finish(order_id)

    assert (order["status"], order["verification"]) == ("completed", "passed")
    assert order["current_phase"] == "completed"
    branch = order["git_branch_name"]
    assert branch == f"journeyman/fix-the-adder-{order_id}"
    assert git(repository, "show", f"{branch}:adder.py") == FIXED.strip()
    assert git(repository, "rev-parse", "main") == base
    trailers = git(
        repository, "log", "--reverse", "--format=%(trailers:key=Agent-Phase,valueonly)", f"main..{branch}"
    )
    assert trailers.split() == ["planning", "implementing", "testing"]
    assert f"Agent-Work-Order: {order_id}" in git(repository, "log", "-1", "--format=%B", branch)
    assert "Make it add" in git(repository, "show", f"{branch}:.journeyman/{order_id}/plan.md")
    assert order["git_commit_count"] == 3

    number = int(order["github_pull_request_url"].rsplit("/", 1)[1])
    pull_request = product.get(f"/api/local-forge/pull-requests/{number}")
    assert pull_request["draft"] is True
    assert "The checks passed" in pull_request["body"]

    [evidence] = product.get(f"/api/agent-work-orders/{order_id}/evidence")["evidence"]
    assert evidence["passed"] is True
    assert evidence["commit_sha"] == git(repository, "rev-parse", f"{branch}~1")
    sequences = [event["sequence"] for event in product.events(order_id)]
    assert sequences == list(range(1, len(sequences) + 1))


def test_checks_that_fail_first_are_given_back_to_the_agent(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    wrong = "def add(a, b):\n    return a * b\n"
    model = product.script("second", PLANS, builds(FIXED, "(?s)checks.*AssertionError"), builds(wrong))
    order_id = product.submit(repository, model)
    order = product.finish(order_id)
    evidence = product.get(f"/api/agent-work-orders/{order_id}/evidence")["evidence"]
    assert [one["passed"] for one in evidence] == [False, True]
    assert (order["status"], order["verification"]) == ("completed", "passed")
    assert git(repository, "show", f"{order['git_branch_name']}:adder.py") == FIXED.strip()


def test_checks_that_never_pass_fail_the_order_and_the_pull_request_says_so(
    product: Product, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder", NEVER)
    attempts = [builds(f"{FIXED}# try {n}\n", f"attempt {n}") for n in range(1, 6)]
    model = product.script("never", PLANS, *attempts, builds(FIXED))
    order_id = product.submit(repository, model)
    order = product.finish(order_id)
    assert (order["status"], order["verification"], order["error_category"]) == (
        "failed",
        "failed",
        "verification",
    )
    evidence = product.get(f"/api/agent-work-orders/{order_id}/evidence")["evidence"]
    assert [one["passed"] for one in evidence] == [False] * 5
    number = int(order["github_pull_request_url"].rsplit("/", 1)[1])
    body = product.get(f"/api/local-forge/pull-requests/{number}")["body"]
    assert "did **not** pass" in body
    assert "checks passed" not in body


@pytest.mark.parametrize(
    ("workflow", "phases", "verification"),
    [
        ("agent_workflow_plan", ["planning"], "none"),
        ("agent_workflow_build", ["implementing"], "none"),
        ("agent_workflow_test", ["testing", "testing"], "passed"),
        ("agent_workflow_plan_build", ["planning", "implementing"], "none"),
        ("agent_workflow_implement", ["implementing"], "none"),
    ],
)
def test_each_built_in_workflow_ends_in_a_draft_pull_request(
    product: Product, tmp_path: Path, workflow: str, phases: list[str], verification: str
) -> None:
    repository = make_repository(tmp_path / "adder")
    model = product.script("fix", PLANS, builds(FIXED))
    order = product.finish(product.submit(repository, model, workflow_type=workflow))
    assert (order["status"], order["verification"]) == ("completed", verification)
    assert order["github_pull_request_url"]
    progress = product.get(f"/api/agent-work-orders/{order['agent_work_order_id']}/git-progress")
    assert [phase["phase"] for phase in progress["phase_history"] for _ in range(phase["commits"])] == phases


@pytest.mark.parametrize("sandbox_type", ["git_branch", "git_worktree"])
def test_orders_on_one_repository_do_not_meet(product: Product, tmp_path: Path, sandbox_type: str) -> None:
    repository = make_repository(tmp_path / "adder")
    model = product.script("fix", PLANS, builds(FIXED))
    ids = [
        product.submit(repository, model, sandbox_type=sandbox_type, initial_prompt=f"Fix the adder, {n}")
        for n in range(2)
    ]
    orders = [product.finish(order_id) for order_id in ids]
    assert [order["verification"] for order in orders] == ["passed", "passed"]
    assert len({order["github_pull_request_url"] for order in orders}) == 2
    for order in orders:
        assert git(repository, "show", f"{order['git_branch_name']}:adder.py") == FIXED.strip()


def test_a_task_whose_agent_changes_nothing_fails_plainly(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    model = product.script("idle", PLANS, builds(BROKEN))
    order = product.finish(product.submit(repository, model))
    assert (order["status"], order["error_category"]) == ("failed", "agent")
    assert "without changing any file" in order["error_message"]


def test_nothing_is_left_behind_after_an_order(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    model = product.script("fix", PLANS, builds(FIXED))
    order = product.finish(product.submit(repository, model))
    assert order["status"] == "completed"
    assert product.leftovers() == []
    assert git(repository, "status", "--porcelain") == ""
    assert (repository / "test_adder.py").read_text() == TESTS
