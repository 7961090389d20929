"""Pseudo-questions from the sentences of documents."""

from __future__ import annotations

import pytest

from rag_core.research.learning.inverse_cloze import write_cloze_question, write_pseudo_questions
from rag_core.types.chunks import ChunkRow


def row(number: int, text: str) -> ChunkRow:
    return ChunkRow(
        *(number, "version", number, number, 0, number, len(text), text, "report.pdf", "", 9, b""),
        *("document", "report.pdf", "1", None),
    )


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The Harrow Bridge was opened to traffic in 1931.", ("in which year?", "1931")),
        ("The county of Ostmark pays 2.4 million crowns for it.", ("pays how much crowns for it?", "2.4 million")),
        ("In 1931 the bridge was opened by Ada Marlow.", ("was opened by what?", "Ada Marlow")),
        ("The Lindow Canal has 9 locks.", ("has how many locks?", "9")),
    ],
)
def test_last_name_or_figure_becomes_the_answer(sentence: str, expected: tuple[str, str]) -> None:
    written = write_cloze_question(sentence)
    assert written is not None
    assert written[0].endswith(expected[0])
    assert written[1] == expected[1]


@pytest.mark.parametrize(
    "sentence",
    [
        "It was opened to traffic after a long delay.",
        "The bridge of the county was opened in 1931.",
        "Harrow has a bridge in the town of Harrow.",
    ],
)
def test_sentence_without_two_values_or_with_a_repeated_answer_gives_no_question(sentence: str) -> None:
    assert write_cloze_question(sentence) is None


def test_sentence_is_taken_out_of_its_passage() -> None:
    text = "The Harrow Bridge carries the railway over the river.\nIt was opened by the Duke of Marlow in May 1931."
    (written,) = write_pseudo_questions([row(1, text)], 5)
    assert written.sentence in text
    assert written.sentence not in written.passage_without_sentence
    assert written.passage_without_sentence == "The Harrow Bridge carries the railway over the river."
    assert written.answer not in written.question


def test_repeated_sentences_give_one_question_and_the_number_is_limited() -> None:
    text = "The Harrow Bridge in Ostmark was opened to the public by Ada Marlow in 1931."
    other = "The Lindow Canal near Brennick was dug by forty men and opened to boats in 1811."
    assert len(write_pseudo_questions([row(1, text), row(2, text)], 5)) == 1
    assert len(write_pseudo_questions([row(1, text), row(2, other)], 1)) == 1
    assert write_pseudo_questions([row(1, "Total assets 12 13\nTotal debts 14 15")], 5) == []
    assert write_pseudo_questions([row(1, text), row(2, other)], 2) == write_pseudo_questions(
        [row(1, text), row(2, other)], 2
    )
