"""With which files a prompt for work begins."""

from datetime import UTC, datetime

import pytest

from journeyman.engine.prompts import next_round
from journeyman.work_orders.order import Status
from journeyman.work_orders.prompts import Mode, Prompt
from tests.work_orders.orders import an_order


@pytest.mark.parametrize(
    ("status", "mode", "before", "after"),
    [
        ("failed", "work", "1/build", "2/build"),
        ("failed", "ask", "1/build", "1/build"),
        ("cancelled", "work", "1/build", "1/build"),
        ("failed", "work", "1/publish", "1/publish"),
        ("completed", "work", None, None),
    ],
    ids=["goes on with a failed build", "asks", "was cancelled", "was no build", "nobody wrote"],
)
def test_only_what_a_failed_build_left_is_gone_on_with(
    status: Status, mode: Mode, before: str | None, after: str | None
) -> None:
    prompt = Prompt(
        agent_work_order_id="wo-1", number=1, text="More", mode=mode, created_at=datetime.now(UTC)
    )
    assert next_round(an_order(status=status, last_writer=before), prompt, 2)["last_writer"] == after


def test_the_orders_own_workflow_stays_what_it_was() -> None:
    order = an_order()
    prompt = Prompt(
        agent_work_order_id="wo-1", number=1, text="Why?", mode="ask", created_at=datetime.now(UTC)
    )
    changes = next_round(order, prompt, 5)
    assert "workflow" not in changes
    assert (changes["round_workflow"] or {})["name"] == "agent_workflow_answer"
    assert (changes["round"], changes["attempt"]) == (5, order.attempt + 1)
