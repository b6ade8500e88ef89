"""Tables of the event log."""

from sqlalchemy import JSON, Column, Integer, PrimaryKeyConstraint, String, Table

from journeyman.database import UtcDateTime, metadata

events = Table(
    "events",
    metadata,
    Column("agent_work_order_id", String(16), nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("timestamp", UtcDateTime, nullable=False),
    Column("type", String(64), nullable=False),
    Column("data", JSON, nullable=False),
    PrimaryKeyConstraint("agent_work_order_id", "sequence"),
)

event_counters = Table(
    "event_counters",
    metadata,
    Column("agent_work_order_id", String(16), primary_key=True),
    Column("last_sequence", Integer, nullable=False),
    Column("holder", String(128)),
)
"""Locks one order's sequence while it grows: numbers are dense and appear in order.

`holder` is who may write as the order's worker. Every change of an order passes here, so one that lost
the order is stopped here."""
