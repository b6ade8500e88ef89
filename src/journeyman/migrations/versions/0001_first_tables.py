"""The first tables: work orders, their steps, evidence and events, and the local forge."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "prompts",
        sa.Column("agent_work_order_id", sa.String(length=16), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("mode", sa.String(length=8), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("round", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("agent_work_order_id", "number", name="pk_prompts"),
    )
    op.create_table(
        "approvals",
        sa.Column("agent_work_order_id", sa.String(length=16), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("step", sa.String(length=64), nullable=False),
        sa.Column("commit_sha", sa.String(length=64), nullable=False),
        sa.Column("decision", sa.String(length=16), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("requested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("agent_work_order_id", "round", "step", "commit_sha", name="pk_approvals"),
    )
    op.create_table(
        "event_counters",
        sa.Column("agent_work_order_id", sa.String(length=16), nullable=False),
        sa.Column("last_sequence", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("agent_work_order_id", name="pk_event_counters"),
    )
    op.create_table(
        "events",
        sa.Column("agent_work_order_id", sa.String(length=16), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("timestamp", sa.DateTime(timezone=True), nullable=False),
        sa.Column("type", sa.String(length=64), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("agent_work_order_id", "sequence", name="pk_events"),
    )
    op.create_table(
        "evidence",
        sa.Column("agent_work_order_id", sa.String(length=16), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("step", sa.String(length=64), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("commit_sha", sa.String(length=64), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=True),
        sa.Column("checks", sa.JSON(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("agent_work_order_id", "round", "step", "attempt", name="pk_evidence"),
    )
    op.create_table(
        "local_pull_requests",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("repository_url", sa.Text(), nullable=False),
        sa.Column("branch", sa.String(length=255), nullable=False),
        sa.Column("base", sa.String(length=255), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("draft", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_local_pull_requests"),
        sa.UniqueConstraint("repository_url", "branch", name="uq_local_pull_requests_repository_url_branch"),
    )
    op.create_table(
        "steps",
        sa.Column("agent_work_order_id", sa.String(length=16), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("step", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("output", sa.JSON(), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("error_category", sa.String(length=32), nullable=True),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("tokens_in", sa.Integer(), nullable=False),
        sa.Column("tokens_out", sa.Integer(), nullable=False),
        sa.Column("tokens_cache_read", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("agent_work_order_id", "round", "step", name="pk_steps"),
    )
    op.create_table(
        "work_orders",
        sa.Column("agent_work_order_id", sa.String(length=16), nullable=False),
        sa.Column("repository_url", sa.Text(), nullable=False),
        sa.Column("sandbox_type", sa.String(length=32), nullable=False),
        sa.Column("workflow_type", sa.String(length=128), nullable=False),
        sa.Column("workflow", sa.JSON(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("initial_prompt", sa.Text(), nullable=False),
        sa.Column("agent", sa.String(length=64), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("git_branch_name", sa.String(length=255), nullable=False),
        sa.Column("base_branch", sa.String(length=255), nullable=True),
        sa.Column("base_commit_sha", sa.String(length=64), nullable=True),
        sa.Column("github_issue_number", sa.String(length=32), nullable=True),
        sa.Column("budget_usd", sa.Float(), nullable=True),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("round_prompt", sa.Text(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=32), nullable=False),
        sa.Column("current_phase", sa.String(length=32), nullable=True),
        sa.Column("sandbox_identifier", sa.String(length=128), nullable=True),
        sa.Column("agent_session_id", sa.String(length=128), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("execution_started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("execution_completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("github_pull_request_url", sa.Text(), nullable=True),
        sa.Column("github_pull_request_number", sa.Integer(), nullable=True),
        sa.Column("pushed_commit_sha", sa.String(length=64), nullable=True),
        sa.Column("git_commit_count", sa.Integer(), nullable=False),
        sa.Column("git_files_changed", sa.Integer(), nullable=False),
        sa.Column("git_lines_added", sa.Integer(), nullable=False),
        sa.Column("git_lines_removed", sa.Integer(), nullable=False),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("error_category", sa.String(length=32), nullable=True),
        sa.Column("verification", sa.String(length=16), nullable=False),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("tokens_in", sa.Integer(), nullable=False),
        sa.Column("tokens_out", sa.Integer(), nullable=False),
        sa.Column("tokens_cache_read", sa.Integer(), nullable=False),
        sa.Column("idempotency_key", sa.String(length=255), nullable=True),
        sa.Column("request_digest", sa.String(length=64), nullable=True),
        sa.PrimaryKeyConstraint("agent_work_order_id", name="pk_work_orders"),
        sa.UniqueConstraint("idempotency_key", name="uq_work_orders_idempotency_key"),
    )
    op.create_index(
        "ix_work_orders_created", "work_orders", ["created_at", "agent_work_order_id"], unique=False
    )
    op.create_index("ix_work_orders_status", "work_orders", ["status"], unique=False)


def downgrade() -> None:
    op.drop_table("work_orders")
    op.drop_table("steps")
    op.drop_table("local_pull_requests")
    op.drop_table("evidence")
    op.drop_table("events")
    op.drop_table("event_counters")
    op.drop_table("approvals")
    op.drop_table("prompts")
