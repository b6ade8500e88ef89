"""What all model calls took together, kept as one figure."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_UNDER_WAY = sa.text("state = 'reserved'")


def upgrade() -> None:
    op.create_table(
        "model_spending",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("spent_usd", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_model_spending"),
    )
    op.create_index(
        "ix_model_calls_under_way",
        "model_calls",
        ["started_at"],
        unique=False,
        sqlite_where=_UNDER_WAY,
        postgresql_where=_UNDER_WAY,
    )
    op.execute(
        "INSERT INTO model_spending (id, spent_usd) "
        "SELECT 1, coalesce(sum(coalesce(cost_usd, reserved_usd, 0)), 0) "
        "FROM model_calls WHERE state <> 'reserved'"
    )


def downgrade() -> None:
    op.drop_index("ix_model_calls_under_way", table_name="model_calls")
    op.drop_table("model_spending")
