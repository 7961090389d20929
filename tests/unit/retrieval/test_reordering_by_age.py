"""Recent documents overtake others with similar scores."""

from __future__ import annotations

import pytest

from rag_core.retrieval.reordering import prefer_recent_documents
from rag_core.types.retrieval import Ranking

RANKING = Ranking((1, 2, 3, 4), {"rerank": {1: 0.70, 2: 0.66, 3: 0.40}, "dense": {4: 0.9}})
AGES = {1: 730.0, 2: 0.0, 3: 0.0, 4: 0.0}


@pytest.mark.parametrize(
    ("freshness_weight", "order"),
    [
        (0.0, (1, 2, 3, 4)),
        (0.05, (1, 2, 3, 4)),  # 0.70 + 0.05 / 4 against 0.66 + 0.05
        (0.06, (2, 1, 3, 4)),
        (1.0, (2, 3, 1, 4)),
    ],
)
def test_newer_document_overtakes_slightly_better_ones(freshness_weight: float, order: tuple[int, ...]) -> None:
    ranking = prefer_recent_documents(RANKING, "rerank", AGES, freshness_weight)
    assert ranking.order == order
    assert ranking.scores == RANKING.scores


def test_chunk_of_unknown_age_has_no_advantage() -> None:
    assert prefer_recent_documents(RANKING, "rerank", {2: 0.0}, 0.05).order == (2, 1, 3, 4)


def test_equal_sums_keep_their_order() -> None:
    ranking = Ranking((7, 5, 6), {"rerank": dict.fromkeys((7, 5, 6), 0.5)})
    assert prefer_recent_documents(ranking, "rerank", dict.fromkeys((5, 6, 7), 10.0), 0.3).order == (7, 5, 6)
