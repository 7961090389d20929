"""Cells that a question names with all its words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_core.reading.named_cells import find_named_cells, list_named_sections
from tests.unit.reading.test_table_periods import build

COSTS = (
    ("", "2021", "2020", "% change"),
    ("Membership fees", "3,877", "3,541", "9%"),
    ("Membership fees increase", "336", "189", "78%"),
    ("Storage costs (1)", "170", "144", "18%"),
)
PLANS = (("", "Plan 2021", "Actual 2021"), ("Storage costs", "180", "170"))


def find(question: str, row: int, lines: tuple[tuple[str, ...], ...] = COSTS, document: str = "Acme") -> list[str]:
    table = build(lines)
    return [cell.text for cell in find_named_cells(question, table, table.body[row], document, "", with_caption=False)]


@pytest.mark.parametrize(
    ("question", "row", "cells"),
    [
        ("What were the membership fees of Acme in 2021?", 0, ["3,877"]),
        ("What were Acme's membership fees in 2020 and 2021?", 0, ["3,541", "3,877"]),
        ("How much were Acme's storage costs in 2020?", 2, ["144"]),
        ("What were Acme's storage costs in 2020, in millions?", 2, ["144"]),
    ],
)
def test_cell_of_each_period_is_found(question: str, row: int, cells: list[str]) -> None:
    assert find(question, row) == cells


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("What were the average membership fees of Acme in 2021?", 0),
        ("What were the membership fees of Bolt in 2021?", 0),
        ("What were the membership fees of Acme in 2021?", 1),
        ("What were the membership fees of Acme in 2019?", 0),
        ("What were the membership fees of Acme?", 0),
    ],
)
def test_other_word_period_or_row_finds_nothing(question: str, row: int) -> None:
    assert find(question, row) == []


def test_acronyms_are_explained_by_their_words() -> None:
    table = replace(build((("", "2021"), ("Apparel", "294"))), caption=("Europe, Middle East & Africa",))

    def found(question: str, *, with_caption: bool = True) -> list[str]:
        cells = find_named_cells(question, table, table.body[0], "Acme", "", with_caption=with_caption)
        return [cell.text for cell in cells]

    assert found("What did Acme report for apparel in EMEA in 2021?") == ["294"]
    assert found("What did Acme report for apparel in EMEA in 2021?", with_caption=False) == []
    assert found("What did Acme report for apparel in APAC in 2021?") == []


def test_section_is_named_by_all_its_words() -> None:
    row = replace(build((("", "2021"), ("Cloud", "75"))).body[0], section=("Operating income",))
    assert list_named_sections("What was the operating income of Cloud in 2021?", row) == ["Operating income"]
    assert list_named_sections("What was the income of Cloud in 2021?", row) == []


def test_noun_after_the_name_of_a_segment_is_not_in_the_table() -> None:
    lines = (("", "2021"), ("Space", "403"), ("Costs", "91"))
    assert find("What did Acme report for the Space segment in 2021?", 0, lines) == ["403"]
    assert find("What were Acme's segment costs in 2021?", 1, lines) == []


def test_question_must_name_the_column() -> None:
    assert find("What were the storage costs in 2021?", 0, PLANS) == []
    assert find("What were the actual storage costs in 2021?", 0, PLANS) == ["170"]


def test_names_that_a_file_name_joins_are_known() -> None:
    assert find("What were the membership fees of Best Mills in 2021?", 0, document="BESTMILLS_2021.pdf") == ["3,877"]


def test_period_in_the_caption_is_that_of_all_cells() -> None:
    table = replace(
        build((("", "Net sales", "Currency"), ("Canada", "2,173", "5"), ("Peru", "310", "2"))), caption=("2018",)
    )

    def found(question: str) -> list[str]:
        cells = find_named_cells(question, table, table.body[0], "Acme", "", with_caption=False)
        return [cell.text for cell in cells]

    assert found("What net sales did Acme report in Canada in 2018?") == ["2,173"]
    assert found("What net sales did Acme report in Canada in 2017?") == []
    assert found("What net sales did Acme report in Canada in 2017 and 2018?") == []
