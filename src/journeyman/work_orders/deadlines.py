"""How long an order may wait, in each state in which it can: pure, so that the rule can be read and tested.

A state in which something runs has no deadline: there the engine's watchdog looks at progress, not at time.
Days are counted from the order's last change, or from the moment at which it was to resume by itself.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from journeyman.settings import Settings
from journeyman.work_orders.order import Status, WorkOrder


@dataclass(frozen=True)
class Deadline:
    setting: str
    """The field of the settings that says how many days; 0 is never."""
    passed: str
    """What no person did until then."""


DEADLINES: dict[Status, Deadline] = {
    "pending": Deadline("max_queued_days", "no worker took it up"),
    "paused": Deadline("max_paused_days", "nobody resumed it"),
    "awaiting_approval": Deadline("max_awaiting_approval_days", "nobody decided"),
}


@dataclass(frozen=True)
class Overdue:
    reason: str
    hint: str


def overdue(order: WorkOrder, settings: Settings, now: datetime) -> Overdue | None:
    """Why an order has waited too long; None while it may wait longer, or does not wait."""
    deadline = DEADLINES.get(order.status)
    if deadline is None or order.worker_id is not None:
        return None
    days: float = getattr(settings, deadline.setting)
    since = max(order.updated_at, order.resume_at or order.updated_at)
    if not days or now - since < timedelta(days=days):
        return None
    before = f"; before that: {order.error_message}" if order.error_message else ""
    name = Settings.model_fields[deadline.setting].alias
    return Overdue(
        f"it was {order.status} for {days:g} days, and {deadline.passed}{before}",
        f"A retry goes on from where it was. {name} says how long an order may wait so.",
    )
