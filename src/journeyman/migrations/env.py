"""Run by Alembic: applies versions on the connection that `upgrade_tables` hands over."""

from alembic import context

from journeyman.database import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
