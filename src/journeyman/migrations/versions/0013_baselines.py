"""Results of checks on base commits, and tests that were seen to be flaky."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_table(
        "baselines",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("repository_url", sa.Text(), nullable=False),
        sa.Column("result", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "flaky_tests",
        sa.Column("repository_id", sa.String(16), nullable=False),
        sa.Column("test_digest", sa.String(64), nullable=False),
        sa.Column("test_id", sa.Text(), nullable=False),
        sa.Column("times_seen", sa.Integer(), nullable=False),
        sa.Column("is_trusted", sa.Boolean(), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("repository_id", "test_digest"),
    )


def downgrade() -> None:
    op.drop_table("flaky_tests")
    op.drop_table("baselines")
