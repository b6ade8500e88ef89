"""What evidence binds beside the commit: trees, environment, red to green, tampering, its statement."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_EVIDENCE = (
    ("tree_sha", sa.String(64)),
    ("base_commit_sha", sa.String(64)),
    ("base_tree_sha", sa.String(64)),
    ("environment", sa.JSON()),
    ("red_to_green", sa.JSON()),
    ("tampering", sa.JSON()),
    ("statement", sa.JSON()),
)


def upgrade() -> None:
    for name, kind in _EVIDENCE:
        op.add_column("evidence", sa.Column(name, kind, nullable=True))


def downgrade() -> None:
    for name, _ in _EVIDENCE:
        op.drop_column("evidence", name)
