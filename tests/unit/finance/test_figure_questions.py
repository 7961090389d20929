"""Questions for a figure of annual statements."""

from __future__ import annotations

import pytest

from rag_core.finance.expressions import find_operands
from rag_core.finance.figure_questions import parse_figure_question
from rag_core.finance.standard_measures import Unit
from rag_core.finance.years import find_years


@pytest.mark.parametrize(
    ("question", "label", "unit"),
    [
        (
            "What were Acme's total current assets at the end of FY2019?",
            "total current assets, fiscal 2019",
            Unit.MONEY,
        ),
        ("FY2018 accounts payable: how much had Acme?", "accounts payable, fiscal 2018", Unit.MONEY),
        ("What was Acme's capex in FY18?", "capital expenditures, fiscal 2018", Unit.MONEY),
        ("What is the gross margin of Acme in 2020?", "gross margin, fiscal 2020", Unit.PERCENT),
        ("Compute Acme's quick ratio for fiscal 2020.", "quick ratio, fiscal 2020", Unit.RATIO),
        ("How long was the cash conversion cycle of Acme in 2020?", "cash conversion cycle, fiscal 2020", Unit.DAYS),
        ("By how much did Acme's revenue grow in 2021?", "change in revenue, fiscal 2020 to 2021", Unit.MONEY),
        ("What was the growth rate of net sales in 2021?", "growth of revenue, fiscal 2020 to 2021", Unit.PERCENT),
        (
            "What is the 3 year average of capex as a % of revenue from FY2017 to FY2019?",
            "average capital expenditures as a share of revenue, fiscal 2017 to 2019",
            Unit.PERCENT,
        ),
        (
            "What was the 2-year CAGR of sales to 2020?",
            "compound annual growth of revenue, fiscal 2018 to 2020",
            Unit.PERCENT,
        ),
    ],
)
def test_figure_is_recognized(question: str, label: str, unit: Unit) -> None:
    request = parse_figure_question(question)
    assert request is not None
    assert (request.label, request.unit) == (label, unit)


@pytest.mark.parametrize(
    "question",
    [
        "What was the total annual revenue of Acme in 2020?",
        "What was Acme's consolidated revenue in 2020?",
        "What was the revenue of Acme in 2020 from the income statement?",
        "How much revenue did the company make in 2020?",
        "What was the total revenue earned by the company in 2020?",
        "What was the revenue of Acme in the Income Statement of 2020?",
        "What was the revenue of Acme in USD millions in 2020?",
        "What is the 2020 revenue directly stated in Acme's income statement?",
        "What was Acme's year end 2020 total revenue (in USD millions)?",
    ],
)
def test_words_that_mean_the_whole_company_do_not_prevent_a_figure(question: str) -> None:
    request = parse_figure_question(question)
    assert request is not None
    assert request.label == "revenue, fiscal 2020"


def test_several_years_ask_for_several_figures() -> None:
    request = parse_figure_question("What was Acme-Bolt's revenue in 2018, 2019 and 2020?")
    assert request is not None
    labels = [one.label for one in (request, *request.others)]
    assert labels == ["revenue, fiscal 2020", "revenue, fiscal 2019", "revenue, fiscal 2018"]


@pytest.mark.parametrize(
    "question",
    [
        "Who founded Acme in 2020?",
        "Why did the gross margin of Acme fall in 2020?",
        "Which segment had the highest net income in 2020?",
        "What was the revenue of Acme in Q2 2020?",
        "What was the revenue of Acme in 1Q20, as against 2020?",
        "What was the revenue of Acme in H2 2020?",
        "What was the revenue of Acme in the first half of 2020?",
        "What is the gross margin of Acme?",
        "What are the total assets and the total liabilities of Acme in 2020?",
        "What was the adjusted EBITDA of Acme in 2020?",
        "What revenue does Acme expect in 2025?",
        "What was Acme's licence revenue in 2020?",
        "What were the hotel and casino revenues of Acme in 2020?",
        "What was the accumulated depreciation of Acme in 2020?",
        "What was Acme's revenue from subscriptions in 2020?",
        "What share of Acme's revenue in 2020 came from licences?",
        "What were the wages of Acme as a percent of revenue in 2020?",
        "What was Acme's revenue in 2020, excluding currency effects?",
        "What was Acme's PC revenue in 2020?",
        "What was Acme's total U.S. revenue in 2020?",
        "What average price did Acme pay per share for its buybacks in 2020?",
        "What was the fair value of the bonds that Acme held as short-term investments in 2020?",
        "What was Acme's revenue in the United States in 2020?",
        "How much revenue did the streaming business generate for Acme in 2020?",
        "What was Acme's gross profit rate in 2020?",
        "What dividends per share did Acme pay in 2020?",
        "How many people did Acme employ in sales in 2020?",
        "What share of Acme's 2020 sales came from hulls?",
        "Were there any events that increased the net income of Acme in 2020?",
        "When did the revenue of Acme fall in 2020?",
        "What is the asset score in 2020? Asset score is defined as: total assets / number of mines.",
    ],
)
def test_other_questions_ask_for_no_figure(question: str) -> None:
    assert parse_figure_question(question) is None


def test_definition_in_the_question_replaces_the_standard_formula() -> None:
    question = (
        "What is the FY2020 inventory turnover of Acme? Inventory turnover is defined as: FY2020 revenue / "
        "(average inventory between FY2019 and FY2020). Round your answer to three decimal places."
    )
    request = parse_figure_question(question)
    assert request is not None
    assert request.decimals == 3
    assert [(one.item.name, one.year) for one in find_operands(request.expression)] == [
        ("revenue", 2020),
        ("inventories", 2019),
        ("inventories", 2020),
    ]


def test_operator_in_the_question_joins_two_lines() -> None:
    request = parse_figure_question("What is the FY2020 EBITDA less capex of Acme?")
    assert request is not None
    assert request.unit is Unit.MONEY
    assert [one.item.name for one in find_operands(request.expression)] == [
        "operating income",
        "depreciation and amortization",
        "capital expenditures",
    ]


def test_definitions_may_use_each_other() -> None:
    question = (
        "What is the FY2020 unadjusted EBITDA margin of Acme? Define unadjusted EBITDA as gross profit - SG&A + D&A "
        "(from the cash flow statement)."
    )
    request = parse_figure_question(question)
    assert request is not None
    names = [one.item.name for one in find_operands(request.expression)]
    assert names[0] == "gross profit"
    assert names[-1] == "revenue"


def test_measure_that_only_the_question_defines_gets_the_unit_of_its_formula() -> None:
    ratio = parse_figure_question("What is the FY2020 plant ratio? Define plant ratio as net PP&E / total assets.")
    amount = parse_figure_question("What is the FY2020 plant gap? Define plant gap as total assets less net PP&E.")
    assert ratio is not None
    assert amount is not None
    assert (ratio.unit, amount.unit) == (Unit.RATIO, Unit.MONEY)


@pytest.mark.parametrize(
    ("instruction", "decimals", "scale"),
    [
        ("Answer in USD millions.", None, 6),
        ("Answer in billions of dollars and round to one decimal place.", 1, 9),
        ("Give the answer (in USD thousands), with no decimals.", 0, 3),
        ("", None, None),
    ],
)
def test_rounding_and_scale_are_read(instruction: str, decimals: int | None, scale: int | None) -> None:
    request = parse_figure_question(f"What were the total assets of Acme in 2020? {instruction}")
    assert request is not None
    assert (request.decimals, request.scale) == (decimals, scale)


def test_subject_keeps_the_company() -> None:
    request = parse_figure_question("What was Acme's Gross Margin in FY2020?")
    assert request is not None
    assert "Acme" in request.subject
    assert "Margin" not in request.subject


def test_years_of_ranges_are_found() -> None:
    assert find_years("FY2015 - FY2017") == [2015, 2017]
    assert find_years("from 2019 to 2021") == [2019, 2021]
    assert find_years("$2,020 and 2015.5 and 2020-21") == [2020, 2021]
