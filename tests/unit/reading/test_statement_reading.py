"""Statements of excerpts, their order after reading, and what a quote contains besides the best one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest

from rag_core.reading.answer_finding import find_answers
from rag_core.reading.quote_spans import select_quote
from rag_core.reading.statement_reading import ReadStatement, read_statements
from rag_core.reading.statements import names_label, read_label, split_statements
from rag_core.reading.tick_boxes import read_boxes
from rag_core.types import Reading
from tests.support.passages import passage


def read_page(question: str, text: str, probabilities: Mapping[str, float]) -> list[ReadStatement]:
    """Return the statements of a page; texts that are not in ``probabilities`` do not answer."""

    def read(_question: str, texts: Sequence[str]) -> Iterator[Reading]:
        return iter([Reading(probabilities.get(one, 0.01), 0, len(one.split()[0]), 1.0) for one in texts])

    answers = find_answers(question, [passage(text=text, start=0, scores={"rerank": 0.5})], {}, {}, read)
    return read_statements(question, answers, read, lambda *_: None)


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in split_statements(text)]


def quote(text: str, statement: str, *, is_certain: bool = True, without: str = "-") -> str:
    start = text.index(statement)
    span = select_quote(
        text, start, start + len(statement), is_certain=is_certain, agrees=lambda other: without not in other
    )
    return text[span.start : span.end] + (" …" if span.is_cut else "")


def test_headings_and_lines_of_forms_are_statements_of_their_own() -> None:
    text = "The rules of the house apply to all\nguests.\n\n2 Rooms\n\nThe Alder room is free.\nSurname: Berg\nAge: 40"
    assert split(text) == [
        "The rules of the house apply to all\nguests.",
        "2 Rooms",
        "The Alder room is free.",
        "Surname: Berg",
        "Age: 40",
    ]


def test_lines_with_labels_are_statements_of_their_own() -> None:
    lines = ["First name: Karolina", "Born on: 17 August 1989", "Supervisor: Rashid Khan"]
    assert split("\n".join(lines)) == lines
    assert quote("\n".join(lines), lines[1], is_certain=False) == lines[1]
    assert read_label(lines[2]) == ("Supervisor", "Rashid Khan")
    assert names_label("Who is the supervisor of Karolina?", lines[2])
    assert not names_label("Who is Karolina?", lines[2])
    assert names_label("How much is the yearly fee?", "Yearly fee in euros: 86")


def test_line_that_is_full_or_goes_on_in_lower_case_is_not_split() -> None:
    office = "The office in the old harbour is run by\nMs Berg from Monday to\nnoon and closed after that"
    assert split(f"Prices of the harbour\n\n{office}")[1:] == [office]


def test_statement_that_the_model_prefers_is_first() -> None:
    text = "The bridge was opened in 1931. The mill was opened in 1902."
    statements = read_page("When was it opened?", text, {"The mill was opened in 1902.": 0.9})
    assert statements[0].text == "The mill was opened in 1902."
    assert (statements[0].answer, text[statements[0].start : statements[0].end]) == ("The", statements[0].text)


@pytest.mark.parametrize("asked", ["Which rooms can't be booked?", "Which rooms are never booked?"])
def test_question_with_a_negation_prefers_a_statement_with_one(asked: str) -> None:
    text = "The Alder room can be booked. The Cellar room cannot be booked."
    statements = read_page(
        asked, text, {"The Alder room can be booked.": 0.6, "The Cellar room cannot be booked.": 0.5}
    )
    assert statements[0].text == "The Cellar room cannot be booked."


def test_page_numbers_are_no_statements() -> None:
    statements = read_page("How many?", "13 / 75\n\nThe hall has 20 seats for guests.", {"13 / 75": 0.99})
    assert [one.text for one in statements] == ["The hall has 20 seats for guests."]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Newsletter ☒", ("Newsletter", "yes")),
        ("☐ Key to the boathouse", ("Key to the boathouse", "no")),
        ("Group: ☐ morning ☒ midday ☒ evening", ("Group", "midday, evening")),
        ("Group ☐ morning ☐ midday", ("Group", "")),
        ("Surname: Berg", ("", "")),
    ],
)
def test_tick_boxes(line: str, expected: tuple[str, str]) -> None:
    assert read_boxes(line) == expected


def test_value_of_tick_boxes_is_the_answer() -> None:
    text = "Form of the rowing club of Berg\n\nNewsletter wanted ☐\n\nKey to the house ☒"
    statement = read_page("Is the newsletter wanted?", text, {"Newsletter wanted: no": 0.9})[0]
    assert (statement.text, statement.answer, statement.has_boxes) == ("Newsletter wanted ☐", "no", True)


def test_certain_statement_is_quoted_alone() -> None:
    text = "Coats may be returned. Lamps may be kept. The shop is open."
    assert quote(text, "Lamps may be kept.") == "Lamps may be kept."


def test_pronoun_needs_the_statement_before_it() -> None:
    text = "The mill is old. The bridge is new. It was opened in 1931."
    assert quote(text, "It was opened in 1931.") == "The bridge is new. It was opened in 1931."


def test_list_is_quoted_with_its_introduction() -> None:
    text = "These policies were adopted.\n\n• Adoption Policy\n\n• Paternity Policy\n\nThe meeting ended at nine."
    whole = "These policies were adopted.\n\n• Adoption Policy\n\n• Paternity Policy"
    assert quote(text, "These policies were adopted.") == whole
    assert quote(text.replace("adopted.", "adopted:"), "These policies were adopted:") == whole.replace(".", ":")


def test_ellipsis_marks_a_list_whose_items_are_missing() -> None:
    assert quote("The hall is open. You need:", "You need:") == "You need: …"


def test_uncertain_statement_is_quoted_with_its_context() -> None:
    text = "Coats are sold. Lamps may be kept. The shop is open. Shoes are not sold."
    assert quote(text, "Lamps may be kept.", is_certain=False, without="not") == text.removesuffix(
        " Shoes are not sold."
    )
