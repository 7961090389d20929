"""Statements read from tables, and figures computed from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from rag_core.finance.computed_figures import ComputedFigure, compute_figure
from rag_core.finance.figure_questions import parse_figure_question
from rag_core.finance.line_items import BY_NAME
from rag_core.finance.statements import Statements
from rag_core.types.tables import Table, TableCell, TableRow

BALANCE = (
    ("", "December 31, 2020", "December 31, 2019"),
    ("Cash and cash equivalents", "$120", "$115"),
    ("Receivables, net of allowances of $3 and $4", "340", "310"),
    ("Inventories (Note 4)", "200", "100"),
    ("Total current assets", "860", "790"),
    ("Property and equipment, net", "700", "500"),
    ("Total assets", "$1,900", "$1,500"),
    ("Current portion of long-term debt", "50", "40"),
    ("Accounts payable", "410", "402"),
    ("Total current liabilities", "700", "655"),
    ("Long-term debt", "500", "600"),
)
INCOME = (
    ("", "2020", "2019", "2018"),
    ("Net sales", "$1,500.5", "$1,200.0", "$1,000.0"),
    ("Cost of sales", "(900.0)", "(800.0)", "(700.0)"),
    ("Operating profit", "300.0", "200.0", "150.0"),
    ("Net loss", "(20.0)", "(10.0)", "(5.0)"),
)
TITLES = {1: "Consolidated Balance Sheets", 2: "Consolidated Statements of Operations"}


def table(page_text: str, rows: Sequence[Sequence[str]], *, unit: str = "(in millions)", headers: int = 1) -> Table:
    """Return a table whose cells are in the text of the page in the order of the rows."""
    made, at = [], 0
    for number, row in enumerate(rows):
        cells = []
        for column, text in enumerate(row):
            if text:
                at = page_text.index(text, at)
                cells.append(TableCell(text, ((at, at + len(text)),), column, is_header=number < headers))
                at += len(text)
        made.append(TableRow(tuple(cells)))
    return Table(tuple(made), headers, ((0.0, 1.0),) * len(rows[0]), unit=unit)


def page_text(title: str, rows: Sequence[Sequence[str]]) -> str:
    return "\n".join([title, *(" ".join(row) for row in rows)])


def statements(
    *, balance: Sequence[Sequence[str]] = BALANCE, income: Sequence[Sequence[str]] = INCOME,
    cover: str = "ANNUAL REPORT", units: Mapping[int, str] | None = None,
) -> Statements:  # fmt: skip
    sheets = {1: balance, 2: income}
    texts = {0: cover} | {page: page_text(TITLES[page], rows) for page, rows in sheets.items()}
    units = units or {}
    tables = {page: [table(texts[page], rows, unit=units.get(page, "(in millions)"))] for page, rows in sheets.items()}
    return Statements(texts, lambda pages: {page: tables[page] for page in pages if page in tables})


def value(name: str, year: int, source: Statements) -> list[int]:
    return [int(figure.value) for figure in source.find(BY_NAME[name], year)]


def compute(question: str, source: Statements | None = None) -> ComputedFigure | None:
    request = parse_figure_question(question)
    assert request is not None
    return compute_figure(request, source or statements(), "acme.pdf")


def short(question: str, source: Statements | None = None) -> str:
    computed = compute(question, source)
    assert computed is not None
    return computed.short


def text(question: str, source: Statements | None = None) -> str:
    computed = compute(question, source)
    assert computed is not None
    return "".join(piece.text for piece in computed.pieces)


def test_lines_are_found_by_their_meaning_and_year() -> None:
    source = statements()
    assert value("accounts receivable", 2019, source) == [310_000_000]
    assert value("cost of goods sold", 2018, source) == [700_000_000]
    assert value("revenue", 2020, source) == [1_500_500_000]
    assert value("inventories", 2020, source) == [200_000_000]


def test_sum_has_all_its_rows() -> None:
    assert value("total debt", 2020, statements()) == [500_000_000, 50_000_000]


def test_other_years_have_no_figures() -> None:
    assert value("revenue", 2017, statements()) == []
    assert statements().years == {2018, 2019, 2020}


@pytest.mark.parametrize("part", ["Three months ended June 30, 2020", "1Q 2020", "H1 2020", "First half 2020"])
def test_columns_of_a_part_of_the_year_are_left_out(part: str) -> None:
    income = (
        ("", part, "Year ended June 30, 2020"),
        ("Revenue", "4", "16"),
        ("Net income", "1", "5"),
    )
    assert value("revenue", 2020, statements(income=income)) == [16_000_000]


def test_interim_report_has_no_annual_statements() -> None:
    assert statements(cover="QUARTERLY REPORT for the quarterly period ended June 30").years == frozenset()


def test_page_that_mentions_a_statement_is_none() -> None:
    prose = "The consolidated balance sheets are described below, with everything that belongs to them."
    rows = (("", "2020"), ("Total assets", "7"), ("Total current assets", "3"))
    texts = {0: prose, 1: page_text(prose, rows)}
    assert Statements(texts, lambda pages: {page: [table(texts[1], rows)] for page in pages}).years == frozenset()


def test_table_without_headers_takes_the_years_above_it() -> None:
    rows = (("Revenue", "4", "3"), ("Net income", "2", "1"))
    content = "Consolidated Statements of Income\n(in thousands)\nAugust 29,\n2021\nAugust 30,\n2020\n\n" + page_text(
        "", rows
    )
    part = table(content, rows, unit="(in thousands)", headers=0)
    assert value("revenue", 2020, Statements({0: content}, lambda pages: {page: [part] for page in pages})) == [3_000]


def test_fiscal_year_may_end_in_the_next_january() -> None:
    income = (("", "January 30, 2021", "February 1, 2020"), ("Revenue", "4", "3"), ("Net income", "2", "1"))
    stated = "ANNUAL REPORT. Fiscal 2020 is the year ended January 30, 2021."
    assert value("revenue", 2020, statements(income=income, cover=stated)) == [4_000_000]
    assert value("revenue", 2020, statements(income=income)) == [3_000_000]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What were Acme's total current assets in 2020?", "$860 million"),
        ("What was Acme's revenue in 2020?", "$1,500.5 million"),
        ("What was Acme's revenue in 2020? Answer in USD billions.", "$1.50 billion"),
        ("What was Acme's revenue in 2020? Answer in USD thousands.", "$1,500,500 thousand"),
        ("What was the net income of Acme in 2020?", "-$20.0 million"),
        ("What was Acme's current ratio in 2020?", "1.23"),
        ("What was Acme's current ratio in 2020? Round to three decimal places.", "1.229"),
        ("What was Acme's gross margin in 2019?", "33.3%"),
        ("What was Acme's fixed asset turnover in 2020?", "2.50"),
        ("What was the DIO of Acme in 2020?", "60.83 days"),
        ("What was Acme's net working capital in 2020?", "$160 million"),
        ("What was the revenue growth rate of Acme in 2019?", "20.0%"),
        ("Did Acme's total debt fall between 2019 and 2020?", "-$90 million (-14.1%)"),
        (
            "How much has Acme's gross margin changed between 2019 and 2020?",
            "+6.7 percentage points (from 33.3% to 40.0%)",
        ),
        ("How much has Acme's current ratio changed from 2019 to 2020?", "+0.02 (from 1.21 to 1.23)"),
        ("By how much did Acme's total assets grow in 2020?", "+$400 million (+26.7%)"),
        ("What was the 2 year CAGR of Acme's cost of goods sold to 2020?", "13.4%"),
    ],
)
def test_figure_is_computed_and_rounded(question: str, expected: str) -> None:
    assert short(question) == expected


def test_half_is_rounded_up() -> None:
    balance = (
        *BALANCE[:4],
        ("Total current assets", "1,005", "1"),
        *BALANCE[5:9],
        ("Total current liabilities", "1,000", "1"),
    )
    assert short("What was Acme's current ratio in 2020?", statements(balance=balance)) == "1.01"


def test_text_shows_the_computation() -> None:
    assert text("What was Acme's fixed asset turnover in 2020?") == (
        "2.50 · fixed asset turnover, fiscal 2020 = Net sales $1,500.5 million (2020) ÷ average of "
        "Property and equipment, net $500 million (2019) and $700 million (2020)"
    )


def test_missing_line_is_named_and_nothing_is_computed() -> None:
    question = "What was Acme's asset turnover in 2019?"
    assert short(question) == ""
    assert text(question) == (
        "Not computed: no total assets for fiscal 2018 in acme.pdf. Found: Net sales 2019 $1,200.0 million; "
        "Total assets 2019 $1,500 million"
    )


def test_unknown_scale_is_not_mixed_with_a_known_one() -> None:
    question = "What was Acme's asset turnover in 2020?"
    assert text(question, statements(units={1: ""})).startswith("Not computed: the statement does not say in what unit")
    assert short(question, statements(units={1: "", 2: ""})) == "0.88"
    assert short(question, statements(units={1: "(in thousands)"})) == "882.65"


def test_currencies_are_not_mixed() -> None:
    income = [[cell.replace("$", "€") for cell in row] for row in INCOME]
    assert "different currencies" in text("What was Acme's asset turnover in 2020?", statements(income=income))


def test_statements_without_the_lines_give_no_answer() -> None:
    assert compute("What was Acme's goodwill in 2020?") is None
