"""Keys that sign evidence, and what checks printed, in full."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.create_table(
        "signing_keys",
        sa.Column("key_id", sa.String(64), primary_key=True),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "check_outputs",
        sa.Column("agent_work_order_id", sa.String(16), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("step", sa.String(64), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("check_name", sa.Text(), nullable=False),
        sa.Column("output", sa.LargeBinary(), nullable=False),
        sa.Column("truncated", sa.Boolean(), nullable=False),
        sa.Column("results", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("agent_work_order_id", "round", "step", "attempt", "check_name"),
    )


def downgrade() -> None:
    op.drop_table("check_outputs")
    op.drop_table("signing_keys")
