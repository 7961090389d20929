"""The store of entities and themes: what is removed with a version."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from rag_core.store.database import Database
from rag_core.store.documents import DocumentStore
from rag_core.store.schema import document_entities, theme_entities, theme_statements, themes
from rag_core.store.themes import ThemeStore
from rag_core.types.documents import DocumentStatus
from rag_core.types.themes import (
    DocumentEntities,
    Entity,
    Statement,
    StatementSource,
    StoredTheme,
    SummarySentence,
    ThemeEntity,
)

FOUND = DocumentEntities((Entity("ida", "Ida", "name", 2),), (Statement(1, 0, 9, "sentence", (0,)),))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "footnote.sqlite")
    yield opened
    opened.close()


def add_version(database: Database, name: str) -> str:
    library = DocumentStore(database)
    _, version_id = library.add_version(name, "", name, 1)
    assert library.publish(version_id, DocumentStatus.INDEXED, "", active=True)
    return version_id


def theme_over(*versions: str) -> StoredTheme:
    entities = tuple(ThemeEntity(one, "ida", "Ida", "name", 2) for one in versions)
    statements = tuple(StatementSource(one, 1, 0, 9) for one in versions)
    written = (SummarySentence("Ida leads.", (0,)),)
    return StoredTheme("t1", "digest", "openai:m", written, len(versions), entities, statements)


def test_entities_are_stored_for_each_version(database: Database) -> None:
    store = ThemeStore(database)
    version_id = add_version(database, "a.pdf")
    store.save_entities(version_id, "text 1", FOUND)
    assert store.load_entities([version_id]) == {version_id: FOUND}
    assert store.find_versions("text 1") == {version_id}
    assert store.find_versions("text 2") == set()
    store.save_entities("unknown", "text 1", FOUND)
    assert store.load_entities(["unknown"]) == {}


def test_removed_version_takes_its_part_of_the_themes_with_it(database: Database) -> None:
    store, library = ThemeStore(database), DocumentStore(database)
    first, second = add_version(database, "a.pdf"), add_version(database, "b.pdf")
    for one in (first, second):
        store.save_entities(one, "text 1", FOUND)
    store.add_theme("build", 0, theme_over(first, second))
    assert store.themes("build") == [theme_over(first, second)]
    library.clear_version(first)
    (left,) = store.themes("build")
    assert left == replace(theme_over(second), digest="", generator="extractive", summary=())
    with database.read() as connection:
        for table in (document_entities, theme_entities, theme_statements):
            assert set(connection.execute(select(table.c.version_id)).scalars()) == {second}


def test_hidden_version_is_not_part_of_a_theme_before_it_is_removed(database: Database) -> None:
    store, library = ThemeStore(database), DocumentStore(database)
    first, second = add_version(database, "a.pdf"), add_version(database, "b.pdf")
    store.add_theme("build", 0, theme_over(first, second))
    row = library.version(first)
    assert row is not None
    library.begin_removal(row.document_id)
    (left,) = store.themes("build")
    assert (left.summary, left.statements) == ((), (StatementSource(second, 1, 0, 9),))
    # A summary that was written meanwhile is not stored, because it may repeat the removed text.
    store.add_theme("build", 0, theme_over(first, second))
    store.add_theme("build", 1, replace(theme_over(first), theme_id="t2"))
    assert len(store.themes("build")) == 1
    assert store.find_summary("digest") == ()
    with database.read() as connection:
        assert connection.execute(select(themes.c.summary)).scalars().all() == [[], []]


def test_only_the_finished_build_stays(database: Database) -> None:
    store = ThemeStore(database)
    version_id = add_version(database, "a.pdf")
    store.add_theme("old", 0, replace(theme_over(version_id), theme_id="t0"))
    store.add_theme("new", 0, theme_over(version_id))
    store.add_theme("new", 1, replace(theme_over(version_id), theme_id="t2"))
    assert store.find_summary("digest") == (SummarySentence("Ida leads.", (0,)),)
    store.finish_build("new", 1)
    with database.read() as connection:
        assert list(connection.execute(select(themes.c.id)).scalars()) == ["t1"]
    assert store.themes("old") == []
