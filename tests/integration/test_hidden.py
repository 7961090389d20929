"""Text that a page hides: out of search, answers and prompts, told with each passage of its page, gone on delete."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core.engine import Engine
from tests.support.attacks import HIDDEN, HIDDEN_ORDER
from tests.support.drawn_pdfs import make
from tests.support.engines import ASK_BUDGET, BUDGET, add_document, opened, page_text
from tests.support.servers import ScriptedEndpoint, complete


def add_bridge(engine: Engine, folder: Path) -> str:
    """Add a page that says one thing in black and another in white; returns its id."""

    def draw(canvas: Canvas) -> None:
        canvas.drawString(72, 700, BUDGET)
        HIDDEN["white"](canvas)

    job = add_document(engine, "bridge.pdf", make(folder / "bridge.pdf", draw).read_bytes())
    assert job.document_id is not None
    return job.document_id


@pytest.mark.parametrize("again", [False, True])
def test_it_is_kept_from_search_and_model_and_is_told(tmp_path: Path, again: bool) -> None:
    with (
        ScriptedEndpoint(complete("It is 42 million euros [1].")) as endpoint,
        opened(
            tmp_path / "data", openai_base_url=endpoint.url, openai_model="m", openai_api_key="k", openai_retries=0
        ) as engine,
    ):
        document_id = add_bridge(engine, tmp_path)
        if again:
            rebuild_index(engine, chunk_tokens=100)
        answer = engine.answer(ASK_BUDGET)
        assert (answer.passages[0].hidden, answer.passages[0].instructions) == (HIDDEN_ORDER, True)
        assert "999" not in answer.passages[0].text
        assert "999" not in str(endpoint.requests[-1]["messages"])
        assert "999" not in page_text(engine, document_id, 0)
        assert engine.documents.pages(document_id)[0].hidden == HIDDEN_ORDER


def test_it_goes_with_its_document_and_stays_in_the_answer_that_told_it(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        document_id = add_bridge(engine, tmp_path)
        answer = engine.answer(ASK_BUDGET)
        conversation = engine.conversations.create().conversation_id
        engine.conversations.add_message(conversation, "assistant", answer.text, answer)
        engine.documents.delete([document_id])
        kept = engine.conversations.messages(conversation)[0].answer
        assert kept is not None
        assert kept.passages[0].hidden == HIDDEN_ORDER
    with closing(sqlite3.connect(tmp_path / "data" / "footnote.sqlite")) as database:
        assert database.execute("SELECT count(*) FROM hidden_texts").fetchone() == (0,)
