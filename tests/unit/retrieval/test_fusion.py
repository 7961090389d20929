"""Reciprocal rank fusion."""

from __future__ import annotations

import pytest

from rag_core.retrieval.fusion import reciprocal_rank_fusion


def test_scores_match_manual_calculation() -> None:
    # 7: 1/61 + 1/63, 5: 1/62 + 1/61, 9: 1/62, 3: 1/63
    fused = reciprocal_rank_fusion([[7, 5, 3], [5, 9, 7]], 60)
    assert [hit.chunk_id for hit in fused] == [5, 7, 9, 3]
    assert fused[0].score == pytest.approx(1 / 61 + 1 / 62)
    assert fused[1].score == pytest.approx(1 / 61 + 1 / 63)
    assert fused[2].score == pytest.approx(1 / 62)
    assert fused[3].score == pytest.approx(1 / 63)


def test_equal_sums_are_ordered_by_chunk_id() -> None:
    assert [hit.chunk_id for hit in reciprocal_rank_fusion([[9, 2], [2, 9], [4]], 60)] == [2, 9, 4]
