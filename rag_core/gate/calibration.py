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
# Of these, those that are read with the question.
READ = 2
# What counts of names, figures and the like that a passage lacks: more than two are no surer.
MOST_UNMET = 2
# One reading alone is never surer.
SUREST = 10_000


@dataclass(frozen=True, slots=True)
class TopicCalibration:
    """A logistic regression of "the passage is on the topic of the question", fitted by ``benchmarks/fit_gate.py``.

    It decides whether a language model is asked. Whether the passage states the fact is for the model to decide, so
    questions on the topic without an answer count as on the topic, and what a passage lacks counts nothing.

    Attributes
    ----------
    intercept, closeness, topic, reading : float
        As in `Calibration`.
    """

    intercept: float
    closeness: float
    topic: float
    reading: float

    def probability(self, rerank: float, sentence: float, topic: float, reading: float) -> float:
        """That a passage is on the topic of the question, 0..1; ``reading`` is in log-odds."""
        odds = self.intercept + self.closeness * (rerank + sentence) / 2 + self.topic * topic + self.reading * reading
        return 1.0 / (1.0 + math.exp(-odds))


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
    reading : float
        Weight of the log-odds that the passage's best sentence, read with the question, answers it.
    told : float
        The log-odds of a passage that answers, in the middle: taken for those of a table where figures are
        looked up, since it reads like no sentence.
    embedder, projection : str
        Weights' hash and projection of the embedder that it was fitted with: with others, scores mean
        something else.
    on_topic : TopicCalibration
    """

    intercept: float
    closeness: float
    topic: float
    unmet: float
    reading: float
    told: float
    embedder: str
    projection: str
    on_topic: TopicCalibration

    def probability(self, rerank: float, sentence: float, topic: float, unmet: int, reading: float) -> float:
        """That a passage answers the question, 0..1; ``reading`` is in log-odds."""
        odds = (
            self.intercept
            + self.closeness * (rerank + sentence) / 2
            + self.topic * topic
            + self.unmet * min(unmet, MOST_UNMET)
            + self.reading * reading
        )
        return 1.0 / (1.0 + math.exp(-odds))

    def fits(self, embedder: str, projection: str) -> bool:
        """Whether it was fitted with this embedder."""
        return (self.embedder, self.projection) == (embedder, projection)


def log_odds(readings: Sequence[float | None]) -> list[float]:
    """The log-odds of readings, none surer than one in `SUREST`.

    What was not read is taken to read as what was does, in the middle: on our own questions the AUROC against
    adversarial ones is .673 so, .676 where all five passages are read, and .628 where none is.
    """
    bounded = [min(max(one, 1 / SUREST), 1 - 1 / SUREST) for one in readings if one is not None]
    known = [math.log(one / (1 - one)) for one in bounded]
    middle = sum(known) / max(len(known), 1)
    read = iter(known)
    return [middle if one is None else next(read) for one in readings]


@cache
def calibration() -> Calibration:
    """The one that comes along."""
    fitted = json.loads(FITTED.read_text(encoding="utf-8"))
    return Calibration(**{**fitted, "on_topic": TopicCalibration(**fitted["on_topic"])})


def decide(passages: Sequence[Passage], threshold: float, score_name: str) -> Gate:
    """Hold the best passage's score against the threshold; no passage, or no score, abstains."""
    scores = [passage.scores.get(score_name) for passage in passages]
    best = max((score for score in scores if score is not None), default=None)
    if best is None:
        return Gate(score_name, 0.0, threshold, False)
    return Gate(score_name, best, threshold, best >= threshold)
