"""Reciprocal rank fusion."""

from __future__ import annotations

import pytest

from rag_core.retrieval.fusion import reciprocal_rank_fusion
from rag_core.types import Hit


def hits(*ids: int) -> list[Hit]:
    return [Hit(chunk_id, 100.0 - position) for position, chunk_id in enumerate(ids)]


def test_scores_match_manual_calculation() -> None:
    # 7: 1/61 + 1/63, 5: 1/62 + 1/61, 9: 1/62, 3: 1/63
    fused = reciprocal_rank_fusion([hits(7, 5, 3), hits(5, 9, 7)], 60)
    assert [hit.chunk_id for hit in fused] == [5, 7, 9, 3]
    assert fused[0].score == pytest.approx(1 / 61 + 1 / 62)
    assert fused[1].score == pytest.approx(1 / 61 + 1 / 63)
    assert fused[2].score == pytest.approx(1 / 62)
    assert fused[3].score == pytest.approx(1 / 63)


def test_equal_sums_are_ordered_by_chunk_id() -> None:
    assert [hit.chunk_id for hit in reciprocal_rank_fusion([hits(9, 2), hits(2, 9), hits(4)], 60)] == [2, 9, 4]


def test_small_constant_favours_first_ranks() -> None:
    rankings = [hits(1, 2), hits(3, 2)]
    assert reciprocal_rank_fusion(rankings, 60)[0].chunk_id == 2
    assert reciprocal_rank_fusion([hits(1, 5, 2), hits(1, 6, 2), hits(7, 8, 2)], 1)[0].chunk_id == 1


@pytest.mark.parametrize("rankings", [[], [[]], [[], []]])
def test_fusion_of_empty_rankings_is_empty(rankings: list[list[Hit]]) -> None:
    assert reciprocal_rank_fusion(rankings, 60) == []
