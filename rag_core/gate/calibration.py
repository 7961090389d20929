"""Calibrated probabilities of the gate, and their comparison with the threshold."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from rag_core.types.protocols import ModelIdentity
from rag_core.types.retrieval import Gate, Passage, to_log_odds

# The calibrations for the bundled and for the multilingual embedder.
CALIBRATION_FILE = Path(__file__).with_name("gate.json")
MULTILINGUAL_FILE = Path(__file__).with_name("gate_multilingual.json")
# Number of passages that the gate scores, independent of the number of passages displayed.
PASSAGES_SCORED = 5
# Number of passages that the answerability model reads together with the question.
PASSAGES_READ = 2
# Unmet presuppositions beyond this number do not change the probability.
MAX_UNMET = 2
# Limit of the odds, for or against an answer, from the answerability model, so that its reading alone does not decide.
MAX_ODDS = 10_000


@dataclass(frozen=True, slots=True)
class TopicCalibration:
    """A logistic regression that predicts whether a passage is on the topic of the question.

    It is fitted by ``benchmarks/fit_gate.py`` and decides whether a language model is asked. The language model then
    decides whether the passage states the answer. So the fit counts unanswerable questions as on the topic if documents
    cover their topic, and unmet presuppositions have no weight.

    Attributes
    ----------
    intercept : float
    closeness : float
        Weight of the mean of two late-interaction scores: that of the passage and that of its best sentence.
    topic : float
        Weight of the passage's topic similarity; see `features.compute_topic_similarity`.
    reading : float
        Weight of the log-odds, from the answerability model, that the passage's best sentence answers the question.
    unmet : float
        Weight of the number of unmet presuppositions of the question, at most `MAX_UNMET`.
    """

    intercept: float
    closeness: float
    topic: float
    reading: float
    unmet: float = 0.0

    def compute_probability(
        self, rerank: float, sentence: float, topic: float, reading: float, unmet: int = 0
    ) -> float:
        """Return the predicted probability, 0..1; ``reading`` is in log-odds."""
        return _to_probability(
            self.intercept
            + self.closeness * (rerank + sentence) / 2
            + self.topic * topic
            + self.unmet * min(unmet, MAX_UNMET)
            + self.reading * reading
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration(TopicCalibration):
    """A logistic regression that predicts whether a passage answers the question.

    It is fitted by ``benchmarks/fit_gate.py``.

    Attributes
    ----------
    intercept, closeness, topic, reading, unmet : float
        As in `TopicCalibration`.
    table_prior : float
        Median log-odds of passages that answer their question. It is used for looked-up tables, because the model
        cannot read tables as sentences.
    embedder, projection : str
        Hash of the weights, and projection, of the embedder with which the regression was fitted. Scores of other
        embedders are not comparable.
    on_topic : TopicCalibration
    after_reading : ReadingCalibration
    similarity_slope, similarity_intercept : float
        Map from the embedder's cosines of question and excerpts to the scale of the bundled embedder, for which the
        weights of excerpts were fitted. It is fitted by ``benchmarks/fit_similarity.py``.
    """

    table_prior: float
    embedder: str
    projection: str
    on_topic: TopicCalibration
    after_reading: ReadingCalibration
    similarity_slope: float = 1.0
    similarity_intercept: float = 0.0

    def fits(self, embedder: str, projection: str) -> bool:
        """Return whether the calibration was fitted with this embedder."""
        return (self.embedder, self.projection) == (embedder, projection)


@dataclass(frozen=True, slots=True)
class ReadingCalibration:
    """A logistic regression that corrects the probability of the gate after the passages and their pages were read.

    It is fitted by ``benchmarks/fit_gate.py``.

    Attributes
    ----------
    intercept, gate, reading : float
        ``gate`` is the weight of the log-odds of the gate's score, and ``reading`` that of the highest log-odds of the
        answers that the answerability model finds.
    """

    intercept: float
    gate: float
    reading: float

    def compute_probability(self, gate: float, reading: float) -> float:
        """Return the corrected probability, 0..1, given the two probabilities."""
        first, second = to_log_odds(gate, 1 / MAX_ODDS), to_log_odds(reading, 1 / MAX_ODDS)
        return _to_probability(self.intercept + self.gate * first + self.reading * second)


def _to_probability(log_odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-log_odds))


def weigh_reading(gate: Gate, reading: float, *, can_raise: bool) -> Gate:
    """Return the gate's decision after the passages were read; only a gate of answerability changes.

    Parameters
    ----------
    gate : Gate
    reading : float
        Highest probability of the answers that the answerability model finds.
    can_raise : bool
        Whether the score may become higher. It may not if the document lacks what the question names.
    """
    if gate.score_name != "answerable":
        return gate
    score = load_calibration().after_reading.compute_probability(gate.score, reading)
    if not can_raise:
        score = min(score, gate.score)
    return replace(gate, score=score, answerable=score >= gate.threshold)


def compute_log_odds(readings: Sequence[float | None]) -> list[float]:
    """Return the log-odds of readings, limited by `MAX_ODDS`; passages without a reading get the mean of the others."""
    known = [to_log_odds(reading, 1 / MAX_ODDS) for reading in readings if reading is not None]
    mean = sum(known) / max(len(known), 1)
    read = iter(known)
    return [mean if reading is None else next(read) for reading in readings]


def load_calibration(identity: ModelIdentity | None = None) -> Calibration:
    """Return the calibration for an embedder, or that of the bundled embedder if there is none for it."""
    bundled, *others = _load_calibrations()
    if identity is None:
        return bundled
    return next((one for one in others if one.fits(identity.weights, identity.projection)), bundled)


@cache
def _load_calibrations() -> list[Calibration]:
    """Return all calibrations; that of the bundled embedder is the first."""
    found = []
    for file in (CALIBRATION_FILE, MULTILINGUAL_FILE):
        fitted = json.loads(file.read_text(encoding="utf-8"))
        parts = {
            "on_topic": TopicCalibration(**fitted["on_topic"]),
            "after_reading": ReadingCalibration(**fitted["after_reading"]),
        }
        found.append(Calibration(**{**fitted, **parts}))
    return found


def apply_threshold(passages: Sequence[Passage], threshold: float, score_name: str) -> Gate:
    """Return a gate that compares the best score of the passages with the threshold; without a score, it abstains."""
    scores = [passage.scores.get(score_name) for passage in passages]
    best = max((score for score in scores if score is not None), default=None)
    if best is None:
        return Gate(score_name, 0.0, threshold, False)
    return Gate(score_name, best, threshold, best >= threshold)
