"""Struck-out words are shown as struck, and answer nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate

from rag_core.engine import Engine
from rag_core.types.answers import AnswerState
from tests.support.engines import add_document

PARAGRAPHS = (
    "Rules of the Elmside allotment garden",
    "The rent of a plot is <strike>eighteen</strike> twenty-six crowns a year.",
    "<strike>The water tap is opened by Petra Lind.</strike>",
    "<strike>Every member of the association may keep up to seven hens of a quiet breed beside the orchard, if the "
    "neighbours on both sides of the plot agree.</strike> The hedges are cut in March.",
    "Bonfires are lit in October only.",
)


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    style = getSampleStyleSheet()["BodyText"]
    path = tmp_path / "rules.pdf"
    SimpleDocTemplate(str(path), pagesize=A4).build([Paragraph(text, style) for text in PARAGRAPHS])
    return path


def test_struck_words_are_shown_as_struck_and_answer_nothing(engine: Engine, rules: Path) -> None:
    document = add_document(engine, "rules.pdf", rules.read_bytes()).document_id
    questions = (
        "What is the rent of a plot?",
        "Who opens the water tap?",
        "How many hens may a member keep on a plot?",
    )
    rent, *refused = map(engine.answer, questions)
    assert "~~eighteen~~ twenty-six crowns" in rent.text
    (page,) = engine.documents.pages(document)
    assert all(one.quote == page.text[one.start : one.end] for one in rent.citations)
    assert "~~eighteen~~" in rent.passages[0].text
    assert [one.state for one in refused] == [AnswerState.ABSTAINED] * 2
