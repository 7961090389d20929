"""Alembic's entry point: run migrations on the connection that `rag_core.store.migrate` passes."""

from alembic import context

from rag_core.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite cannot alter most properties of a table, so Alembic copies the table with the change.
    render_as_batch=True,
    # `rag_core.store.migrate` opens one transaction around all migrations.
    transactional_ddl=True,
)
context.run_migrations()
