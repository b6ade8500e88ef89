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
"""The newest sequence number of each order; its row is locked while events are appended.

`holder` is the fence: the worker, round and attempt that may write to the order. Every change of an order
passes this row, so a worker that has lost the order is refused here."""
