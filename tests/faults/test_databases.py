"""A database that goes away or takes nothing for a while: told as such, nothing lost, and it goes on."""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import httpx2
import pytest

from journeyman.failpoints import Moment
from tests.faults.halting import halted, let_go_on
from tests.faults.oracle import violations
from tests.faults.stage import Customer, Stage, staged
from tests.faults.waiting import wait_for
from tests.postgres import PrivatePostgres


@pytest.fixture
def postgres() -> Iterator[PrivatePostgres]:
    """A server of the test's own, because it is going to be crashed."""
    postgres = PrivatePostgres.prepare()
    yield postgres
    postgres.discard()


def refused(stage: Stage) -> httpx2.Response:
    """The answer to an order that is handed in now."""
    body = {"repository_url": stage.site().url, "initial_prompt": "x", "model": "scripted/plain"}
    return stage.product.request("POST", "/api/agent-work-orders", json=body)


@pytest.mark.parametrize(
    "moment",
    [
        "push_acknowledged",
        pytest.param("tool_call_ended", marks=pytest.mark.lasting),
        pytest.param("teardown_started", marks=pytest.mark.lasting),
    ],
)
def test_postgresql_that_crashes_in_a_round_and_comes_back_costs_nothing(
    postgres: PrivatePostgres, tmp_path: Path, moment: Moment
) -> None:
    with postgres.fresh_database() as url, staged(tmp_path, url) as stage:
        customer = Customer(stage)
        with halted(customer, moment) as seen_through:
            postgres.crash()
            let_go_on(stage)
            wait_for(lambda: "store_unavailable" in stage.product.said(), "a round that waits")
            answer = refused(stage)
            assert answer.status_code == 503, answer.text
            assert answer.headers["Retry-After"]
            assert stage.product.request("GET", "/ready").status_code == 503
            assert stage.product.request("GET", "/health").status_code == 200
            postgres.come_back()
            order = seen_through.result()
        assert (order["status"], customer.retries) == ("completed", 0), order
        assert violations(customer) == []


@pytest.mark.parametrize(
    "files",
    [["journeyman.db"], pytest.param(["journeyman.db", "engine.db"], marks=pytest.mark.lasting)],
    ids=lambda files: " and ".join(files),
)
def test_sqlite_that_another_program_has_locked_is_waited_for(stage: Stage, files: list[str]) -> None:
    customer = Customer(stage)
    with halted(customer, "tool_call_ended") as seen_through, ExitStack() as stack:
        others = [
            stack.enter_context(closing(sqlite3.connect(stage.home / file, isolation_level=None)))
            for file in files
        ]
        for other in others:
            other.execute("BEGIN EXCLUSIVE")
        let_go_on(stage)
        wait_for(lambda: "store_unavailable" in stage.product.said(), "a round that waits")
        answer = refused(stage)
        assert answer.status_code == 503, answer.text
        assert answer.headers["Retry-After"]
        assert stage.product.request("GET", "/health").status_code == 200
        if len(files) > 1:  # the engine's own timeout is 30 s
            wait_for(lambda: stage.product.said().count("store_unavailable") > 5, "more than 30 s", 120)
        for other in others:
            other.execute("ROLLBACK")
        order = seen_through.result()
    assert (order["status"], customer.retries) == ("completed", 0), order
    assert violations(customer) == []
