"""What a question costs: statements in the databases."""

from __future__ import annotations

import pytest
from sqlalchemy import event

from rag_core.engine import Engine
from tests.support.engines import ASK_BUDGET, BUDGET, indexed


@pytest.mark.parametrize(
    ("question", "most"),
    [("How large is the budget of the bridge?", 10), ("How large is the budget of Zanzibar and Kenya in 2021?", 12)],
)
def test_question_needs_few_statements(engine: Engine, question: str, most: int) -> None:
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
    # The workers look for jobs at intervals.
    statements = [one for one in statements if "FROM jobs" not in one]
    assert len(statements) <= most, "\n".join(statements)
