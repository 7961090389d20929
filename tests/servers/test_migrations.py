"""Migrations of a PostgreSQL database: all of them or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, inspect, text

from rag_core.errors import StoreUnavailable
from rag_core.store.migrate import HEAD
from tests.servers.conftest import ServerSettings
from tests.support.engines import BUDGET, assert_found, indexed, opened
from tests.support.old_schema import undo_to


def run(values: dict[str, Any], *statements: str) -> None:
    engine = create_engine(values["database_url"])
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def revision(values: dict[str, Any]) -> tuple[str, bool]:
    """Return the revision of a database, and whether it has the newest column."""
    engine = create_engine(values["database_url"])
    with engine.connect() as connection:
        stored = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
        columns = {column["name"] for column in inspect(connection).get_columns("documents")}
    engine.dispose()
    return stored, "folder" in columns


def test_older_database_is_updated(on_servers: ServerSettings, tmp_path: Path) -> None:
    values = on_servers.values("postgres")
    with opened(tmp_path / "data", **values) as engine:
        indexed(engine, "a.pdf", BUDGET)
    run(values, "UPDATE alembic_version SET version_num = '0001'", *undo_to("0001"))
    with opened(tmp_path / "data", **values) as engine:
        assert_found(engine, budget=["a.pdf"])
    assert revision(values) == (HEAD, True)


def test_failed_migration_leaves_the_database_as_it_was(on_servers: ServerSettings, tmp_path: Path) -> None:
    values = on_servers.values("postgres")
    opened(tmp_path / "data", **values).close()
    # A view of the table's name lets a later migration fail, after others have run.
    run(
        values,
        "UPDATE alembic_version SET version_num = '0001'",
        "UPDATE preferences SET value = '1' WHERE name = 'schema'",
        *undo_to("0001"),
        "ALTER TABLE documents RENAME TO kept",
        "CREATE VIEW documents AS SELECT * FROM kept",
    )
    with pytest.raises(StoreUnavailable, match="refused an operation"):
        opened(tmp_path / "data", **values)
    assert revision(values) == ("0001", False)
    run(values, "DROP VIEW documents", "ALTER TABLE kept RENAME TO documents")
    opened(tmp_path / "data", **values).close()
    assert revision(values) == (HEAD, True)
