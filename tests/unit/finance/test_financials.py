"""Which statements a question is answered from, and finding them among chunks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rag_core.finance.lookup import FinancialLookup
from rag_core.finance.measures import MAX_CHUNKS, MAX_CHUNKS_FOR_CAUSE, Statement, StatementPlan, plan_lookup
from rag_core.retrieval.pipeline import RetrievedHits, SectionRanker, rank_chunks
from rag_core.types import Hit
from rag_core.types.retrieval import Timer

BALANCE, INCOME, CASH = Statement
TEXTS = {
    1: "Acme 2022 › Consolidated Balance Sheets\nTotal current assets 12 11",
    2: "Acme 2022 › Risks\nOur current ratio may fall.",
    3: "Acme 2022 › Consolidated Statement of Earnings\nRevenue 90 80",
    4: "Acme 2022 › Notes\n" + 300 * "x" + " balance sheets",
}


@pytest.mark.parametrize(
    ("question", "statements"),
    [
        ("What is Acme's current ratio?", {BALANCE}),
        ("How did the net working capital change?", {BALANCE}),
        ("What was the gross margin in 2021?", {INCOME}),
        ("What was capex in FY2022?", {CASH}),
        ("What is the EBITDA margin?", {INCOME, CASH}),
        ("Return on assets in 2022?", {INCOME, BALANCE}),
        ("Is Acme a capital-intensive business?", {INCOME, BALANCE, CASH}),
        ("What does the P&L say of interest?", {INCOME}),
        ("List what the statement of financial position shows.", {BALANCE}),
        ("What was the DPO for 2020?", {INCOME, BALANCE}),
    ],
)
def test_the_statements_that_a_measure_is_computed_from(question: str, statements: set[Statement]) -> None:
    found = plan_lookup(question, [])
    assert found is not None
    assert set(found.statements) == statements
    assert all(statement.value in found.text for statement in statements)


@pytest.mark.parametrize(
    "question",
    [
        "Who founded Acme?",
        "What is the ratio of carbon to hydrogen?",
        "What is the capital of Peru?",
        "Which capex is expected for next year?",
        "What is the guidance for earnings per share?",
        "What is the debit?",
    ],
)
def test_other_questions_are_searched_as_they_stand(question: str) -> None:
    assert plan_lookup(question, []) is None


def test_a_statement_that_is_only_named_tells_no_measure() -> None:
    found = plan_lookup("What does Acme's balance sheet say of leases?", ["Acme"])
    assert found is not None
    assert (found.statements, found.lines) == ((BALANCE,), ())


def test_lines_and_the_rest_of_the_question_are_told_apart() -> None:
    found = plan_lookup("What was Acme's gross margin in FY2021, by the income statement?", ["Acme"])
    assert found is not None
    assert found.lines == ("revenue", "net sales", "cost of sales", "gross profit")
    assert found.rest.split() == "What was Acme's in FY2021, by the ?".split()


def test_what_the_question_names_is_looked_for_too() -> None:
    found = plan_lookup("What was Acme's gross margin in 2021?", ["Acme"])
    assert found is not None
    assert found.text == "Consolidated Statements of Income revenue net sales cost of sales gross profit Acme 2021"


@pytest.mark.parametrize(
    ("question", "most"), [("What drove the gross margin?", MAX_CHUNKS_FOR_CAUSE), ("EBIT?", MAX_CHUNKS)]
)
def test_a_cause_needs_the_figures_once(question: str, most: int) -> None:
    found = plan_lookup(question, [])
    assert found is not None
    assert found.most == most


def ranker(*statements: Statement, of_a_cause: bool = False, among: Sequence[tuple[int, float]] = ()) -> SectionRanker:
    ranked = [Hit(*pair) for pair in among or [(2, 0.9), (4, 0.8), (1, 0.7), (3, 0.6)]]
    return SectionRanker(
        StatementPlan(statements, (), "", "", of_a_cause),
        lambda chunk_ids: [hit for hit in ranked if hit.chunk_id in chunk_ids],
        lambda chunk_ids: {one: TEXTS[one] for one in chunk_ids if one in TEXTS},
    )


def test_a_statement_s_chunks_are_those_that_its_title_heads() -> None:
    balance, income = ranker(BALANCE, INCOME).rank([1, 2, 3, 4], [])
    assert [hit.chunk_id for hit in balance] == [1]
    assert [hit.chunk_id for hit in income] == [3]


def test_no_more_chunks_of_a_statement_than_count() -> None:
    TEXTS[5] = TEXTS[1]
    (balance,) = ranker(BALANCE, of_a_cause=True, among=[(5, 0.9), (1, 0.8)]).rank([1, 5], [])
    assert [hit.chunk_id for hit in balance] == [5]


def run(sections: SectionRanker | None) -> tuple[tuple[int, ...], set[str]]:
    found = RetrievedHits(
        *([Hit(2, 0.9)], [Hit(2, 7.0), Hit(4, 6.0)], [Hit(1, 5.0)] if sections else []),
        [Hit(2, 0.9), Hit(4, 0.8), *([Hit(1, 0.1)] if sections else [])],
    )
    ranking = rank_chunks(found, rank_by="financials", rrf_k=60, timer=Timer(), sections=sections)
    return ranking.order, {name for name, scores in ranking.scores.items() if scores}


def test_a_statement_comes_up_beside_what_was_found_for_the_question() -> None:
    order, scored = run(ranker(BALANCE))
    assert set(order[:2]) == {1, 2}
    assert order[2:] == (4,)
    assert "financials" in scored


def test_where_no_chunk_is_of_a_statement_the_reranked_order_stands() -> None:
    for sections in (None, ranker(CASH)):
        order, scored = run(sections)
        assert order[:2] == (2, 4)
        assert "financials" not in scored


def test_nothing_is_looked_up_if_it_is_turned_off() -> None:
    question = "What is Acme's current ratio?"
    assert FinancialLookup(enabled=True).plan(question, ["Acme"]) is not None
    assert FinancialLookup(enabled=False).plan(question, ["Acme"]) is None
