"""Many workers on one database: who holds an order, and what another machine needs to go on with it."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "workers",
        sa.Column("worker_id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("beats", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("worker_id", name="pk_workers"),
    )
    op.create_table(
        "bundles",
        sa.Column("agent_work_order_id", sa.String(length=16), nullable=False),
        sa.Column("saved_by", sa.String(length=64), nullable=False),
        sa.Column("refs", sa.JSON(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("saved_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("agent_work_order_id", name="pk_bundles"),
    )
    op.add_column("event_counters", sa.Column("holder", sa.String(length=128)))
    for column in (
        sa.Column("worker_id", sa.String(length=64)),
        sa.Column("stop_requested", sa.String(length=16)),
        sa.Column("resume_at", sa.DateTime(timezone=True)),
        sa.Column("redo_after_sha", sa.String(length=64)),
        sa.Column("forked_from", sa.String(length=16)),
        sa.Column("start_commit_sha", sa.String(length=64)),
    ):
        op.add_column("work_orders", column)
    op.create_index("ix_work_orders_worker_id", "work_orders", ["worker_id"])
    # Orders that were running when the version before stopped have no holder: they begin another attempt.
    op.execute("UPDATE work_orders SET status = 'pending', attempt = attempt + 1 WHERE status = 'running'")


def downgrade() -> None:
    op.drop_index("ix_work_orders_worker_id", "work_orders")
    for name in (
        "worker_id",
        "stop_requested",
        "resume_at",
        "redo_after_sha",
        "forked_from",
        "start_commit_sha",
    ):
        op.drop_column("work_orders", name)
    op.drop_column("event_counters", "holder")
    op.drop_table("bundles")
    op.drop_table("workers")
