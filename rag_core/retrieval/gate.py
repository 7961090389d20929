"""Answer or not: one named score against one threshold."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rag_core.types import Gate, Passage

FITTED = Path(__file__).with_name("gate.json")
# Passages that the gate looks at, however many are shown: an answer further down is not read.
GATED = 5
# What counts of names, figures and the like that a passage lacks: more than two are no surer.
MOST_UNMET = 2


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic regression of "the passage answers the question", fitted by ``benchmarks/fit_gate.py``.

    Attributes
    ----------
    intercept : float
    closeness : float
        Weight of the mean of the passage's late-interaction score and its best sentence's.
    topic : float
        Weight of the passage's `topic_similarity`.
    unmet : float
        Weight of the number, at most two, of things the question takes for granted and the passage
        does not bear out.
    embedder, projection : str
        Weights' hash and projection of the embedder that it was fitted with: with others, scores mean
        something else.
    """

    intercept: float
    closeness: float
    topic: float
    unmet: float
    embedder: str
    projection: str

    def probability(self, rerank: float, sentence: float, topic: float, unmet: int) -> float:
        """That a passage answers the question, 0..1."""
        log_odds = (
            self.intercept
            + self.closeness * (rerank + sentence) / 2
            + self.topic * topic
            + self.unmet * min(unmet, MOST_UNMET)
        )
        return 1.0 / (1.0 + math.exp(-log_odds))

    def fits(self, embedder: str, projection: str) -> bool:
        """Whether it was fitted with this embedder."""
        return (self.embedder, self.projection) == (embedder, projection)


@cache
def calibration() -> Calibration:
    """The one that comes along."""
    return Calibration(**json.loads(FITTED.read_text(encoding="utf-8")))


def decide(passages: Sequence[Passage], threshold: float, score_name: str) -> Gate:
    """Hold the best passage's score against the threshold; no passage, or no score, abstains."""
    scores = [passage.scores.get(score_name) for passage in passages]
    best = max((score for score in scores if score is not None), default=None)
    if best is None:
        return Gate(score_name, 0.0, threshold, False)
    return Gate(score_name, best, threshold, best >= threshold)
