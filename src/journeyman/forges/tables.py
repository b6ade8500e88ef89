"""Table of the local forge."""

from sqlalchemy import Boolean, Column, Integer, String, Table, UniqueConstraint

from journeyman.database import PlainText, UtcDateTime, metadata

local_pull_requests = Table(
    "local_pull_requests",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("repository_url", PlainText, nullable=False),
    Column("branch", String(255), nullable=False),
    Column("base", String(255), nullable=False),
    Column("title", PlainText, nullable=False),
    Column("body", PlainText, nullable=False),
    Column("draft", Boolean, nullable=False),
    Column("state", String(16), nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    UniqueConstraint("repository_url", "branch"),
)
"""Numbers count across all repositories, so that a number alone is an address."""
