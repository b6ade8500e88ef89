"""Which names are nobody's choice, and what may take their place."""

from datetime import UTC, datetime

import pytest

from journeyman.engine.naming import Chosen, MadeUp, made_up, naming
from journeyman.events.types import AgentWorkOrderChanged, AgentWorkOrderCreated, Event, StoredEvent
from journeyman.work_orders.order import WorkOrder, branch_name_of
from tests.work_orders.orders import an_order

ID = "wo-1a2b3c4d"
MADE = branch_name_of("Fix it", ID)


def stored(*events: Event) -> list[StoredEvent]:
    return [
        StoredEvent(agent_work_order_id=ID, sequence=place, timestamp=datetime.now(UTC), event=event)
        for place, event in enumerate(events, start=1)
    ]


CREATED = AgentWorkOrderCreated(
    repository_url="file:///x", workflow_type="w", sandbox_type="s", agent="a", model="m", title="Fix it"
)


@pytest.mark.parametrize(
    ("order", "events", "expected"),
    [
        (
            an_order(agent_work_order_id=ID, title="Fix it", git_branch_name=MADE),
            [CREATED],
            MadeUp(True, True),
        ),
        (
            an_order(agent_work_order_id=ID, title="Fix it", git_branch_name="mine"),
            [CREATED],
            MadeUp(True, False),
        ),
        (
            an_order(agent_work_order_id=ID, title="Mine", git_branch_name=MADE),
            [CREATED],
            MadeUp(False, True),
        ),
        (
            an_order(agent_work_order_id=ID, title="Fix it", git_branch_name=MADE),
            [CREATED, AgentWorkOrderChanged(title="Fix it")],
            MadeUp(False, True),
        ),
        (
            an_order(agent_work_order_id=ID, title="Fix it", git_branch_name=MADE),
            [CREATED, AgentWorkOrderChanged(budget_usd=3)],
            MadeUp(True, True),
        ),
        (
            an_order(agent_work_order_id=ID, title="Fix it", git_branch_name=MADE, github_issue_number="7"),
            [CREATED],
            MadeUp(False, True),
        ),
        (
            an_order(agent_work_order_id=ID, title="Fix it", git_branch_name=MADE, forked_from="wo-other000"),
            [CREATED],
            MadeUp(False, True),
        ),
    ],
    ids=["nothing", "branch", "renamed", "renamed to the same", "budget", "issue", "fork"],
)
def test_only_what_nobody_chose_may_be_named(order: WorkOrder, events: list[Event], expected: MadeUp) -> None:
    assert made_up(order, stored(*events)) == expected


def test_a_title_given_while_the_model_was_asked_stays() -> None:
    before = an_order(agent_work_order_id=ID, title="Fix it", git_branch_name=MADE)
    chosen = Chosen("Repair the adder", branch_name_of("repair adder", ID))
    events, changes = naming(
        before, chosen, an_order(agent_work_order_id=ID, title="Mine", git_branch_name=MADE)
    )
    assert changes == {"title": "Mine", "git_branch_name": chosen.git_branch_name}
    assert len(events) == 1
    assert naming(before, None, before) == ([], {})
    assert naming(before, Chosen("Fix it", MADE), before) == ([], {})
