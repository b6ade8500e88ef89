"""How long an order may wait: every state has its deadline, its watchdog, or is an end."""

from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest

from journeyman.settings import Settings
from journeyman.work_orders.deadlines import DEADLINES, overdue
from journeyman.work_orders.order import FINISHED, Status
from tests.work_orders.orders import an_order

NOW = datetime(2026, 6, 1, tzinfo=UTC)
WATCHED = {"running"}
"""Where the engine's watchdog looks at progress instead."""


def test_every_state_is_an_end_or_is_watched_or_has_a_deadline() -> None:
    assert set(get_args(Status)) == FINISHED | WATCHED | DEADLINES.keys()


@pytest.mark.parametrize(
    ("status", "days", "words"),
    [
        ("pending", 30, "pending for 30 days, and no worker took it up"),
        ("paused", 90, "paused for 90 days, and nobody resumed it"),
        ("awaiting_approval", 90, "awaiting_approval for 90 days, and nobody decided"),
        ("running", None, ""),
        ("completed", None, ""),
        ("failed", None, ""),
        ("cancelled", None, ""),
    ],
)
def test_an_order_waits_as_long_as_the_settings_allow(
    settings: Settings, status: Status, days: int | None, words: str
) -> None:
    limit = timedelta(days=days or 10_000)
    just_before = an_order(status=status, updated_at=NOW - limit + timedelta(minutes=1))
    just_after = an_order(status=status, updated_at=NOW - limit)
    assert overdue(just_before, settings, NOW) is None
    found = overdue(just_after, settings, NOW)
    assert (found is not None) is (days is not None)
    if found is not None:
        assert words in found.reason
        assert "retry" in found.hint


@pytest.mark.parametrize("status", DEADLINES)
def test_zero_days_are_for_ever(settings: Settings, status: Status) -> None:
    patient = settings.model_copy(update={DEADLINES[status].setting: 0})
    assert overdue(an_order(status=status, updated_at=datetime(2020, 1, 1, tzinfo=UTC)), patient, NOW) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "pending", "worker_id": "worker-1"},
        {"status": "paused", "resume_at": NOW - timedelta(days=1)},
        {"status": "paused", "resume_at": NOW + timedelta(days=1)},
    ],
)
def test_what_a_worker_has_or_what_goes_on_by_itself_is_not_overdue(
    settings: Settings, changes: dict[str, Any]
) -> None:
    assert overdue(an_order(updated_at=NOW - timedelta(days=1000), **changes), settings, NOW) is None


def test_why_it_was_paused_is_still_said(settings: Settings) -> None:
    order = an_order(
        status="paused", error_message="the quota is used up", updated_at=NOW - timedelta(days=99)
    )
    found = overdue(order, settings, NOW)
    assert found is not None
    assert "before that: the quota is used up" in found.reason
