"""Rows of statements, quoted."""

from __future__ import annotations

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


def test_the_rows_asked_for_in_their_order_with_the_years_once() -> None:
    text, citations = read_rows(["total current assets", "cash"], [passage(text=SHEET)])
    assert text.splitlines() == [
        "December 31, 2022 2021 [1]",
        "Total current assets 860 790 [1]",
        "Cash and cash equivalents 120 115 [1]",
    ]
    assert [SHEET[one.start - 100 : one.end - 100] for one in citations] == [one.quote for one in citations]


def test_a_row_that_is_called_so_with_fewer_other_words_is_meant() -> None:
    text, _ = read_rows(["shareholders equity"], [passage(text=SHEET)])
    assert "Total Acme shareholders' equity 710 750" in text
    assert "1,570" not in text


def test_amounts_of_two_years_are_no_head() -> None:
    text, _ = read_rows(["shareholders equity"], [passage(text=SHEET)])
    assert "Treasury" not in text


def test_words_without_figures_are_no_row() -> None:
    assert read_rows(["current assets"], [passage(text="Current assets:\nOf those we had more.")]) == ("", ())


def test_a_row_of_another_name_is_not_quoted() -> None:
    assert read_rows(["inventories"], [passage(text=SHEET)]) == ("", ())


def test_no_more_rows_than_are_read() -> None:
    many = "\n".join(f"{name} reserve 1,{number}00 1,{number}50" for number, name in enumerate("abcdefghij"))
    _, citations = read_rows([f"{name} reserve" for name in "abcdefghij"], [passage(text=many)])
    assert len(citations) <= MAX_ROWS
