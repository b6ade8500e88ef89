"""Tables of the workers that share one database."""

from sqlalchemy import JSON, Column, Integer, LargeBinary, String, Table

from journeyman.database import PlainText, UtcDateTime, metadata

workers = Table(
    "workers",
    metadata,
    Column("worker_id", String(64), primary_key=True),
    Column("name", PlainText, nullable=False),
    Column("beats", Integer, nullable=False),
    Column("started_at", UtcDateTime, nullable=False),
)
"""Heartbeats: a worker whose count stands still for a lease is dead, whatever any clock says."""

bundles = Table(
    "bundles",
    metadata,
    Column("agent_work_order_id", String(16), primary_key=True),
    Column("saved_by", String(64), nullable=False),
    Column("refs", JSON, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("saved_at", UtcDateTime, nullable=False),
)
"""What an order's branch and newest snapshot hold beyond its base, for the machine that goes on with it."""
