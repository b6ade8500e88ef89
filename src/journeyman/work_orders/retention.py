"""What may be deleted of an order, and when: pure, so that the policy can be read and tested.

Nothing that exists only here is deleted: a branch stays until its pull request was merged, and the newest
snapshot of an order that did not complete stays for good. Orders, events, steps and evidence always stay.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from journeyman.settings import Settings
from journeyman.work_orders.order import WorkOrder

Kind = Literal["workspace", "branch", "snapshot", "agent home", "log", "chatter"]


@dataclass(frozen=True)
class Traces:
    """What exists of one order beside its rows."""

    has_workspace: bool = False
    has_branch: bool = False
    snapshots: Mapping[int, datetime] = field(default_factory=dict)
    """By number, with when they were taken."""
    has_home: bool = False
    """Where agents' programs keep their sessions."""
    has_log: bool = False
    has_chatter: bool = False


@dataclass(frozen=True)
class Removal:
    kind: Kind
    order_id: str
    snapshot: int | None = None

    def __str__(self) -> str:
        number = "" if self.snapshot is None else f" {self.snapshot}"
        return f"{self.kind}{number} of {self.order_id}"


def may_go(order: WorkOrder, traces: Traces, settings: Settings, now: datetime) -> list[Removal]:
    """What of an order is not needed any more."""
    if not order.is_idle:
        return []

    def rested(days: float) -> bool:
        return now - order.updated_at >= timedelta(days=days)

    order_id = order.agent_work_order_id
    found: list[Removal] = []
    if traces.has_workspace and (order.is_finished or rested(settings.keep_workspaces_days)):
        found.append(Removal("workspace", order_id))
    for number in _snapshots(order, traces, settings, now):
        found.append(Removal("snapshot", order_id, number))
    if not order.is_finished:
        return found
    is_merged = order.pull_request_state == "merged"
    if traces.has_branch and is_merged and rested(settings.keep_branches_days):
        found.append(Removal("branch", order_id))
    if traces.has_home and rested(settings.keep_agent_homes_days):
        found.append(Removal("agent home", order_id))
    if traces.has_log and rested(settings.keep_logs_days):
        found.append(Removal("log", order_id))
    if traces.has_chatter and rested(settings.keep_chatter_days):
        found.append(Removal("chatter", order_id))
    return found


def _snapshots(order: WorkOrder, traces: Traces, settings: Settings, now: datetime) -> list[int]:
    """Those that are old and superseded: by a newer one, or because everything was committed in the end."""
    limit = timedelta(days=settings.keep_snapshots_days)
    newest = max(traces.snapshots, default=None)
    is_done = order.status == "completed" or order.pull_request_state == "merged"
    old = (number for number, taken_at in sorted(traces.snapshots.items()) if now - taken_at >= limit)
    return [number for number in old if number != newest or is_done]
