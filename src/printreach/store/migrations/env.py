"""What Alembic runs around migrations; the connection and its transaction come from outside."""

from alembic import context

from printreach.store.tables import metadata

# The convention of the metadata names constraints.
context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
