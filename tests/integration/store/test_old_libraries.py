"""Libraries of the first schema, through the engine."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import SecretStr

from rag_core.engine import Engine
from rag_core.errors import DatabaseInUse, StoreUnavailable
from rag_core.index.dense import open_chroma
from rag_core.settings import Settings
from tests.support.engines import ASK_BUDGET, BUDGET, PENGUINS, indexed
from tests.support.old_schema import undo_to


def change_database(settings: Settings, *statements: str) -> None:
    with closing(sqlite3.connect(settings.data_dir / "footnote.sqlite")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_library_of_the_first_schema_answers_as_before(settings: Settings) -> None:
    with Engine(settings) as engine:
        indexed(engine, "bridge.pdf", BUDGET)
        before = engine.answer(ASK_BUDGET)
    change_database(
        settings,
        "DROP TABLE alembic_version",
        *undo_to("0001"),
        "UPDATE preferences SET value = '1' WHERE name = 'schema'",
    )
    with Engine(settings) as engine:
        after = engine.answer(ASK_BUDGET)
        engine.snapshots.create("first")
        assert engine.answer(ASK_BUDGET, as_of="first").text == before.text
    assert (after.text, after.citations) == (before.text, before.citations)
    assert after.citations


def test_vectors_of_a_library_without_id_are_kept(settings: Settings) -> None:
    with Engine(settings) as engine:
        indexed(engine, "bridge.pdf", BUDGET)
        (collection,) = open_chroma(settings.data_dir / "chroma", None).list_collections()
        collection.modify(name="chunks-1")
    change_database(settings, "DELETE FROM preferences WHERE name = 'library'")
    for _ in range(2):
        with Engine(settings) as engine:
            assert engine.search(ASK_BUDGET).passages[0].scores["dense"] is not None
            assert list(engine.status().problems) == []


def test_libraries_in_one_chroma_do_not_share_vectors(settings: Settings, tmp_path: Path) -> None:
    with Engine(settings) as engine:
        indexed(engine, "bridge.pdf", BUDGET)
    other = settings.model_copy(update={"data_dir": tmp_path / "other"})
    shutil.copytree(settings.data_dir / "chroma", other.data_dir / "chroma")
    with Engine(other) as engine:
        assert engine.status().stores["vectors"] == 0
        indexed(engine, "birds.pdf", PENGUINS)
        assert len(open_chroma(other.data_dir / "chroma", None).list_collections()) == 2
        assert engine.status().stores["vectors"] == 1


def test_database_is_used_by_one_process_only(settings: Settings, tmp_path: Path) -> None:
    url = SecretStr(f"sqlite:///{tmp_path / 'shared.sqlite'}")
    first = settings.model_copy(update={"database_url": url})
    second = first.model_copy(update={"data_dir": tmp_path / "second"})
    with Engine(first), pytest.raises(DatabaseInUse, match="DATABASE_URL"):
        Engine(second)
    with Engine(second) as engine:
        assert engine.documents.list() == []


def test_database_of_a_data_folder_cannot_be_used_by_another(settings: Settings, tmp_path: Path) -> None:
    url = SecretStr(f"sqlite:///{settings.data_dir / 'footnote.sqlite'}")
    other = settings.model_copy(update={"data_dir": tmp_path / "other", "database_url": url})
    with Engine(settings), pytest.raises(DatabaseInUse):
        Engine(other)


def test_refused_data_folder_is_released(settings: Settings) -> None:
    with Engine(settings) as engine:
        engine.conversations.create()
    change_database(settings, "UPDATE alembic_version SET version_num = '9999'")
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="Another version"):
            Engine(settings)
