"""The setting that ranks newer documents higher."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from rag_core.engine import Engine
from rag_core.store.schema import documents, versions
from rag_core.types.retrieval import RetrievalConfig
from tests.support.engines import BUDGET, PENGUINS, add_document, open_library, opened
from tests.support.pdfs import make_pdf

# The older document contains the figure of the question.
ASK = "What is the budget of the Zanzibar bridge in 42 million euros?"
DRAFT = BUDGET.replace("42 million", "39 million")


def change_age(engine: Engine, name: str, days: float) -> None:
    """Change the date of a document to so many days ago."""
    when = datetime.now(UTC) - timedelta(days=days)
    (document_id,) = engine.documents.find_ids([name])
    with engine._stores.database.begin() as connection:
        connection.execute(update(documents).where(documents.c.id == document_id).values(added_at=when))
        connection.execute(update(versions).where(versions.c.document_id == document_id).values(added_at=when))


def order(engine: Engine, rank_by: str | None = None) -> list[str]:
    result = engine.search(ASK, configuration=RetrievalConfig(rank_by))
    return [passage.document for passage in result.passages]


def test_replaced_content_is_as_new_as_its_file(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with open_library(folder, {"one.pdf": [DRAFT], "other.pdf": [BUDGET]}) as engine:
        change_age(engine, "one.pdf", 3650)
        change_age(engine, "other.pdf", 1825)
    with opened(folder, freshness=0.9) as engine:
        assert order(engine)[0] == "other.pdf"
        add_document(engine, "one.pdf", make_pdf(DRAFT.replace("39", "41")))
        added_at = engine.explain(ASK).added_at
        assert order(engine)[0] == "one.pdf"
        newest = engine.documents.find_ids(["one.pdf"])[0]
        assert datetime.now(UTC) - added_at[newest] < timedelta(days=1)


def test_freshness_changes_order_but_no_scores(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with open_library(folder, {"old.pdf": [BUDGET], "new.pdf": [DRAFT], "birds.pdf": [PENGUINS]}) as engine:
        change_age(engine, "old.pdf", 3650)
        plain = engine.search(ASK)
        assert order(engine)[:2] == ["old.pdf", "new.pdf"]
        by_words = order(engine, "bm25")
    with opened(folder, freshness=0.3) as engine:
        fresh = engine.search(ASK)
        assert [passage.document for passage in fresh.passages][:2] == ["new.pdf", "old.pdf"]
        assert {passage.document: passage.scores["rerank"] for passage in fresh.passages} == pytest.approx(
            {passage.document: passage.scores["rerank"] for passage in plain.passages}
        )
        assert fresh.gate.score == pytest.approx(plain.gate.score)
        assert [passage.document for passage in engine.explain(ASK).passages][:2] == ["new.pdf", "old.pdf"]
        assert order(engine, "bm25") == by_words
