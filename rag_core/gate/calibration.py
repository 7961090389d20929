"""Compute the calibrated probabilities of the gate, and compare them with the threshold."""

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
# Number of passages that the gate scores.
PASSAGES_SCORED = 5
# Number of passages that the answerability model reads.
PASSAGES_READ = 2
# Maximum number of unmet presuppositions that are counted.
MAX_UNMET = 2
# Limit of the odds of the answerability model, for or against an answer, so that it does not decide alone.
MAX_ODDS = 10_000


@dataclass(frozen=True, slots=True)
class TopicCalibration:
    """A logistic regression that predicts whether a passage is on the topic of the question.

    It is fitted by ``benchmarks/fit_gate.py``. Its prediction decides whether a language model is asked, which then
    decides whether the passage states the answer. Unmet presuppositions therefore have no weight.

    Attributes
    ----------
    intercept : float
    closeness : float
        Weight of the mean of two late-interaction scores, of the passage and of its best sentence.
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
        """Return the predicted probability, from 0 to 1.

        ``rerank`` and ``sentence`` are the late-interaction scores of the passage and of its best sentence. ``topic``
        is its topic similarity, ``reading`` is in log-odds, and ``unmet`` is the number of unmet presuppositions.
        """
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
        Median log-odds of the answerability model for passages that answer their question. It stands for the reading of
        tables from the look-up, which the model cannot read.
    embedder, projection : str
        Hash of the weights, and projection, of the embedder with which the regression was fitted.
    on_topic : TopicCalibration
    after_reading : ReadingCalibration
    similarity_slope, similarity_intercept : float
        Linear map of the embedder's cosines to those of the bundled embedder, for which the weights of excerpts were
        fitted. It is fitted by ``benchmarks/fit_similarity.py``.
    """

    table_prior: float
    embedder: str
    projection: str
    on_topic: TopicCalibration
    after_reading: ReadingCalibration
    similarity_slope: float = 1.0
    similarity_intercept: float = 0.0

    def fits(self, embedder: str, projection: str) -> bool:
        """Return whether the calibration was fitted with the embedder that has this hash of weights and projection."""
        return (self.embedder, self.projection) == (embedder, projection)


@dataclass(frozen=True, slots=True)
class ReadingCalibration:
    """A logistic regression that corrects the probability of the gate after the passages and their pages were read.

    It is fitted by ``benchmarks/fit_gate.py``.

    Attributes
    ----------
    intercept : float
    gate : float
        Weight of the log-odds of the gate's score.
    reading : float
        Weight of the highest log-odds of the answers that the answerability model finds.
    """

    intercept: float
    gate: float
    reading: float

    def compute_probability(self, gate: float, reading: float) -> float:
        """Return the corrected probability, from 0 to 1, given the probabilities of the gate and of the answers."""
        gate_odds, reading_odds = to_log_odds(gate, 1 / MAX_ODDS), to_log_odds(reading, 1 / MAX_ODDS)
        return _to_probability(self.intercept + self.gate * gate_odds + self.reading * reading_odds)


def _to_probability(log_odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-log_odds))


def weigh_reading(gate: Gate, reading: float, *, can_raise: bool) -> Gate:
    """Return the gate's decision after the passages were read. Only a gate with the score ``answerable`` changes.

    Parameters
    ----------
    gate : Gate
    reading : float
        Highest probability of the answers that the answerability model finds.
    can_raise : bool
        Whether the score may increase. It must not if the document lacks something in the question; see
        `Passage.lacks_name`.
    """
    if gate.score_name != "answerable":
        return gate
    score = load_calibration().after_reading.compute_probability(gate.score, reading)
    if not can_raise:
        score = min(score, gate.score)
    return replace(gate, score=score, answerable=score >= gate.threshold)


def compute_log_odds(readings: Sequence[float | None]) -> list[float]:
    """Return the log-odds of probabilities, limited by `MAX_ODDS`.

    The mean of the known log-odds replaces missing values; 0 if all are missing.
    """
    known = [to_log_odds(reading, 1 / MAX_ODDS) for reading in readings if reading is not None]
    mean = sum(known) / max(len(known), 1)
    return [mean if reading is None else to_log_odds(reading, 1 / MAX_ODDS) for reading in readings]


def load_calibration(identity: ModelIdentity | None = None) -> Calibration:
    """Return the calibration for an embedder. Embedders without a calibration use that of the bundled embedder."""
    bundled, *others = _load_calibrations()
    if identity is None:
        return bundled
    return next((one for one in others if one.fits(identity.weights, identity.projection)), bundled)


@cache
def _load_calibrations() -> list[Calibration]:
    """Return all calibrations; the first is for the bundled embedder."""
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
    """Return the gate's decision by the highest score of the passages. Without a score, the gate abstains."""
    scores = [passage.scores.get(score_name) for passage in passages]
    best = max((score for score in scores if score is not None), default=None)
    return Gate(score_name, best or 0.0, threshold, best is not None and best >= threshold)
