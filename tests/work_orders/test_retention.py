"""What may go of an order: decided from values alone, and never what exists only here."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from journeyman.settings import Settings
from journeyman.work_orders.order import FINISHED, Status, WorkOrder
from journeyman.work_orders.retention import Traces, may_go
from tests.work_orders.orders import an_order

NOW = datetime(2026, 6, 1, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=400)
EVERYTHING = Traces(
    has_workspace=True,
    has_branch=True,
    snapshots={1: LONG_AGO, 2: LONG_AGO},
    has_home=True,
    has_log=True,
    has_chatter=True,
)


def rested(days: float, status: Status = "completed", **more: Any) -> WorkOrder:
    return replace(an_order(status=status), updated_at=NOW - timedelta(days=days), **more)


def gone(order: WorkOrder, traces: Traces, settings: Settings) -> set[str]:
    found = may_go(order, traces, settings, NOW)
    return {one.kind if one.snapshot is None else f"{one.kind} {one.snapshot}" for one in found}


@pytest.mark.parametrize("status", ["pending", "running"])
def test_nothing_of_an_order_under_way_goes(status: Status, settings: Settings) -> None:
    assert may_go(rested(400, status), EVERYTHING, settings, NOW) == []


@pytest.mark.parametrize("status", ["paused", "awaiting_approval"])
@pytest.mark.parametrize(("days", "goes"), [(6.9, False), (7, True)])
def test_a_resting_order_keeps_its_workspace_for_a_while(
    status: Status, days: float, goes: bool, settings: Settings
) -> None:
    assert gone(rested(days, status), Traces(has_workspace=True), settings) == (
        {"workspace"} if goes else set()
    )


@pytest.mark.parametrize("status", sorted(FINISHED))
def test_the_workspace_of_an_order_that_ended_goes_at_once(status: Status, settings: Settings) -> None:
    assert gone(rested(0, status), Traces(has_workspace=True), settings) == {"workspace"}


@pytest.mark.parametrize("state", [None, "draft", "open", "closed"])
def test_a_branch_that_was_not_merged_stays_for_good(state: Any, settings: Settings) -> None:
    assert "branch" not in gone(rested(4000, pull_request_state=state), EVERYTHING, settings)


@pytest.mark.parametrize(("days", "goes"), [(29, False), (30, True)])
def test_a_merged_branch_goes_in_time(days: float, goes: bool, settings: Settings) -> None:
    order = rested(days, pull_request_state="merged")
    assert ("branch" in gone(order, EVERYTHING, settings)) is goes


def test_a_merged_branch_of_an_order_that_waits_for_a_person_stays(settings: Settings) -> None:
    order = rested(400, "awaiting_approval", pull_request_state="merged")
    assert "branch" not in gone(order, EVERYTHING, settings)


@pytest.mark.parametrize("status", ["failed", "cancelled", "paused", "awaiting_approval"])
def test_the_newest_snapshot_of_an_order_that_did_not_complete_stays_for_good(
    status: Status, settings: Settings
) -> None:
    snapshots = {9: LONG_AGO, 10: LONG_AGO}
    assert gone(rested(4000, status), Traces(snapshots=snapshots), settings) == {"snapshot 9"}


def test_all_old_snapshots_of_an_order_that_completed_go(settings: Settings) -> None:
    snapshots = {1: LONG_AGO, 2: LONG_AGO, 3: NOW - timedelta(days=29)}
    assert gone(rested(29), Traces(snapshots=snapshots), settings) == {"snapshot 1", "snapshot 2"}
    assert gone(rested(29), Traces(snapshots={1: LONG_AGO}), settings) == {"snapshot 1"}


@pytest.mark.parametrize(("days", "expected"), [(89, set()), (90, {"log", "chatter"})])
def test_logs_and_chatter_go_together_by_default(days: float, expected: set[str], settings: Settings) -> None:
    assert gone(rested(days), Traces(has_log=True, has_chatter=True), settings) == expected


@pytest.mark.parametrize(("days", "goes"), [(29, False), (30, True)])
@pytest.mark.parametrize("status", sorted(FINISHED))
def test_the_sessions_of_agents_stay_while_prompts_may_go_on_from_them(
    status: Status, days: float, goes: bool, settings: Settings
) -> None:
    assert gone(rested(days, status), Traces(has_home=True), settings) == ({"agent home"} if goes else set())
    assert gone(rested(400, "paused"), Traces(has_home=True), settings) == set()


def test_logs_and_chatter_of_an_order_that_waits_stay(settings: Settings) -> None:
    assert gone(rested(400, "paused"), Traces(has_log=True, has_chatter=True), settings) == set()


def test_the_settings_decide(settings: Settings) -> None:
    at_once = settings.model_copy(
        update={name: 0.0 for name in Settings.model_fields if name.startswith("keep_")}
    )
    order = rested(0, pull_request_state="merged")
    assert gone(order, EVERYTHING, at_once) == {
        *("workspace", "branch", "agent home", "log", "chatter", "snapshot 1", "snapshot 2")
    }


def test_what_is_not_there_does_not_go(settings: Settings) -> None:
    assert may_go(rested(4000, pull_request_state="merged"), Traces(), settings, NOW) == []
