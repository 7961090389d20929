"""What a question costs: statements in the databases."""

from __future__ import annotations

import pytest
from sqlalchemy import event

from rag_core.engine import Engine
from tests.support.engines import ASK_BUDGET, BUDGET, indexed


@pytest.mark.parametrize(
    "question", ["How large is the budget of the bridge?", "How large is the budget of Zanzibar and Kenya in 2021?"]
)
def test_question_needs_at_most_nine_statements(engine: Engine, question: str) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    engine.answer(ASK_BUDGET)
    statements: list[str] = []
    for database in (engine._stores.database, engine._stores.word_index._db):
        event.listen(
            database._engine,
            "before_cursor_execute",
            lambda connection, cursor, statement, *_: statements.append(statement),
        )
    assert engine.answer(question).passages
    assert len(statements) <= 9, "\n".join(statements)
