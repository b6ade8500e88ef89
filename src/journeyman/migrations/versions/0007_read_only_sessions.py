"""The session of an order's roles that may not write, beside that of those which may."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("work_orders", sa.Column("read_only_session_id", sa.String(length=128), nullable=True))


def downgrade() -> None:
    op.drop_column("work_orders", "read_only_session_id")
