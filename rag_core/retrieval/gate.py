"""Answer or not: one named score against one threshold."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.types import Gate, Passage


def decide(passages: Sequence[Passage], threshold: float, score_name: str = "rerank") -> Gate:
    """Hold the best passage's score against the threshold; no passage, or no score, abstains."""
    scores = [passage.scores.get(score_name) for passage in passages]
    best = max((score for score in scores if score is not None), default=None)
    if best is None:
        return Gate(score_name, 0.0, threshold, False)
    return Gate(score_name, best, threshold, best >= threshold)
