"""What Alembic runs around migrations; the connection and its transaction come from outside."""

from alembic import context

from printreach.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite cannot alter most things in place; Alembic then copies the table.
    render_as_batch=True,
)
context.run_migrations()
