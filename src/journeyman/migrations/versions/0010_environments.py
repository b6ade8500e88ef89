"""Repositories with the environment that the server keeps for them, and hosts that people allowed."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "repositories",
        sa.Column("repository_id", sa.String(16), primary_key=True),
        sa.Column("repository_url", sa.Text(), nullable=False, unique=True),
        sa.Column("default_branch", sa.String(255), nullable=True),
        sa.Column("rights", sa.JSON(), nullable=True),
        sa.Column("environment_state", sa.String(32), nullable=False),
        sa.Column("definition", sa.Text(), nullable=True),
        sa.Column("report", sa.JSON(), nullable=True),
        sa.Column("check_order_id", sa.String(16), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "network_grants",
        sa.Column("granted_to", sa.String(16), nullable=False),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("granted_to", "host"),
    )


def downgrade() -> None:
    op.drop_table("network_grants")
    op.drop_table("repositories")
