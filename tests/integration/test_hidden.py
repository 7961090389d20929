"""Hidden text of a page: excluded from search and prompts, shown with passages, deleted with its document."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core.engine import Engine
from tests.support.attacks import HIDDEN, HIDDEN_ORDER
from tests.support.drawn_pdfs import make
from tests.support.engines import ASK_BUDGET, BUDGET, add_document, opened, page_text, rebuild_index, scripted_engine
from tests.support.servers import complete


def add_bridge(engine: Engine, folder: Path) -> str:
    """Add a document with visible and hidden text; return its id."""

    def draw(canvas: Canvas) -> None:
        canvas.drawString(72, 700, BUDGET)
        HIDDEN["white"](canvas)

    job = add_document(engine, "bridge.pdf", make(folder / "bridge.pdf", draw).read_bytes())
    assert job.document_id is not None
    return job.document_id


@pytest.mark.parametrize("rebuilt", [False, True])
def test_hidden_text_is_not_searched_and_is_reported(tmp_path: Path, rebuilt: bool) -> None:
    with scripted_engine(tmp_path / "data", complete("It is 42 million euros [1].")) as (engine, endpoint):
        document_id = add_bridge(engine, tmp_path)
        if rebuilt:
            rebuild_index(engine, chunk_tokens=100)
        answer = engine.answer(ASK_BUDGET)
        assert (answer.passages[0].hidden, answer.passages[0].instructions) == (HIDDEN_ORDER, True)
        assert "999" not in answer.passages[0].text
        assert "999" not in str(endpoint.requests[-1]["messages"])
        assert "999" not in page_text(engine, document_id, 0)
        assert engine.documents.pages(document_id)[0].hidden == HIDDEN_ORDER


def test_hidden_text_is_deleted_but_stays_in_stored_answers(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        document_id = add_bridge(engine, tmp_path)
        answer = engine.answer(ASK_BUDGET)
        conversation = engine.conversations.create().conversation_id
        engine.conversations.add_message(conversation, "assistant", answer.text, answer)
        engine.documents.delete([document_id])
        stored = engine.conversations.messages(conversation)[0].answer
        assert stored is not None
        assert stored.passages[0].hidden == HIDDEN_ORDER
    with closing(sqlite3.connect(tmp_path / "data" / "footnote.sqlite")) as database:
        assert database.execute("SELECT count(*) FROM hidden_texts").fetchone() == (0,)
