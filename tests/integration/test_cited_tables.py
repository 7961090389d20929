"""The rows of tables that answers cite, from the PDF to the answer."""

from __future__ import annotations

from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

from rag_core.engine import Engine
from rag_core.types.answers import Answer
from tests.support.drawn_pdfs import PROSE, lines, make, rows
from tests.support.engines import add_document, scripted_engine
from tests.support.servers import Exchange, complete

BALANCE = (
    ("", "2022", "2021"),
    ("Cash and cash equivalents", "$ 120", "$ 115"),
    ("Inventories", "740", "675"),
    ("Total current assets", "860", "790"),
    ("Accounts payable", "410", "402"),
    ("Total current liabilities", "700", "655"),
)
STAFF = (
    ("Site", "Staff", "Opened", "Manager"),
    ("Eskdale", "41", "1962", "Ida Brandt"),
    ("Farrow", "57", "1984", "Tom Quill"),
    ("Corrin", "12", "1962", "Lena Holm"),
)


def add_report(engine: Engine, folder: Path) -> str:
    """Index a report with prose, a balance sheet and a table of sites; return its id."""

    def balance(canvas: Canvas) -> None:
        lines("Bexley Mills", "CONSOLIDATED BALANCE SHEETS", "(in millions)", "December 31,", top=680)(canvas)
        rows(*BALANCE, top=620)(canvas)

    def sites(canvas: Canvas) -> None:
        lines("Sites of Bexley Mills", *PROSE, top=720)(canvas)
        rows(*STAFF, places=(60, 200, 280, 360), left=True, top=620)(canvas)

    path = make(folder / "Bexley 2022.pdf", lines("Bexley Mills", "Annual report", "", *PROSE), balance, sites)
    document_id = add_document(engine, path.name, path.read_bytes()).document_id
    assert document_id is not None
    return document_id


def cited_rows(answer: Answer) -> list[list[str]]:
    """Return the cited rows with their header; cited cells end with an asterisk."""
    return [
        ["".join(run.text + "*" * run.bold for run in cell) for cell in row]
        for table in answer.tables
        for row in table.to_text_table().rows
    ]


def test_answer_from_a_row_has_the_row_and_highlights_its_cell(engine: Engine, tmp_path: Path) -> None:
    document_id = add_report(engine, tmp_path)
    answer = engine.answer("Who is the manager of the site Farrow?")
    assert cited_rows(answer)[0] == ["Site", "Staff", "Opened", "Manager"]
    assert ["Farrow", "57", "1984", "Tom Quill*"] in cited_rows(answer)
    citation = next(one for one in answer.citations if one.marks)
    image = engine.documents.render_page(document_id, 2, highlights=answer.find_cited_spans(citation))
    assert image.highlighted == len("Farrow Tom Quill".split())


def test_refusal_has_no_rows(engine: Engine, tmp_path: Path) -> None:
    add_report(engine, tmp_path)
    assert engine.answer("Who won the chess match in Reykjavik?").tables == ()


def test_answer_keeps_its_rows_without_the_document(engine: Engine, tmp_path: Path) -> None:
    document_id = add_report(engine, tmp_path)
    answer = engine.answer("Who is the manager of the site Farrow?")
    place = answer.citations[0].version_id, answer.citations[0].page_index
    conversation = engine.conversations.create().conversation_id
    engine.conversations.add_message(conversation, "assistant", answer.text, answer)
    assert len(engine.documents.tables([place])) == 1
    engine.documents.delete([document_id])
    assert engine.documents.tables([place]) == {}
    [message] = engine.conversations.messages(conversation)
    assert message.answer == answer
    assert "| Farrow | 57 | 1984 | Tom Quill |" in engine.conversations.export_markdown(conversation)


def test_answer_of_a_model_has_the_rows_it_cites_after_its_continuation(tmp_path: Path) -> None:
    def break_off(exchange: Exchange) -> None:
        exchange.start()
        exchange.delta("Farrow is managed by Tom Quill [1]. It")
        exchange.drop()

    with scripted_engine(tmp_path / "data", break_off, complete("was opened in 1984 [1].")) as (engine, _):
        add_report(engine, tmp_path)
        answer = engine.answer("Who is the manager of the site Farrow?")
        assert ["Farrow", "57", "1984", "Tom Quill*"] in cited_rows(answer)
        *_, continued = engine.continuations.continue_answer(answer)
    assert isinstance(continued, Answer)
    assert ["Farrow", "57", "1984*", "Tom Quill*"] in cited_rows(continued)
