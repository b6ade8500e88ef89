"""Tables of the requests that carried a key, with the responses to them, and of keys that sign evidence."""

from sqlalchemy import Column, Integer, LargeBinary, String, Table

from journeyman.database import PlainText, UtcDateTime, metadata

answered_requests = Table(
    "answered_requests",
    metadata,
    Column("idempotency_key", String(255), primary_key=True),
    Column("request_digest", String(64), nullable=False),
    Column("status", Integer),
    Column("content_type", String(255)),
    Column("body", PlainText),
    Column("created_at", UtcDateTime, nullable=False),
)
"""A row without a status is a request that was begun and has no response yet; its body is then the id that
was reserved for what the request creates."""

signing_keys = Table(
    "signing_keys",
    metadata,
    Column("key_id", String(64), primary_key=True),
    Column("public_key", LargeBinary, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
)
"""The public keys of every server and worker that has signed evidence."""
