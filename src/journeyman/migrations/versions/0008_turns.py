"""Who last had the workspace to write, a later round's workflow, and how long an order was worked on."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("work_orders", sa.Column("round_workflow", sa.JSON(), nullable=True))
    op.add_column("work_orders", sa.Column("last_writer", sa.String(length=80), nullable=True))
    op.add_column(
        "work_orders", sa.Column("active_seconds", sa.Float(), nullable=False, server_default=sa.text("0"))
    )
    op.add_column("work_orders", sa.Column("active_since", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    for column in ("active_since", "active_seconds", "last_writer", "round_workflow"):
        op.drop_column("work_orders", column)
