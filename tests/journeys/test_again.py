"""Begin again from a step: in the same order, or in another that goes its own way from there."""

from pathlib import Path
from typing import Any

from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, PLANS, builds, git, make_repository, says
from tests.journeys.rounds import finish_round, prompt

OTHERWISE = "def add(a, b):\n    return sum((a, b))\n"


def ask(product: Product, order_id: str, action: str, status: int, **body: Any) -> dict[str, Any]:
    answer = product.request("POST", f"/api/agent-work-orders/{order_id}/{action}", json=body)
    assert answer.status_code == status, answer.text
    result: dict[str, Any] = answer.json()
    return result


def completed(product: Product, repository: Path, name: str) -> str:
    order_id = product.submit(repository, product.script(name, PLANS, builds(FIXED)))
    assert product.finish(order_id)["status"] == "completed"
    return order_id


def steps_started(product: Product, order_id: str) -> list[str]:
    return [event["step"] for event in product.events(order_id) if event["type"] == "step_started"]


def test_a_step_and_what_follows_it_is_done_again_from_what_was_there_before(
    product: Product, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder")
    order_id = completed(product, repository, "again")
    before = product.order(order_id)
    pushed = git(repository, "rev-parse", before["git_branch_name"])
    product.script("again", PLANS, builds(OTHERWISE))
    ask(product, order_id, "retry", 202, from_step="build")
    order = product.finish(order_id)
    assert (order["status"], order["verification"]) == ("completed", "passed"), order
    branch = order["git_branch_name"]
    assert git(repository, "show", f"{branch}:adder.py") == OTHERWISE.strip()
    assert git(repository, "merge-base", pushed, branch) == pushed, "what was pushed stays what it was"
    assert order["github_pull_request_url"] == before["github_pull_request_url"]
    started = steps_started(product, order_id)
    assert (started.count("plan"), started.count("build"), started.count("verify")) == (1, 2, 2)
    refused = ask(product, order_id, "retry", 422, from_step="no-such-step")
    assert "plan" in refused["hint"]


def test_a_step_is_not_done_again_over_what_somebody_else_committed(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    order_id = completed(product, repository, "foreign")
    branch = product.order(order_id)["git_branch_name"]
    git(repository, "switch", "-q", branch)
    (repository / "by-hand.txt").write_text("by hand\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "By hand")
    git(repository, "switch", "-q", "main")
    product.script("foreign", PLANS, builds(OTHERWISE))
    ask(product, order_id, "retry", 202, from_step="build")
    product.finish(order_id)
    assert git(repository, "show", f"{branch}:by-hand.txt") == "by hand"


def test_a_fork_has_what_came_before_the_step_and_goes_its_own_way(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    order_id = completed(product, repository, "first-way")
    other = product.script("other-way", PLANS, builds(OTHERWISE))
    made = ask(product, order_id, "fork", 201, from_step="build", model=other)["agent_work_order"]
    fork_id = made["agent_work_order_id"]
    fork = product.finish(fork_id)
    assert (fork["status"], fork["verification"], fork["model"]) == ("completed", "passed", other), fork
    assert git(repository, "show", f"{fork['git_branch_name']}:adder.py") == OTHERWISE.strip()
    assert fork["github_pull_request_url"] != product.order(order_id)["github_pull_request_url"]
    assert "plan" not in steps_started(product, fork_id)
    source = product.order(order_id)["git_branch_name"]
    assert git(repository, "show", f"{source}:adder.py") == FIXED.strip(), "the first order is as it was"
    assert product.events(fork_id)[0]["forked_from"] == order_id
    ask(product, order_id, "fork", 422, from_step="build", model="nobody/knows")


def test_after_a_question_a_step_is_still_that_of_the_work_before_it(
    product: Product, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder")
    answers = {"when": {"role": "answer"}, "replies": [says("It adds.")]}
    order_id = product.submit(repository, product.script("asked", PLANS, answers, builds(FIXED)))
    assert product.finish(order_id)["status"] == "completed"
    prompt(product, order_id, "What does it do?")
    assert finish_round(product, order_id, 2)["status"] == "completed"
    product.script("asked", PLANS, builds(OTHERWISE))
    made = ask(product, order_id, "fork", 201, from_step="build")["agent_work_order"]
    fork = product.finish(made["agent_work_order_id"])
    assert (fork["status"], fork["verification"]) == ("completed", "passed"), fork
    ask(product, order_id, "retry", 202, from_step="build")
    order = product.finish(order_id)
    assert (order["status"], order["verification"]) == ("completed", "passed"), order
    for one in (fork, order):
        assert git(repository, "show", f"{one['git_branch_name']}:adder.py") == OTHERWISE.strip()
    product.script("asked", builds(FIXED))
    prompt(product, order_id, "Write it as it was")
    assert finish_round(product, order_id, 3)["status"] == "completed"
    assert git(repository, "show", f"{order['git_branch_name']}:adder.py") == FIXED.strip()


def test_a_fork_with_a_task_of_its_own_has_its_own_name(product: Product, tmp_path: Path) -> None:
    order_id = completed(product, make_repository(tmp_path / "adder"), "named")
    task = "Write it with sum"
    made = ask(product, order_id, "fork", 201, from_step="build", initial_prompt=task)["agent_work_order"]
    assert made["title"] == task
    assert made["git_branch_name"].startswith("journeyman/write-it-with-sum-")
    product.finish(made["agent_work_order_id"])


def test_what_was_never_reached_is_not_begun_from(product: Product, tmp_path: Path) -> None:
    never = {"when": {"role": "build"}, "replies": [says("I would rather not.")]}
    order_id = product.submit(make_repository(tmp_path / "adder"), product.script("never", PLANS, never))
    assert product.finish(order_id)["status"] == "failed"
    refused = ask(product, order_id, "fork", 409, from_step="publish")
    assert "comes after build, verify" in refused["detail"]
    assert "build" in refused["hint"]
    ask(product, order_id, "retry", 409, from_step="publish")
