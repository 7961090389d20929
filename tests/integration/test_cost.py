"""What a question costs: statements in the databases."""

from __future__ import annotations

from sqlalchemy import event

from rag_core.engine import Engine
from tests.support.engines import ASK_BUDGET, BUDGET, indexed


def test_question_without_names_needs_at_most_eight_statements(engine: Engine) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    engine.answer(ASK_BUDGET)
    statements: list[str] = []
    for database in (engine._stores.database, engine._stores.word_index._db):
        event.listen(
            database._engine,
            "before_cursor_execute",
            lambda connection, cursor, statement, *_: statements.append(statement),
        )
    assert engine.answer("How large is the budget of the bridge?").citations
    assert len(statements) <= 8, "\n".join(statements)
