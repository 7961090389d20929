"""Libraries of the first schema, through the engine."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from rag_core.engine import Engine
from rag_core.errors import StoreUnavailable
from rag_core.settings import Settings
from tests.support.engines import ASK_BUDGET, BUDGET, indexed


def change_database(settings: Settings, *statements: str) -> None:
    with closing(sqlite3.connect(settings.data_dir / "footnote.sqlite")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_library_of_the_first_schema_answers_as_before(settings: Settings) -> None:
    with Engine(settings) as engine:
        indexed(engine, "bridge.pdf", BUDGET)
        before = engine.answer(ASK_BUDGET)
    change_database(settings, "DROP TABLE alembic_version", "UPDATE preferences SET value = '1' WHERE name = 'schema'")
    with Engine(settings) as engine:
        after = engine.answer(ASK_BUDGET)
    assert (after.text, after.citations) == (before.text, before.citations)
    assert after.citations


def test_refused_data_folder_is_released(settings: Settings) -> None:
    with Engine(settings) as engine:
        engine.conversations.create()
    change_database(settings, "UPDATE alembic_version SET version_num = '9999'")
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="Another version"):
            Engine(settings)
