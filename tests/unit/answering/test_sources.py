"""Excerpts that sources propose, and their selection."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_core.answering.sources.candidates import Candidate, Quote
from rag_core.answering.sources.excerpts import MAX_ROWS, MAX_WORDS, Excerpts
from rag_core.answering.sources.selection import MAX_EXCERPTS, select
from rag_core.reading.answer_finding import FoundAnswer
from rag_core.reading.excerpts import Excerpt, PageSpan, build_row_excerpt
from rag_core.types.retrieval import Gate
from rag_core.types.tables import Table, TableCell, TableRow
from tests.support.passages import passage

GATE = Gate("answerable", 0.9, 0.8, answerable=True)
KEY = ("v1", 0)


def found(start: int, end: int, answer: tuple[int, int], score: float = 0.0) -> FoundAnswer:
    source = passage(page_index=0, start=0)
    excerpt = Excerpt(source, 0, "", ((0, end - start, PageSpan(start, end)),))
    return FoundAnswer(excerpt, PageSpan(*answer), "", 0.9, 1.0, score)


def candidate(start: int, end: int, score: float, **changes: object) -> Candidate:
    return Candidate(passage(page_index=0, start=0, **changes), (Quote(start, end),), 0.9, score)


@pytest.mark.parametrize(("probability", "marks"), [(0.9, ((4, 8),)), (0.1, ())])
def test_only_a_probable_answer_is_marked(probability: float, marks: tuple[tuple[int, int], ...]) -> None:
    answer = replace(found(0, 12, (4, 8)), probability=probability)
    (one,) = Excerpts().propose([answer], {KEY: "The mill is."})
    assert one.quotes[0].marks == marks


def test_words_around_the_answer_are_quoted_from_a_long_sentence() -> None:
    words = [f"word{number}" for number in range(100, 300)]
    text = " ".join(words)
    at = text.index("word250")
    (one,) = Excerpts().propose([found(0, len(text), (at, at + 7))], {KEY: text})
    (quote,) = one.quotes
    quoted = text[quote.start : quote.end].split()
    assert len(quoted) == MAX_WORDS
    assert "word250" in quoted
    assert [text[slice(*mark)] for mark in quote.marks] == ["word250"]


def test_short_sentences_are_quoted_whole() -> None:
    text = "The bridge opened in 1931. It is 88 metres long."
    (one,) = Excerpts().propose([found(27, len(text), (33, 42))], {KEY: text})
    assert [text[quote.start : quote.end] for quote in one.quotes] == ["It is 88 metres long."]


def test_sentences_of_a_mail_are_quoted_with_its_header() -> None:
    header = "From: Ada Holm <a@h.no>\nDate: 2 March 2020"
    text = f"{header}\n\nThe kiln is cold. It needs two new doors."
    start = text.index("It needs")
    one, other = (
        next(Excerpts().propose([found(first, last, (first, first + 2))], {KEY: text}))
        for first, last in ((start, len(text)), (len(header) + 2, start))
    )
    assert [text[quote.start : quote.end] for quote in one.quotes] == ["It needs two new doors.", header]
    assert not one.overlaps(other)


@pytest.mark.parametrize(("answer", "quoted"), [((19, 21), "It has 12 arches."), ((0, 10), None)])
def test_heading_of_the_section_is_left_out(answer: tuple[int, int], quoted: str | None) -> None:
    text = "The bridge\nIt has 12 arches."
    one = found(0, len(text), answer)
    one = replace(
        one, excerpt=replace(one.excerpt, passage=passage(page_index=0, start=0, heading="Report › The bridge"))
    )
    (proposed,) = Excerpts().propose([one], {KEY: text})
    assert [text[quote.start : quote.end] for quote in proposed.quotes] == [quoted or text]


def test_rows_of_a_table_are_one_excerpt() -> None:
    rows = [
        TableRow((TableCell(f"B{number}", ((10 * number, 10 * number + 2),), 0), _figure(number)))
        for number in range(1, 10)
    ]
    table = Table(tuple(rows), 0, ((0.0, 9.0), (10.0, 19.0)))
    answers = []
    for score, row in zip([1, 2, 3, 9, 4, 5, 6, 7, 8], rows, strict=True):
        excerpt = build_row_excerpt(passage(page_index=0, start=0), 0, table, row)
        assert excerpt is not None
        cell = row.cells[1]
        answers.append(FoundAnswer(excerpt, PageSpan(cell.start, cell.end, cell), cell.text, 0.5, 0.0, score))
    answers.sort(key=lambda one: -one.score)
    (one,) = Excerpts().propose(answers, {KEY: ""})
    assert [row.label for row in one.rows] == ["B4", "B5", "B6", "B7", "B8", "B9"]
    assert len(one.quotes) == MAX_ROWS
    assert [quote.marks for quote in one.quotes if quote.marks] == [rows[3].cells[1].spans]
    assert one.score == 9


def _figure(number: int) -> TableCell:
    return TableCell(f"{number}0", ((10 * number + 4, 10 * number + 6),), 1)


def test_excerpts_are_from_different_places_and_differ() -> None:
    text = "One one. Two two. One one. Three three. Four. Five. Six. "
    candidates = [
        candidate(0, 8, 9.0),
        candidate(0, 17, 8.0),
        candidate(18, 26, 7.0),
        candidate(9, 17, 6.0),
        candidate(27, 39, 5.0),
        *(candidate(at, at + 4, 4.0) for at in (40, 46, 52)),
    ]
    chosen = select(candidates, GATE, {KEY: text}).excerpts
    assert [text[one.quotes[0].start : one.quotes[0].end] for one in chosen] == [
        "One one.",
        "Two two.",
        "Three three.",
        "Four",
        "Five",
    ]
    assert len(chosen) == MAX_EXCERPTS


def test_gate_refuses_without_candidates_and_is_corrected_by_the_reading() -> None:
    assert not select([], GATE, {}).gate.answerable
    unlikely = replace(candidate(0, 4, 1.0), probability=1e-4)
    assert not select([unlikely], GATE, {KEY: "text"}).gate.answerable
    assert select([candidate(0, 4, 1.0)], GATE, {KEY: "text"}).gate.answerable
