"""All of a failed step's outcome, so that a restart needs no other memory of it."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("steps", sa.Column("error_hint", sa.Text(), nullable=True))
    op.add_column("steps", sa.Column("retry_after", sa.Float(), nullable=True))


def downgrade() -> None:
    op.drop_column("steps", "retry_after")
    op.drop_column("steps", "error_hint")
