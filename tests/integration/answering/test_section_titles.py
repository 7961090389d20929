"""Sections are named by their number, by words of their title, or by an ordinal, wherever they begin on a page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core.engine import Engine
from tests.support.drawn_pdfs import make, rows
from tests.support.engines import add_document, open_library

SECTIONS = [
    ("1 Orders", ["Orders are written in the yard book and signed by the owner."]),
    ("2 Prices", ["Lifting with the old crane costs a further fee of 12 crowns."]),
    ("3 Winter storage", ["Boats are covered with canvas from November to March."]),
    ("4 Complaints", ["Members have these duties when they complain:", "1. Write to the foreman within ten days."]),
]


def draw(canvas: Canvas) -> None:
    height = 780
    for heading, texts in SECTIONS:
        canvas.setFont("Helvetica-Bold", 15)
        canvas.drawString(60, height, heading)
        canvas.setFont("Helvetica", 11)
        for number, text in enumerate(texts, 1):
            canvas.drawString(60, height - 22 * number, text)
        height -= 170
    rows(("No.", "2023", "2022"), ("1 Storing a hull", "40", "38"), ("2 Lifting a mast", "65", "60"), top=555)(canvas)


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("yard")
    with open_library(folder / "data", {}) as engine:
        add_document(engine, "boatyard-terms.pdf", make(folder / "a.pdf", draw).read_bytes())
        yield engine


@pytest.mark.parametrize(
    ("question", "contains", "lacks"),
    [
        ("What does section 3 of the boatyard terms say?", "canvas", "foreman"),
        ("In section 2 of the boatyard terms, what is the further fee for the old crane?", "12 crowns", "canvas"),
        ("What does the section on winter storage in the boatyard terms say?", "canvas", "crane"),
        ("What does the section “Complaints” of the boatyard terms say?", "foreman", "canvas"),
        ("What does the third section of the boatyard terms say?", "canvas", "foreman"),
        ("What does the last section of the boatyard terms say?", "ten days", "canvas"),
    ],
)
def test_section_is_answered_from(yard: Engine, question: str, contains: str, lacks: str) -> None:
    answer = yard.answer(question)
    assert contains in answer.text
    assert lacks not in answer.text


def test_outline_lists_all_sections_of_the_page(yard: Engine) -> None:
    (document,) = yard.documents.list()
    assert [one.title for one in yard.documents.outline(document.document_id)] == [title for title, _ in SECTIONS]
