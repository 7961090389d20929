"""Answers that open with the requested value, and refusals with the closest statement."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from rag_core.engine import Engine
from rag_core.types import AnswerState
from tests.support.engines import add_document, open_library, opened

DOCUMENTS = {
    "library-rules.pdf": [
        "Atlases and new novels may be borrowed for three weeks.",
        "Newspapers, maps and manuscripts may not be borrowed.",
        "Children under ten years do not pay for a library card.",
        "Adults pay 15 euros a year for a library card.",
        "Dogs are allowed in the garden of the library.",
        "Dogs are not allowed in the reading room.",
    ],
    "canteen.pdf": [
        "The canteen of the mill opens at 07:30 on weekdays.",
        "A warm lunch in the canteen costs 6.80 euros.",
        "Ms Ekberg has run the canteen since 2014, because the miller retired.",
    ],
    "ferry.pdf": [
        "The ferry carries 40 cars and 320 passengers.",
        "It was repaired by the Nordhavn shipyard.",
        "The crossing takes 35 minutes in calm weather.",
    ],
    "harrow_2021.pdf": [
        "At the end of the year we had 815 shops worldwide: 564 in Norway and 105 in Peru.",
        "Dividends declared totaled 12.98 euros per share.",
        "We leased 27 boats in 2021 and 31 boats in 2020.",
    ],
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    documents = {name: [lines] for name, lines in DOCUMENTS.items()}
    with open_library(tmp_path_factory.mktemp("typed") / "data", documents) as engine:
        yield engine


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("How many shops did Harrow have in Peru?", "105"),
        ("How much did Harrow declare in dividends per share in 2021?", "12.98 euros"),
        ("How much did Harrow declare in dividends per share in 2019?", ""),
        ("How much did Bolt declare in dividends per share in 2021?", ""),
    ],
)
def test_text_need_not_repeat_the_name_in_the_title(library: Engine, question: str, short: str) -> None:
    assert library.answer(question).short == short


@pytest.mark.parametrize(
    ("question", "value", "opposite"),
    [
        ("What may be borrowed for three weeks?", "Atlases and new novels", "Newspapers"),
        ("What may not be borrowed?", "Newspapers, maps and manuscripts", "Atlases"),
        ("Who does not pay for a library card?", "Children under ten years", "Adults"),
        ("Where are dogs not allowed?", "reading room", "garden"),
    ],
)
def test_question_with_a_negation_gets_the_negated_statement(
    library: Engine, question: str, value: str, opposite: str
) -> None:
    text = library.answer(question).text
    assert value in text
    assert opposite not in text


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("When does the canteen of the mill open on weekdays?", "07:30"),
        ("What does a warm lunch in the canteen cost?", "6.80 euros"),
        ("Who has run the canteen since 2014?", "Ms Ekberg"),
        ("How long does the crossing take in calm weather?", "35 minutes"),
    ],
)
def test_answer_opens_with_the_value(library: Engine, question: str, short: str) -> None:
    answer = library.answer(question)
    assert (answer.short, answer.opens_with_short) == (short, True)
    lead, quote = answer.text.split("\n\n")
    assert lead.startswith(f"**{short}**")
    assert short in quote
    assert quote.endswith(f"[{answer.citations[0].marker}]")
    assert answer.text[answer.statements[0].start : answer.statements[0].end] == answer.citations[0].quote


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("How long does the crossing take in calm weather?", "ferry"),
        ("Who repaired it at the shipyard?", "ferry"),
        ("What does an adult pay for a card?", "library-rules"),
    ],
)
def test_source_is_named_if_neither_question_nor_quote_does(library: Engine, question: str, document: str) -> None:
    assert document in library.answer(question).text.split("\n\n")[0]


def test_source_is_not_named_if_the_quote_does(library: Engine) -> None:
    assert library.answer("When does the canteen of the mill open on weekdays?").text.startswith("**07:30**\n\n")


def test_list_is_given_in_full(library: Engine) -> None:
    assert library.answer("What may not be borrowed?").short == "Newspapers, maps and manuscripts"


def test_yes_no_question_is_answered_by_the_statement(library: Engine) -> None:
    answer = library.answer("Are dogs allowed in the reading room?")
    assert (answer.state, answer.short) == (AnswerState.ANSWERED, "")
    assert "Dogs are not allowed in the reading room." in answer.text


@pytest.mark.parametrize(
    "question",
    [
        "How many percent of the passengers of the ferry are children?",
        "In which year was the canteen of the mill painted?",
        "How many books may be borrowed with a library card?",
    ],
)
def test_refusal_quotes_the_closest_statement(library: Engine, question: str) -> None:
    library.preferences.set_threshold(1.0)
    try:
        answer = library.answer(question)
    finally:
        library.preferences.set_threshold(None)
    assert (answer.state, answer.citations, answer.short) == (AnswerState.ABSTAINED, (), "")
    assert answer.text.startswith("Not stated. Closest: “")
    assert answer.passages


def test_refusal_of_another_topic_quotes_nothing(library: Engine) -> None:
    answer = library.answer("Which enzyme copies the genome of retroviruses?")
    assert (answer.state, answer.text) == (AnswerState.ABSTAINED, "I don't know: the documents don't say.")


def make_form() -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.drawString(60, 780, "Application of the sailing club")
    for row, (label, checked) in enumerate((("Newsletter wanted", False), ("Berth for the winter wanted", True))):
        canvas.drawString(60, 740 - 40 * row, label)
        canvas.acroForm.checkbox(name=label, x=260, y=736 - 40 * row, size=16, checked=checked)
    canvas.drawString(60, 660, "Course chosen")
    for column, value in enumerate(("morning", "noon", "evening")):
        x = 260 + 90 * column
        canvas.acroForm.radio(name="course", value=value, x=x, y=656, size=16, selected=value == "evening")
        canvas.drawString(x + 20, 660, value)
    canvas.save()
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("Is the newsletter wanted?", "no"),
        ("Is a berth for the winter wanted?", "yes"),
        ("Which course was chosen?", "evening"),
    ],
)
def test_tick_boxes_answer(tmp_path: Path, question: str, short: str) -> None:
    with opened(tmp_path / "data") as engine:
        add_document(engine, "form.pdf", make_form())
        assert engine.answer(question).short == short
