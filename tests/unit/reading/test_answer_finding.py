"""Excerpts of pages, and the choice of the answer in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from rag_core.gate.calibration import weigh_reading
from rag_core.reading.answer_finding import find_answers
from rag_core.reading.excerpts import (
    MAX_CHARS,
    MAX_EXCERPTS,
    build_row_excerpt,
    select_excerpts,
    split_windows,
)
from rag_core.reading.similarity import skip_comparison
from rag_core.types.documents import WATERMARK
from rag_core.types.retrieval import Gate, Passage, Reading
from rag_core.types.tables import Table, TableCell, TableRow
from tests.support.passages import passage

PROSE = "The bridge was opened in 1931. It has 12 arches."
PAGE = "Sales by region\nRegion 2022 2023\nNorth 41 47\nSouth 52 50\n" + PROSE


def cell(text: str, column: int, after: int = 0, *, is_header: bool = False) -> TableCell:
    start = PAGE.index(text, after)
    return TableCell(text, ((start, start + len(text)),), column, is_header=is_header)


HEADER = TableRow(tuple(cell(text, column, is_header=True) for column, text in enumerate(("Region", "2022", "2023"))))
NORTH = TableRow((cell("North", 0), cell("41", 1), cell("47", 2)))
SOUTH = TableRow((cell("South", 0), cell("52", 1), cell("50", 2)))
TABLE = Table(
    (HEADER, NORTH, SOUTH), 1, ((0.0, 9.0), (10.0, 19.0), (20.0, 29.0)), ("Sales by region",), "(in millions)"
)
KEY = ("v1", 0)


def on_page(text: str = PAGE, version_id: str = "v1") -> Passage:
    return passage(text=text, version_id=version_id, page_index=0, start=0, scores={"rerank": 0.6})


def test_row_has_caption_unit_and_headers() -> None:
    excerpt = build_row_excerpt(on_page(), 0, TABLE, NORTH)
    assert excerpt is not None
    assert excerpt.text == "Sales by region\n(in millions)\nNorth | 2022: 41 | 2023: 47"
    start = excerpt.text.index("47")
    place = excerpt.locate(start, start + 2)
    assert place is not None
    assert PAGE[place.start : place.end] == "47"
    assert place.cell is NORTH.cells[2]


def test_section_rows_are_no_excerpts() -> None:
    section = TableRow((NORTH.cells[0],), is_section=True)
    assert build_row_excerpt(on_page(), 0, TABLE, section) is None


def test_sentences_of_a_table_are_read_as_rows_only() -> None:
    excerpts = select_excerpts("How many arches?", [on_page()], {KEY: PAGE}, {KEY: (TABLE,)}, skip_comparison)
    assert sum(one.row is not None for one in excerpts) == 2
    assert [one.text for one in excerpts if one.row is None and "North" in one.text] == []
    assert any(PROSE in one.text for one in excerpts)


def test_whole_page_is_read_around_a_passage() -> None:
    text = "Nothing of interest here at all. " * 20 + PROSE
    near = on_page(text[:60])
    found = select_excerpts("How many arches has the bridge?", [near], {KEY: text}, {}, skip_comparison)
    assert any("12 arches" in one.text for one in found)
    alone = select_excerpts("How many arches has the bridge?", [near], {}, {}, skip_comparison)
    assert not any("12 arches" in one.text for one in alone)


def test_watermark_is_in_no_excerpt() -> None:
    text = f"{PROSE}\n\n{WATERMARK}DRAFT"
    (excerpt,) = select_excerpts("How many arches?", [on_page(text)], {KEY: text}, {}, skip_comparison)
    assert excerpt.text == PROSE


def test_number_of_excerpts_is_limited() -> None:
    text = "\n".join(f"Bridge {number} is old.\n\n" + " ".join(["A b c."] * 20) for number in range(90))
    assert len(select_excerpts("bridges", [on_page(text)], {KEY: text}, {}, skip_comparison)) == MAX_EXCERPTS
    text = " ".join(f"Sentence {number} of the page has some words about bridges." for number in range(900))
    excerpts = select_excerpts("bridges", [on_page(text)], {KEY: text}, {}, skip_comparison)
    assert 0.9 * MAX_CHARS < sum(len(one.text) for one in excerpts) <= MAX_CHARS


def test_best_excerpt_is_kept_however_long_it_is() -> None:
    text = " ".join(["bridge"] * MAX_CHARS) + "."
    assert [one.text for one in select_excerpts("bridges", [on_page(text)], {KEY: text}, {}, skip_comparison)] == [text]


@pytest.mark.parametrize("words", [1, 69, 70, 71, 400])
def test_windows_cover_every_sentence(words: int) -> None:
    text = " ".join(f"A{number} b c d e f." for number in range(words // 6 + 1))
    windows = split_windows(text)
    covered = {place for start, end in windows for place in range(start, end)}
    assert all(place in covered for place, char in enumerate(text) if not char.isspace())
    assert windows == sorted(windows)


def test_windows_contain_no_part_of_a_table() -> None:
    text = "Prices\n\nModel Power\nA 5\nB 7\n\nThe prices are valid in May."
    table = (text.index("Model"), text.index("\n\nThe"))
    windows = split_windows(text, [table])
    assert [text[start:end].strip() for start, end in windows] == ["Prices", "The prices are valid in May."]


def test_answer_in_the_best_passage_is_preferred() -> None:
    first, second = on_page(PROSE), on_page("The bridge was opened in 1950.", "v2")

    def read(pairs: Sequence[tuple[str, str]]) -> Iterator[Reading]:
        for _, text in pairs:
            at = text.index("19")
            yield Reading(0.9, at, at + 4, 1.0)

    answers = find_answers("When was it opened?", [first, second], {}, {}, read, skip_comparison)
    assert [answer.text for answer in answers] == ["1931", "1950"]


@pytest.mark.parametrize(("enough", "read"), [(None, 5), (1, 1), (2, 5)])
def test_reading_ends_when_the_rest_fits_the_question_much_less(enough: int | None, read: int) -> None:
    # A passage per page: the first one has the words of the question.
    others = [on_page(f"The ferry sails on Fridays at {number}.", f"v{number}") for number in range(2, 6)]
    passages = [on_page(PROSE), *(replace(one, scores={"rerank": 0.1}) for one in others)]
    texts: list[str] = []

    def record(pairs: Sequence[tuple[str, str]]) -> Iterator[Reading]:
        for _, text in pairs:
            texts.append(text)
            yield Reading(0.9 if "1931" in text else 0.01, 0, 3, 4.0 if "1931" in text else -6.0)

    found = find_answers("When was the bridge opened?", passages, {}, {}, record, skip_comparison, enough=enough)
    assert len(found) == len(texts) == read
    assert "1931" in found[0].excerpt.text


def test_reading_corrects_the_gate() -> None:
    gate = Gate("answerable", 0.45, 0.5, answerable=False)
    assert weigh_reading(gate, 0.99, can_raise=True).answerable
    assert not weigh_reading(gate, 0.99, can_raise=False).answerable
    assert not weigh_reading(replace(gate, score=0.85, answerable=True), 0.001, can_raise=True).answerable
    other = replace(gate, score_name="rerank")
    assert weigh_reading(other, 0.99, can_raise=True) == other


def test_rows_of_a_similar_code_are_left_out() -> None:
    text = "KX-4411 12\nKX-4412 31"
    rows = [
        TableRow((TableCell(code, ((start, start + 7),), 0), TableCell(pack, ((start + 8, start + 10),), 1)))
        for code, pack, start in (("KX-4411", "12", 0), ("KX-4412", "31", 11))
    ]
    table = Table(tuple(rows), 0, ((0.0, 9.0), (10.0, 19.0)))
    found = select_excerpts(
        "How many are in a pack of KX-4412?", [on_page(text)], {KEY: text}, {KEY: (table,)}, skip_comparison
    )
    assert [one.row for one in found if one.row] == [rows[1]]


@pytest.mark.parametrize(
    ("text", "token", "answer"),
    [
        ("Its staff is forty-one.", "forty", "forty-one"),
        ("It costs $5 a day.", "5", "$5"),
        ("It rose by 4.5% in May.", "5", "4.5%"),
        ("It opens at 9:15 daily.", "9", "9:15"),
        ("The pump is P-40, not P-41.", "40", "P-40"),
        ("It has 12 arches.", "12 arches", "12 arches"),
    ],
)
def test_answer_consists_of_whole_words(text: str, token: str, answer: str) -> None:
    def read(pairs: Sequence[tuple[str, str]]) -> Iterator[Reading]:
        for _, one in pairs:
            start = one.index(token)
            yield Reading(0.9, start, start + len(token), 4.0)

    [found] = find_answers("What?", [on_page(text)], {KEY: text}, {}, read, skip_comparison)
    assert found.text == answer
    assert text[found.place.start : found.place.end] == answer


def test_row_whose_caption_is_marked_is_found_without_a_mark() -> None:
    def read(pairs: Sequence[tuple[str, str]]) -> Iterator[Reading]:
        for _, one in pairs:
            start = one.find("Sales by")
            yield Reading(0.9, max(start, 0), max(start, 0) + 5, 4.0)

    found = find_answers("What of North?", [on_page()], {KEY: PAGE}, {KEY: [TABLE]}, read, skip_comparison)
    rows = [one for one in found if one.excerpt.row is NORTH]
    assert [(one.text, one.place.start == one.place.end) for one in rows] == [("", True)]


@pytest.mark.parametrize(
    ("question", "ends", "marked"),
    [
        ("What were sales of North in fiscal 2022?", ("January 29, 2022", "January 28, 2023"), ""),
        ("What were sales of North in fiscal 2022?", ("December 31, 2022", "December 31, 2023"), "41"),
        ("What were sales of North on January 29, 2022?", ("January 29, 2022", "January 28, 2023"), "41"),
    ],
)
def test_cell_of_a_fiscal_year_that_may_have_another_name_is_not_marked(
    question: str, ends: tuple[str, str], marked: str
) -> None:
    heads = tuple(replace(one, text=text) for one, text in zip(HEADER.cells[1:], ends, strict=True))
    table = replace(TABLE, rows=(TableRow((HEADER.cells[0], *heads)), NORTH, SOUTH))

    def read(pairs: Sequence[tuple[str, str]]) -> Iterator[Reading]:
        for _, one in pairs:
            start = max(one.find("41"), 0)
            yield Reading(0.9, start, start + 2, 4.0)

    found = find_answers(question, [on_page()], {KEY: PAGE}, {KEY: [table]}, read, skip_comparison)
    assert [one.text for one in found if one.excerpt.row is NORTH] == [marked]
