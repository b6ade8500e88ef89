"""What to do about an order's error, and the newest snapshot of what is not on its branch."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("work_orders", sa.Column("error_hint", sa.Text(), nullable=True))
    op.add_column("work_orders", sa.Column("snapshot_ref", sa.String(length=128), nullable=True))


def downgrade() -> None:
    op.drop_column("work_orders", "snapshot_ref")
    op.drop_column("work_orders", "error_hint")
