"""Ranking metrics compared with worked examples of the literature."""

from __future__ import annotations

import math

import pytest

from rag_core.evaluation.ranking_metrics import (
    compute_ranking_metrics,
    find_first_rank,
    list_ranked_pages,
    name_interpolated_precision,
)
from rag_core.types.documents import PageKey


def page(number: int) -> PageKey:
    return ("doc", number)


def values_of(pattern: str, elsewhere: int = 0) -> dict[str, float]:
    """Return the metrics of a ranking written as R (relevant) and N; ``elsewhere`` relevant pages are missing."""
    letters = pattern.replace(" ", "")
    relevant = [page(at) for at, letter in enumerate(letters) if letter == "R"]
    relevant += [page(1000 + at) for at in range(elsewhere)]
    return compute_ranking_metrics({"q": [page(at) for at in range(len(letters))]}, {"q": relevant})["q"]


# Manning, Raghavan and Schütze, "Introduction to Information Retrieval", 2008, exercise 8.8: four
# relevant documents, two systems.
FIRST, SECOND = "RNRNN NNNRR", "NRNNR RRNNN"
# Exercise 8.9: the top 20 of a ranking, eight documents relevant in all.
TOP_20 = "RRNNN NNNRN RNNNR NNNNR"


def test_average_precision_of_two_systems() -> None:
    assert values_of(FIRST)["map"] == pytest.approx((1 + 2 / 3 + 3 / 9 + 4 / 10) / 4) == pytest.approx(0.6)
    assert (
        values_of(SECOND)["map"] == pytest.approx((1 / 2 + 2 / 5 + 3 / 6 + 4 / 7) / 4) == pytest.approx(0.493, abs=5e-4)
    )


def test_average_precision_counts_missing_pages() -> None:
    precision = 1 + 1 + 3 / 9 + 4 / 11 + 5 / 15 + 6 / 20
    assert values_of(TOP_20, elsewhere=2)["map"] == pytest.approx(precision / 8) == pytest.approx(0.416, abs=5e-4)


def test_interpolated_precision_is_the_maximum_beyond_a_recall() -> None:
    values = values_of(TOP_20, elsewhere=2)
    # Recall 3/8 is first reached at rank 9 with precision 3/9; at rank 11 precision is 4/11, and higher.
    assert values[name_interpolated_precision(0.3)] == pytest.approx(4 / 11)
    assert values[name_interpolated_precision(0.0)] == values[name_interpolated_precision(0.2)] == 1.0
    assert values[name_interpolated_precision(0.7)] == pytest.approx(6 / 20)
    assert values[name_interpolated_precision(0.8)] == values[name_interpolated_precision(1.0)] == 0.0


def test_recall_precision_and_reciprocal_rank() -> None:
    values = values_of("NRNNR RRNNN", elsewhere=4)
    assert (values["recall@1"], values["recall@5"], values["recall@10"]) == (0, 2 / 8, 4 / 8)
    assert (values["precision@1"], values["precision@5"]) == (0, 2 / 5)
    assert values["mrr@10"] == 1 / 2
    assert values_of("N" * 10 + "R")["mrr@10"] == 0


def test_ndcg_discounts_by_the_logarithm_of_rank() -> None:
    # Equation 8.9 of the same book, with relevance 0 or 1.
    gained = 1 / math.log2(2) + 1 / math.log2(4)
    ideal = 1 / math.log2(2) + 1 / math.log2(3)
    assert values_of("RNRN")["ndcg@10"] == pytest.approx(gained / ideal)


def test_question_without_hits_scores_zero() -> None:
    values = compute_ranking_metrics({"a": [], "b": [page(1)]}, {"a": [page(1)], "b": [page(1)]})
    assert set(values["a"]) == set(values["b"])
    assert set(values["a"].values()) == {0.0}
    assert values["b"]["map"] == 1


def test_ranked_pages_has_each_page_of_passages_once() -> None:
    assert list_ranked_pages([("a", 3, 3), ("a", 3, 4), ("b", 0, 0), ("a", 4, 4)]) == [("a", 3), ("a", 4), ("b", 0)]


def test_first_rank_of_a_relevant_page() -> None:
    assert find_first_rank([page(5), page(3), page(1)], [page(1), page(3)]) == 2
    assert find_first_rank([page(5)], [page(1)]) is None
