"""The estimated end of embedding."""

from __future__ import annotations

import time

import pytest

from rag_core.indexing.pace import EmbeddingPace


def seconds(pace: EmbeddingPace, tokens: int, after_s: float = 0.0) -> float:
    return pace.estimate_end(tokens, after_s=after_s) - time.time()


def test_end_follows_the_recorded_pace() -> None:
    pace = EmbeddingPace()
    for _ in range(20):
        pace.record(20_000, 40_000.0)
    assert seconds(pace, 10_000) == pytest.approx(20_000, rel=0.05)
    assert seconds(pace, 10_000, after_s=10_000.0) == pytest.approx(30_000, rel=0.05)
    for _ in range(20):
        pace.record(20_000, 20_000.0)
    assert seconds(pace, 10_000) == pytest.approx(10_000, rel=0.05)


def test_slow_first_text_hardly_changes_the_pace() -> None:
    pace = EmbeddingPace()
    pace.record(20, 2.0)
    assert seconds(pace, 100_000) < 100
