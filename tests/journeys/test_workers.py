"""Many workers on one database: each with a home of its own, as on machines that share no disk."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.conftest import fresh_postgres_url
from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, LASTING, PLANS, builds, calls, git, make_repository, says
from tests.journeys.rounds import control, in_the_command
from tests.journeys.traces import check_story, processes_of
from tests.pace import slowdown

LEASE_SECONDS = 3
"""On a machine of its own; a busy one is given more, so that no worker loses its orders by being slow."""
HOLDS: dict[str, Any] = {
    "when": {"role": "build"},
    "replies": [
        calls("write_file", path="adder.py", content=FIXED),
        calls("shell", command="test -e /workspace/.journeyman && sleep 1; echo ready"),
        says("Done."),
    ],
}

Hire = Callable[[str], Product]


@pytest.fixture(scope="module")
def url(pytestconfig: pytest.Config) -> Iterator[str]:
    with fresh_postgres_url(pytestconfig) as url:
        yield url


@pytest.fixture(scope="module")
def office(url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """A server that carries out nothing itself."""
    with _process(tmp_path_factory.mktemp("office"), url, "serve", "--no-worker") as office:
        yield office


@pytest.fixture
def hire(url: str, office: Product, tmp_path: Path) -> Iterator[Hire]:
    hired: list[Product] = []

    def hire(name: str) -> Product:
        worker = _process(tmp_path / name, url, "worker", JOURNEYMAN_SCRIPTS=str(office.scripts)).start()
        hired.append(worker)
        return worker

    yield hire
    for worker in hired:
        worker.stop()


def _process(directory: Path, url: str, *command: str, **more: str) -> Product:
    (directory / "home").mkdir(parents=True)
    lease = str(round(LEASE_SECONDS * slowdown(), 1))
    return Product(
        directory / "home", *command, DATABASE_URL=url, JOURNEYMAN_WORKER_LEASE_SECONDS=lease, **more
    )


def worker_of(office: Product, order_id: str) -> str:
    worker: str = office.order(order_id)["worker_id"]
    return worker


def workflows_of(url: str, order_id: str) -> list[str]:
    """The rounds of an order, as the durable engine knows them."""
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT workflow_uuid FROM dbos.workflow_status WHERE workflow_uuid LIKE %s ORDER BY 1",
            (f"{order_id}-%",),
        ).fetchall()
    return [row[0] for row in found]


def check_result(office: Product, order_id: str, repository: Path) -> None:
    order = office.order(order_id)
    assert (order["status"], order["verification"]) == ("completed", "passed"), order
    assert git(repository, "show", f"{order['git_branch_name']}:adder.py") == FIXED.strip()
    made = office.get(f"/api/local-forge/pull-requests?repository_url={repository.as_uri()}")
    assert made["total_count"] == 1
    check_story(office.events(order_id))
    assert processes_of(order_id) == []


def test_workers_share_what_waits_and_the_office_can_read_all_of_it(
    office: Product, hire: Hire, tmp_path: Path
) -> None:
    model = office.script("share", PLANS, builds(FIXED))
    repositories = [make_repository(tmp_path / f"adder-{number}") for number in range(4)]
    orders = [office.submit(repository, model) for repository in repositories]
    assert [office.order(order_id)["queue_position"] for order_id in orders] == [1, 2, 3, 4]
    names = {hire("one").url, hire("two").url}
    workers = set()
    for order_id, repository in zip(orders, repositories, strict=True):
        assert office.finish(order_id)["status"] == "completed"
        check_result(office, order_id, repository)
        diff = office.request("GET", f"/api/agent-work-orders/{order_id}/diff").text
        assert "adder.py" in diff
        assert office.get(f"/api/agent-work-orders/{order_id}/git-progress")["git_commit_count"] > 0
        assert office.order(order_id)["queue_position"] is None
        workers |= {
            event["worker_id"]
            for event in office.events(order_id)
            if event["type"] == "agent_work_order_started"
        }
    assert workers <= names


@pytest.mark.parametrize("built", [False, True], ids=["before it committed", "after it committed"])
def test_what_a_killed_worker_had_goes_on_elsewhere(
    office: Product, hire: Hire, url: str, tmp_path: Path, built: bool
) -> None:
    repository = make_repository(tmp_path / "adder")
    order_id = office.submit(repository, office.script("killed", PLANS, HOLDS))
    first = hire("first")
    wanted = "git_commit_created" if built else "tool_call_started"
    office.until(order_id, lambda event: event["type"] == wanted and event["step"] == "build")
    assert worker_of(office, order_id) == first.url
    first.kill()
    second = hire("second")
    office.finish(order_id)
    check_result(office, order_id, repository)
    requeued = [one for one in office.events(order_id) if one["type"] == "agent_work_order_requeued"]
    assert [one["worker_id"] for one in requeued] == [first.url]
    assert not (second.home / "workspaces" / order_id).exists()
    assert workflows_of(url, order_id) == [f"{order_id}-1-1"], "it is the same workflow that was resumed"


def test_a_worker_that_was_frozen_past_its_lease_can_do_nothing_more(
    office: Product, hire: Hire, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder")
    slow = {**HOLDS, "replies": [*HOLDS["replies"][:1], calls("shell", command="sleep 1"), says("Done.")]}
    order_id = office.submit(repository, office.script("frozen", PLANS, slow))
    first = hire("first")
    office.until(order_id, in_the_command)
    os.kill(first.pid, signal.SIGSTOP)
    hire("second")
    office.finish(order_id)
    told = office.events(order_id)
    head = git(repository, "rev-parse", office.order(order_id)["git_branch_name"])
    os.kill(first.pid, signal.SIGCONT)
    first.await_log("order_lost", order_id)
    assert office.events(order_id) == told
    assert git(repository, "rev-parse", office.order(order_id)["git_branch_name"]) == head
    check_result(office, order_id, repository)


def test_a_worker_that_is_stopped_hands_over_at_once(office: Product, hire: Hire, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    order_id = office.submit(repository, office.script("stopped", PLANS, LASTING))
    first = hire("first")
    office.until(order_id, in_the_command)
    first.stop()
    assert office.order(order_id)["status"] == "pending"
    office.script("stopped", PLANS, builds(FIXED))
    hire("second")
    office.finish(order_id)
    check_result(office, order_id, repository)


def test_an_order_is_steered_from_a_server_that_does_not_run_it(
    office: Product, hire: Hire, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder")
    order_id = office.submit(repository, office.script("steered", PLANS, LASTING))
    first = hire("first")
    office.until(order_id, in_the_command)
    assert control(office, order_id, "pause")["agent_work_order"]["status"] == "paused"
    assert processes_of(order_id) == []
    first.stop()
    office.script("steered", PLANS, builds(FIXED))
    hire("second")
    assert control(office, order_id, "resume")["agent_work_order"]["status"] == "pending"
    office.finish(order_id)
    assert git(repository, "show", f"{office.order(order_id)['git_branch_name']}:notes.txt") == (
        "an untracked file"
    ), "what was not committed when it was paused came along to another machine"
    check_result(office, order_id, repository)
    assert control(office, order_id, "cancel", status=409)["category"] == "conflict"
