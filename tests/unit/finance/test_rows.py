"""Quoted rows of financial statements."""

from __future__ import annotations

import pytest

from rag_core.finance.statement_rows import MAX_ROWS, read_rows
from tests.support.passages import passage

SHEET = """\
Consolidated Balance Sheets
December 31, 2022 2021
Current assets:
Cash and cash equivalents 120 115
Total current assets 860 790
Treasury stock, 458 shares at December 31, 2022 and 2021 (31,858) (28,173)
Total Acme shareholders' equity 710 750
Total liabilities and shareholders' equity 1,570 1,540"""


def test_rows_are_quoted_in_requested_order_with_years_once() -> None:
    text, citations = read_rows(["total current assets", "cash"], [passage(text=SHEET)])
    assert text.splitlines() == [
        "December 31, 2022 2021 [1]",
        "Total current assets 860 790 [1]",
        "Cash and cash equivalents 120 115 [1]",
    ]
    assert [SHEET[citation.start - 100 : citation.end - 100] for citation in citations] == [
        citation.quote for citation in citations
    ]


def test_row_with_the_closest_name_is_quoted() -> None:
    text, _ = read_rows(["shareholders equity"], [passage(text=SHEET)])
    assert "Total Acme shareholders' equity 710 750" in text
    assert "1,570" not in text
    # Two amounts after years are not a row of years.
    assert "Treasury" not in text


@pytest.mark.parametrize(
    ("line", "text"),
    [("current assets", "Current assets:\nOf those we had more."), ("inventories", SHEET)],
    ids=["no figures", "no such row"],
)
def test_nothing_is_quoted_without_a_row(line: str, text: str) -> None:
    assert read_rows([line], [passage(text=text)]) == ("", ())


def test_number_of_rows_is_limited() -> None:
    many = "\n".join(f"{name} reserve 1,{number}00 1,{number}50" for number, name in enumerate("abcdefghij"))
    _, citations = read_rows([f"{name} reserve" for name in "abcdefghij"], [passage(text=many)])
    assert len(citations) <= MAX_ROWS
