"""Databases of older versions, from a script of the first schema's tables."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from rag_core.errors import DataFolderUnwritable, StoreUnavailable
from rag_core.store import migrate
from rag_core.store.conversations import ConversationStore
from rag_core.store.database import Database
from rag_core.store.preferences import PreferenceStore
from rag_core.store.schema import metadata

SCRIPT = Path(__file__).with_name("schema_1.sql").read_text("utf-8")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Return a database of the first schema, with a conversation."""
    path = tmp_path / "footnote.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCRIPT)
    return path


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def test_head_is_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", "rag_core.store:migrations")
    assert ScriptDirectory.from_config(config).get_current_head() == migrate.HEAD


@pytest.mark.parametrize("is_new", [True, False])
def test_tables_match_the_schema(old: Path, is_new: bool) -> None:
    path = old.with_name("new.sqlite") if is_new else old
    Database(path).close()
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    engine.dispose()


def test_old_database_keeps_its_rows_and_is_copied_first(old: Path) -> None:
    before = dump(old)
    database = Database(old)
    assert [one.title for one in ConversationStore(database).all()] == ["How long is the bridge?"]
    assert PreferenceStore(database).get("top_k") == 7
    database.close()
    assert dump(old.with_name("footnote.sqlite.schema-0001")) == before


def test_copy_can_be_put_back_and_updated_again(old: Path) -> None:
    before = dump(old)
    Database(old).close()
    copy = old.with_name("footnote.sqlite.schema-0001")
    old.write_bytes(copy.read_bytes())
    Database(old).close()
    assert dump(copy) == before == dump(old.with_name("footnote.sqlite.schema-0001-2"))


def test_current_database_is_not_copied(old: Path) -> None:
    Database(old).close()
    Database(old).close()
    assert [path.name for path in old.parent.glob("*.schema-*")] == ["footnote.sqlite.schema-0001"]


def test_failed_migration_leaves_the_database_unchanged(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = dump(old)

    def fail(*_: object) -> None:
        with closing(sqlite3.connect(old, timeout=0)) as other, pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("DELETE FROM preferences")
        raise OSError("disk failure")

    monkeypatch.setattr("alembic.command.upgrade", fail)
    with pytest.raises(OSError, match="disk failure"):
        Database(old)
    monkeypatch.undo()
    assert dump(old) == before
    Database(old).close()


def test_database_that_cannot_be_copied_is_not_migrated(old: Path) -> None:
    before = dump(old)
    old.with_name("footnote.sqlite.schema-0001.partial").mkdir()
    with pytest.raises(DataFolderUnwritable, match=r"could not be copied to .*schema-0001"):
        Database(old)
    assert dump(old) == before


@pytest.mark.parametrize(
    "change",
    ["UPDATE preferences SET value = '0' WHERE name = 'schema'", "UPDATE alembic_version SET version_num = '9999'"],
)
def test_database_of_an_unknown_schema_is_refused(old: Path, change: str) -> None:
    if "alembic" in change:
        Database(old).close()
    with closing(sqlite3.connect(old)) as connection:
        connection.execute(change)
        connection.commit()
    before = dump(old)
    with pytest.raises(StoreUnavailable, match="Another version of Footnote wrote the database"):
        Database(old)
    assert dump(old) == before


def test_conversations_of_the_previous_schema_use_the_model_in_use(old: Path) -> None:
    config = Config()
    config.set_main_option("script_location", "rag_core.store:migrations")
    engine = create_engine(f"sqlite:///{old}")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.stamp(config, "0001")
        command.upgrade(config, "0004")
    engine.dispose()
    database = Database(old)
    (stored,) = ConversationStore(database).all()
    assert (stored.title, stored.model, stored.instructions) == ("How long is the bridge?", None, "")
    database.close()
