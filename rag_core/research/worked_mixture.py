"""A worked example of an evidence mixture: two policies for returns, of which one is out of date."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from rag_core.research.evidence_mixture import mix_answers
from rag_core.retrieval.passage_weights import weight_passages
from rag_core.types.explanations import ScoredPassage, WeightedPassage, WeightingConfig
from rag_core.types.mixtures import AnswerProbabilities, EvidenceMixture

QUESTION = "Within how many days can an item be returned?"
EXPECTED = "30"
_ANSWERS = ("30", "14", "45", "unknown")
_QUERY = (1.0, 0.0)


@dataclass(frozen=True, slots=True)
class WorkedMixture:
    """A worked example: a question, its passages by weight, their answers, and the mixture.

    ``names`` maps chunk ids to the names of the passages. ``right`` is the chunk id of the right passage, and
    ``expected`` the right answer.
    """

    question: str
    names: Mapping[str, str]
    weighted: tuple[WeightedPassage, ...]
    probabilities: AnswerProbabilities
    right: str
    expected: str
    mixture: EvidenceMixture


@dataclass(frozen=True, slots=True)
class _Document:
    """A document, the vector of its passage, which is not normalized, and the probability of each of `_ANSWERS`."""

    name: str
    vector: tuple[float, float]
    is_fresh: bool
    probabilities: tuple[float, float, float, float]


_DOCUMENTS = {
    "old_policy": _Document("Returns policy, replaced", (0.98, 0.20), False, (0.05, 0.86, 0.02, 0.07)),
    "current_policy": _Document("Returns policy, in force", (0.92, 0.39), True, (0.82, 0.05, 0.03, 0.10)),
    "forum_exception": _Document("Forum post about an exception", (0.86, -0.51), False, (0.10, 0.05, 0.75, 0.10)),
    "shipping": _Document("Shipping times", (0.30, 0.95), True, (0.15, 0.10, 0.05, 0.70)),
    "warranty": _Document("Warranty terms", (0.10, -0.99), True, (0.12, 0.08, 0.05, 0.75)),
}
RIGHT = "current_policy"


def compute_worked_mixture(weighting: WeightingConfig) -> WorkedMixture:
    """Return the worked example with these parameters of the weights; raise `ValueError` as `weight_passages` does.

    The score of a passage is the cosine of its vector and the vector of the question. A fresh document has an age of
    0 days, any other an infinite age.
    """
    candidates = [
        ScoredPassage(key, _compute_cosine(one.vector), 0.0 if one.is_fresh else math.inf)
        for key, one in _DOCUMENTS.items()
    ]
    weighted = weight_passages(candidates, weighting)
    probabilities = {key: dict(zip(_ANSWERS, one.probabilities, strict=True)) for key, one in _DOCUMENTS.items()}
    return WorkedMixture(
        question=QUESTION,
        names={key: one.name for key, one in _DOCUMENTS.items()},
        weighted=weighted,
        probabilities=probabilities,
        right=RIGHT,
        expected=EXPECTED,
        mixture=mix_answers(weighted, probabilities, right=[RIGHT], expected=[EXPECTED]),
    )


def _compute_cosine(vector: tuple[float, float]) -> float:
    return sum(one * other for one, other in zip(_QUERY, vector, strict=True)) / math.hypot(*vector)
