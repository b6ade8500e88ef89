"""The table of model calls: one row for each, written before it is made and closed when it is over.

A second table holds the sum of all calls that are over, so that it need not be computed for each call.
"""

from sqlalchemy import Column, Float, Index, Integer, String, Table, text

from journeyman.database import UtcDateTime, metadata

IS_UNDER_WAY = text("state = 'reserved'")
"""Written out, because an index on some rows is used only for a condition that says the same."""

model_calls = Table(
    "model_calls",
    metadata,
    Column("call_id", String(32), primary_key=True),
    Column("agent_work_order_id", String(16), nullable=False),
    Column("round", Integer, nullable=False),
    Column("step", String(64), nullable=False),
    Column("role", String(32), nullable=False),
    Column("agent", String(64), nullable=False),
    Column("model", String(200), nullable=False),
    Column("state", String(16), nullable=False),
    Column("reserved_usd", Float),
    Column("most_usd", Float),
    Column("most_tokens", Integer, nullable=False),
    Column("tokens_in", Integer, nullable=False),
    Column("tokens_out", Integer, nullable=False),
    Column("tokens_cache_read", Integer, nullable=False),
    Column("tokens_cache_write", Integer, nullable=False),
    Column("cost_usd", Float),
    Column("started_at", UtcDateTime, nullable=False),
    Column("completed_at", UtcDateTime),
    Index("ix_model_calls_order", "agent_work_order_id"),
    Index("ix_model_calls_started", "started_at"),
    Index("ix_model_calls_under_way", "started_at", sqlite_where=IS_UNDER_WAY, postgresql_where=IS_UNDER_WAY),
)

model_spending = Table(
    "model_spending",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("spent_usd", Float, nullable=False),
)
