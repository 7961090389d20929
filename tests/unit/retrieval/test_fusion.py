"""Reciprocal rank fusion."""

from __future__ import annotations

import pytest

from rag_core.retrieval.fusion import reciprocal_rank_fusion
from rag_core.types.retrieval import Hit


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
