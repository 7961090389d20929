"""Which statements a question is answered from, and finding them among chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from rag_core.finance.measures import MOST, MOST_FOR_A_CAUSE, Financials, Lookup, Statement, lookup
from rag_core.retrieval.pipeline import Pipeline
from rag_core.types import Question
from rag_core.types.retrieval import Timer
from tests.unit.retrieval.test_pipeline import Fixed

BALANCE, INCOME, CASH = Statement
QUESTION = Question("q", np.ones(2, np.float32), np.ones((1, 2), np.float32), np.array([[0, 1]], np.int32))
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
    found = lookup(question, [])
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
    assert lookup(question, []) is None


def test_a_statement_that_is_only_named_tells_no_measure() -> None:
    found = lookup("What does Acme's balance sheet say of leases?", ["Acme"])
    assert found is not None
    assert (found.statements, found.lines) == ((BALANCE,), ())


def test_lines_and_the_rest_of_the_question_are_told_apart() -> None:
    found = lookup("What was Acme's gross margin in FY2021, by the income statement?", ["Acme"])
    assert found is not None
    assert found.lines == ("revenue", "net sales", "cost of sales", "gross profit")
    assert found.rest.split() == "What was Acme's in FY2021, by the ?".split()


def test_what_the_question_names_is_looked_for_too() -> None:
    found = lookup("What was Acme's gross margin in 2021?", ["Acme"])
    assert found is not None
    assert found.text == "Consolidated Statements of Income revenue net sales cost of sales gross profit Acme 2021"


@pytest.mark.parametrize(("question", "most"), [("What drove the gross margin?", MOST_FOR_A_CAUSE), ("EBIT?", MOST)])
def test_a_cause_needs_the_figures_once(question: str, most: int) -> None:
    found = lookup(question, [])
    assert found is not None
    assert found.most == most


def financials(*statements: Statement, of_a_cause: bool = False, among: Sequence[tuple[int, float]] = ()) -> Financials:
    def texts(chunk_ids: Sequence[int]) -> Mapping[int, str]:
        return {one: TEXTS[one] for one in chunk_ids if one in TEXTS}

    ranked = among or [(2, 0.9), (4, 0.8), (1, 0.7), (3, 0.6)]
    words = Fixed("bm25", (1, 5.0))
    return Financials(
        Lookup(statements, (), "", "", of_a_cause),
        lambda: (QUESTION, np.ones(1, np.float32)),
        words,
        Fixed("rerank", *ranked),
        texts,
    )


def test_a_statement_s_chunks_are_those_that_its_title_heads() -> None:
    balance, income = financials(BALANCE, INCOME).rankings([1, 2, 3, 4], [])
    assert [hit.chunk_id for hit in balance] == [1]
    assert [hit.chunk_id for hit in income] == [3]


def test_no_more_chunks_of_a_statement_than_count() -> None:
    TEXTS[5] = TEXTS[1]
    (balance,) = financials(BALANCE, of_a_cause=True, among=[(5, 0.9), (1, 0.8)]).rankings([1, 5], [])
    assert [hit.chunk_id for hit in balance] == [5]


def run(looked_up: Financials | None) -> tuple[tuple[int, ...], set[str]]:
    dense, words = Fixed("dense", (2, 0.9)), Fixed("bm25", (2, 7.0), (4, 6.0))
    reranker = Fixed("rerank", (2, 0.9), (4, 0.8), (1, 0.1))
    stages = Pipeline(dense, words, reranker, candidates=10, rrf_k=60, rank_by="financials", financials=looked_up)
    ranking = stages.run(QUESTION, None, Timer())
    return ranking.order, {name for name, scores in ranking.scores.items() if scores}


def test_a_statement_comes_up_beside_what_was_found_for_the_question() -> None:
    order, scored = run(financials(BALANCE))
    assert set(order[:2]) == {1, 2}
    assert order[2:] == (4,)
    assert "financials" in scored


def test_where_no_chunk_is_of_a_statement_the_reranked_order_stands() -> None:
    for looked_up in (None, financials(CASH)):
        order, scored = run(looked_up)
        assert order[:2] == (2, 4)
        assert "financials" not in scored
