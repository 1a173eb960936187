"""Alembic environment: run migrations on the connection that `Catalog.migrate` passes."""

from alembic import context

from s2corpus.catalog.models import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
with context.begin_transaction():
    context.run_migrations()
