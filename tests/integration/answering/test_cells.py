"""Answers from sheets cite cells, and questions that name cells are answered from them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from pages.shared.evidence import name_sources
from rag_core.answering.export import export_answer
from rag_core.answering.named_documents import MAX_TITLES
from rag_core.api.json_rows import build_answer_row
from rag_core.engine import Engine
from rag_core.types.answers import Answer
from tests.support.documents import make_csv, make_opendocument, make_picture, make_xlsx
from tests.support.engines import add_document, open_library, scripted_engine


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with open_library(tmp_path_factory.mktemp("cells"), {}) as engine:
        add_document(engine, "fleet.xlsx", make_xlsx("Boats of the harbour", rows=300))
        add_document(engine, "islands.ods", make_opendocument("spreadsheet", "Boats of the islands"))
        add_document(
            engine, "crew.csv", make_csv([("Name", "Rank", "Wage"), ("Ada", "Mate", "410"), ("Bo", "Cook", "380")])
        )
        add_document(engine, "piers.xlsx", make_piers())
        yield engine


def make_piers() -> bytes:
    """Return a workbook with three sheets, a merged cell, and a picture of text over empty cells."""
    import xlsxwriter

    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        for name, start in (("Bob's", 10), ("Old piers", 20), ("Piers", 30)):
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, ["Pier", "Berths", "Cranes"])
            for row in range(1, 6):
                sheet.write_row(row, 0, [f"Pier {row}", start + row, start + row + 100])
        sheet.merge_range("D2:E4", "Closed for repair")
        sheet.write_row(0, 3, ["State", "Until"])
        sheet.insert_image("A10", "sign.png", {"image_data": io.BytesIO(make_picture("No mooring at this pier."))})
    return buffer.getvalue()


def ask(engine: Engine, question: str, name: str) -> Answer:
    [document] = [one for one in engine.documents.list() if one.name == name]
    return engine.answer(question, documents=[document.document_id])


@pytest.mark.parametrize(
    ("name", "question", "quote", "cells"),
    [
        ("fleet.xlsx", "What is in Boats!C4?", "1,310", "Boats!C4"),
        ("fleet.xlsx", "Which value is in cell c4 of the sheet Boats?", "1,310", "Boats!C4"),
        ("fleet.xlsx", "What does cell B290 say?", "284", "Boats!B290"),
        ("fleet.xlsx", "Was steht in Zelle A5?", "Tug", "Boats!A5"),
        ("fleet.xlsx", "What is in Boats!A4:C4?", "Ferry 1,204 1,310", "Boats!A4:C4"),
        ("islands.ods", "What is in Boats!B5?", "88", "Boats!B5"),
        ("crew.csv", "What is in cell C3 of crew.csv?", "380", "C3"),
    ],
)
def test_question_that_names_cells_is_answered_from_them(
    engine: Engine, name: str, question: str, quote: str, cells: str
) -> None:
    answer = ask(engine, question, name)
    assert [(" ".join(one.quote.split()), one.cells) for one in answer.citations] == [(quote, cells)]
    assert f"{name}, {cells}" in answer.text


@pytest.mark.parametrize(
    ("question", "quotes"),
    [
        ("What is in 'Bob''s'!B2 and in 'Old piers'!B2?", ["11", "21"]),
        ("What is in Piers!C3 and in Old piers!B3?", ["132", "22"]),
        ("What is in cell B4 of Bob's and in cell C4 of Piers?", ["13", "133"]),
        ("What is in ‘Bob’s’!B2?", ["11"]),
        ("What is in “Old piers”!B2?", ["21"]),
        ('What is in "Old piers"!B2?', ["21"]),
        ("Show '[piers.xlsx]Old piers'!B2", ["21"]),
        ("What is in Piers!D2?", ["Closed for repair"]),
        ("What is in Piers!E2?", ["Closed for repair"]),
        ("What is in Piers!D3?", ["Closed for repair"]),
        ("What is in Piers!E4?", ["Closed for repair"]),
    ],
)
def test_each_cell_is_that_of_its_own_sheet(engine: Engine, question: str, quotes: list[str]) -> None:
    answer = ask(engine, question, "piers.xlsx")
    assert [" ".join(one.quote.split()) for one in answer.citations] == quotes


def test_merged_cell_is_named(engine: Engine) -> None:
    answer = ask(engine, "What is in Piers!E4?", "piers.xlsx")
    assert "piers.xlsx, Piers!E4, part of the merged cell D2" in answer.text


def test_empty_cell_beside_a_filled_one_is_named(engine: Engine) -> None:
    answer = ask(engine, "What is in Piers!B2 and in Piers!D6?", "piers.xlsx")
    assert [one.quote for one in answer.citations] == ["31"]
    assert "piers.xlsx, Piers!D6 contains no text." in answer.text


def test_title_of_a_sheet_is_quoted_with_its_page(engine: Engine) -> None:
    answer = ask(engine, "What is in Boats!A1?", "fleet.xlsx")
    assert "Boats of the harbour" in answer.text
    assert answer.citations[0].place == "page Boats!A1:C27"


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("What is in Boats!F4?", "No text was found in F4 of fleet.xlsx Boats."),
        ("What is in Planes!A1?", "No sheet of this name was found. The sheets are Boats."),
        ("What is in Houseboats!C4?", "No sheet of this name was found. The sheets are Boats."),
        ("What is in 'Old Boats'!C4?", "No sheet of this name was found. The sheets are Boats."),
    ],
)
def test_missing_cells_are_named(engine: Engine, question: str, message: str) -> None:
    answer = ask(engine, question, "fleet.xlsx")
    assert answer.text.startswith(message)
    assert not answer.citations


def test_picture_over_an_empty_cell_is_not_its_value(engine: Engine) -> None:
    answer = ask(engine, "What is in Piers!A11?", "piers.xlsx")
    assert answer.text.startswith("No text was found in A11 of piers.xlsx Piers.")


def test_document_is_asked_for_only_for_cells_of_sheets(tmp_path: Path) -> None:
    texts = {f"note{number}.pdf": [f"Note {number} is about harbours."] for number in range(MAX_TITLES + 1)}
    with open_library(tmp_path, texts) as engine:
        assert "documents are in scope" not in engine.answer("What is in Boats!C4?").text
        add_document(engine, "fleet.xlsx", make_xlsx("Boats of the harbour"))
        assert "“What does cell C4 of fleet.xlsx say?”" in engine.answer("What is in Boats!C4?").text
        assert "documents are in scope" not in engine.answer("Why is Boats!C4 about harbours?").text


def test_cells_are_quoted_if_a_model_writes_answers(tmp_path: Path) -> None:
    with scripted_engine(tmp_path, openai_context_tokens=32_000) as (engine, endpoint):
        add_document(engine, "fleet.xlsx", make_xlsx("Boats of the harbour"))
        answer = engine.answer("What is in Boats!C4?")
    assert "1,310" in answer.text
    assert (answer.generator, endpoint.requests) == ("extractive", [])


def test_cell_of_another_text_is_not_that_of_a_sheet(engine: Engine) -> None:
    answer = engine.answer("What is in cell C4 of the prison of Alcatraz?")
    assert "C4" not in {one.cells.rpartition("!")[2] for one in answer.citations}


@pytest.mark.parametrize(
    ("name", "question", "cells"),
    [
        ("fleet.xlsx", "How many ferries were there in 2024?", "Boats!C4"),
        ("crew.csv", "What is the wage of the cook Bo?", "C3"),
    ],
)
def test_answer_from_a_sheet_cites_its_cell(engine: Engine, name: str, question: str, cells: str) -> None:
    answer = ask(engine, question, name)
    row = build_answer_row(answer, None)
    assert answer.find_cells(1) == cells
    assert cells in [one["cells"] for one in row["citations"]]
    assert name_sources(answer)[1] == f"{name}, {cells}"
    assert f"{name}, {cells}: " in export_answer(engine.settings, answer, "")
