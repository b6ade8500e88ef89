"""What people do beside the agent: how pull requests stand, commits set aside, answers already given."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("work_orders", sa.Column("pull_request_state", sa.String(length=16), nullable=True))
    op.add_column("work_orders", sa.Column("set_aside_commit_sha", sa.String(length=64), nullable=True))
    op.create_table(
        "answered_requests",
        sa.Column("idempotency_key", sa.String(length=255), nullable=False),
        sa.Column("request_digest", sa.String(length=64), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("content_type", sa.String(length=255), nullable=True),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("idempotency_key", name="pk_answered_requests"),
    )


def downgrade() -> None:
    op.drop_table("answered_requests")
    op.drop_column("work_orders", "set_aside_commit_sha")
    op.drop_column("work_orders", "pull_request_state")
