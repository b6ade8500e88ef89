"""A small model names orders and sorts prompts; people's choices stay, and its faults hold nothing up."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import fresh_postgres_url
from tests.journeys.conftest import on_each_store
from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, builds, git, make_repository, says
from tests.journeys.rounds import finish_round, prompt

BUILD = "agent_workflow_build"


def names(contains: str, **reply: Any) -> dict[str, Any]:
    return {"when": {"role": "name", "contains": contains}, "replies": [reply]}


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.lasting)])
def product(
    request: pytest.FixtureRequest, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Product]:
    home = tmp_path_factory.mktemp("small") / "home"
    home.mkdir()
    with ExitStack() as stack:
        url = stack.enter_context(fresh_postgres_url(pytestconfig)) if request.param == "postgresql" else ""
        made = Product(home, DATABASE_URL=url, JOURNEYMAN_SMALL_MODEL="scripted/small")
        made.script(
            "small",
            names("broken", fault="http_500"),
            names("vague", say="I do not know."),
            names("", deliver={"title": "Make the adder add", "branch": "Make: the *adder* add!"}),
        )
        yield stack.enter_context(made)


def events_of(product: Product, order_id: str, kind: str) -> list[dict[str, Any]]:
    return [event for event in product.events(order_id) if event["type"] == kind]


def test_an_order_and_its_branch_are_named_and_the_call_is_counted(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    order_id = product.submit(repository, product.script("fix", builds(FIXED)), workflow_type=BUILD)
    order = product.finish(order_id)
    assert order["status"] == "completed", order
    assert order["title"] == "Make the adder add"
    assert order["git_branch_name"] == f"journeyman/make-the-adder-add-{order_id}"
    assert git(repository, "show", f"{order['git_branch_name']}:adder.py") == FIXED.strip()
    [named] = events_of(product, order_id, "agent_work_order_named")
    assert named["git_branch_name"] == order["git_branch_name"]
    cost = product.get(f"/api/agent-work-orders/{order_id}/cost")
    assert {one["step"] for one in cost["by_step"]} == {"prepare", "build"}
    pulls = product.get(f"/api/agent-work-orders/{order_id}/pull-request")
    assert (pulls["title"], pulls["branch"]) == ("Make the adder add", order["git_branch_name"])


@pytest.mark.parametrize("task", ["Mend the broken adder", "Mend the vague adder"])
def test_a_fault_or_a_bad_answer_leaves_the_name_made_from_the_task(
    product: Product, tmp_path: Path, task: str
) -> None:
    model = product.script("fix", builds(FIXED))
    order_id = product.submit(
        make_repository(tmp_path / "adder"), model, workflow_type=BUILD, initial_prompt=task
    )
    order = product.finish(order_id)
    assert (order["status"], order["title"]) == ("completed", task)
    assert order["git_branch_name"].startswith("journeyman/mend-the-")
    [notice] = events_of(product, order_id, "agent_notice")
    assert "made from its task" in notice["text"]


def test_a_branch_that_a_person_chose_stays(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    model = product.script("fix", builds(FIXED))
    order_id = product.submit(repository, model, workflow_type=BUILD, git_branch_name="ada/mine")
    order = product.finish(order_id)
    assert (order["title"], order["git_branch_name"]) == ("Make the adder add", "ada/mine")


@on_each_store
def test_a_restart_does_not_name_again(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    slow = builds(FIXED)
    slow["replies"][-1]["delay_seconds"] = 60
    order_id = product.submit(repository, product.script("slow", slow), workflow_type=BUILD)
    product.until(order_id, lambda event: event["type"] == "tool_call_completed")
    before = product.order(order_id)["git_branch_name"]
    product.kill()
    product.script("small", names("", deliver={"title": "Another", "branch": "another"}))
    product.script("slow", builds(FIXED))
    product.start()
    order = product.finish(order_id)
    assert (order["status"], order["git_branch_name"]) == ("completed", before)
    assert len(events_of(product, order_id, "agent_work_order_named")) == 1


def test_what_a_prompt_asks_for_is_decided_unless_a_person_says_it(product: Product, tmp_path: Path) -> None:
    modes = [("Could you", "work"), ("Explain", "ask")]
    product.script(
        "small",
        names("", deliver={"title": "Make the adder add", "branch": "add"}),
        *(
            {"when": {"role": "mode", "contains": text}, "replies": [{"deliver": {"mode": mode}}]}
            for text, mode in modes
        ),
        {"when": {"role": "mode"}, "replies": [{"fault": "cut_stream", "say": "I would say"}]},
    )
    more = builds("# more\n" + FIXED, contains="Could you")
    answers = {"when": {"role": "answer"}, "replies": [says("It adds.")]}
    repository = make_repository(tmp_path / "adder")
    order_id = product.submit(
        repository, product.script("more", more, answers, builds(FIXED)), workflow_type=BUILD
    )
    product.finish(order_id)
    said = [
        prompt(product, order_id, "Could you add a remark?")["message"],
        prompt(product, order_id, "Explain it to me")["message"],
        prompt(product, order_id, "What is it?")["message"],
        prompt(product, order_id, "Could you tell me?", mode="ask")["message"],
    ]
    assert [text.split(" begins")[0] for text in said] == ["Work", "An answer", "An answer", "An answer"]
    assert finish_round(product, order_id, 5)["status"] == "completed"
    notices = [one["text"] for one in events_of(product, order_id, "agent_notice")]
    assert len([text for text in notices if "last character" in text]) == 1
    cost = product.get(f"/api/agent-work-orders/{order_id}/cost")
    assert sum(one["calls"] for one in cost["by_step"] if one["step"] == "prompt") == 2
