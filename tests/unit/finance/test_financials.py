"""Financial statements that a question needs, and their chunks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rag_core.finance.measures import MAX_CHUNKS, MAX_CHUNKS_FOR_CAUSE, Statement, StatementPlan, plan_lookup
from rag_core.retrieval.pipeline import RetrievedHits, SectionRanker, rank_chunks
from rag_core.types.retrieval import Hit, Timer

BALANCE, INCOME, CASH = Statement
TEXTS = {
    1: "Acme 2022 › Consolidated Balance Sheets\nTotal current assets 12 11",
    2: "Acme 2022 › Risks\nOur current ratio may fall.",
    3: "Acme 2022 › Consolidated Statement of Earnings\nRevenue 90 80",
    4: "Acme 2022 › Notes\n" + 300 * "x" + " balance sheets",
}


def plan(question: str, *names: str) -> StatementPlan:
    planned = plan_lookup(question, names)
    assert planned is not None
    return planned


@pytest.mark.parametrize(
    ("question", "statements"),
    [
        ("What is Acme's current ratio?", {BALANCE}),
        ("What was the gross margin in 2021?", {INCOME}),
        ("What was capex in FY2022?", {CASH}),
        ("What is the EBITDA margin?", {INCOME, CASH}),
        ("Is Acme a capital-intensive business?", {INCOME, BALANCE, CASH}),
        ("What does the P&L say of interest?", {INCOME}),
        ("List what the statement of financial position shows.", {BALANCE}),
        ("What was the DPO for 2020?", {INCOME, BALANCE}),
    ],
)
def test_statements_of_a_measure(question: str, statements: set[Statement]) -> None:
    planned = plan(question)
    assert set(planned.statements) == statements
    assert all(statement.value in planned.text for statement in statements)


@pytest.mark.parametrize(
    "question",
    [
        "Who founded Acme?",
        "What is the ratio of carbon to hydrogen?",
        "What is the debit?",
    ],
)
def test_other_questions_have_no_plan(question: str) -> None:
    assert plan_lookup(question, []) is None


def test_statement_without_a_measure_has_no_lines() -> None:
    planned = plan("What does Acme's balance sheet say of leases?", "Acme")
    assert (planned.statements, planned.lines) == ((BALANCE,), ())


def test_plan_has_lines_rest_of_question_and_names() -> None:
    planned = plan("What was Acme's gross margin in FY2021, by the income statement?", "Acme")
    assert planned.lines == ("revenue", "net sales", "cost of sales", "gross profit")
    assert planned.rest.split() == "What was Acme's in FY2021, by the ?".split()
    text = plan("What was Acme's gross margin in 2021?", "Acme").text
    assert text == "Consolidated Statements of Income revenue net sales cost of sales gross profit Acme 2021"


@pytest.mark.parametrize(
    ("question", "most"), [("What drove the gross margin?", MAX_CHUNKS_FOR_CAUSE), ("EBIT?", MAX_CHUNKS)]
)
def test_question_about_a_cause_needs_fewer_chunks(question: str, most: int) -> None:
    assert plan(question).max_chunks == most


def ranker(
    *statements: Statement, asks_for_cause: bool = False, among: Sequence[tuple[int, float]] = ()
) -> SectionRanker:
    ranked = [Hit(*pair) for pair in among or [(2, 0.9), (4, 0.8), (1, 0.7), (3, 0.6)]]
    return SectionRanker(
        StatementPlan(statements, (), "", "", asks_for_cause),
        lambda chunk_ids: [hit for hit in ranked if hit.chunk_id in chunk_ids],
        lambda chunk_ids: {chunk_id: TEXTS[chunk_id] for chunk_id in chunk_ids if chunk_id in TEXTS},
    )


def test_chunks_of_a_statement_begin_with_its_title() -> None:
    balance, income = ranker(BALANCE, INCOME).rank([1, 2, 3, 4], [])
    assert [hit.chunk_id for hit in balance] == [1]
    assert [hit.chunk_id for hit in income] == [3]


def test_number_of_chunks_of_a_statement_is_limited() -> None:
    TEXTS[5] = TEXTS[1]
    (balance,) = ranker(BALANCE, asks_for_cause=True, among=[(5, 0.9), (1, 0.8)]).rank([1, 5], [])
    assert [hit.chunk_id for hit in balance] == [5]


def run(sections: SectionRanker | None) -> tuple[tuple[int, ...], set[str]]:
    hits = RetrievedHits(
        {"dense": [Hit(2, 0.9)], "bm25": [Hit(2, 7.0), Hit(4, 6.0)]},
        [Hit(1, 5.0)] if sections else [],
        [Hit(2, 0.9), Hit(4, 0.8), *([Hit(1, 0.1)] if sections else [])],
    )
    ranking = rank_chunks(hits, rank_by="financials", rrf_k=60, timer=Timer(), sections=sections)
    return ranking.order, {name for name, scores in ranking.scores.items() if scores}


def test_statement_ranks_among_the_first_hits() -> None:
    order, scored = run(ranker(BALANCE))
    assert set(order[:2]) == {1, 2}
    assert order[2:] == (4,)
    assert "financials" in scored


@pytest.mark.parametrize("sections", [None, ranker(CASH)], ids=["no plan", "no chunk of the statement"])
def test_reranked_order_is_kept_without_a_statement(sections: SectionRanker | None) -> None:
    order, scored = run(sections)
    assert order[:2] == (2, 4)
    assert "financials" not in scored
