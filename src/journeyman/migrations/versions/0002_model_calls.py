"""The ledger of model calls."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "model_calls",
        sa.Column("call_id", sa.String(length=32), nullable=False),
        sa.Column("agent_work_order_id", sa.String(length=16), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("step", sa.String(length=64), nullable=False),
        sa.Column("role", sa.String(length=32), nullable=False),
        sa.Column("agent", sa.String(length=64), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("reserved_usd", sa.Float(), nullable=True),
        sa.Column("most_usd", sa.Float(), nullable=True),
        sa.Column("most_tokens", sa.Integer(), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=False),
        sa.Column("tokens_out", sa.Integer(), nullable=False),
        sa.Column("tokens_cache_read", sa.Integer(), nullable=False),
        sa.Column("tokens_cache_write", sa.Integer(), nullable=False),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("call_id", name="pk_model_calls"),
    )
    op.create_index("ix_model_calls_order", "model_calls", ["agent_work_order_id"], unique=False)
    op.create_index("ix_model_calls_started", "model_calls", ["started_at"], unique=False)


def downgrade() -> None:
    op.drop_table("model_calls")
