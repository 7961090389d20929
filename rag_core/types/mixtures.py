"""Mixtures of the answer distributions that a model predicts from single passages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

# The "answer" in `AnswerProbabilities` that stands for no answer.
UNKNOWN = "unknown"
# ``p(y|x, d)``: for each chunk id, the probabilities of the answers given this passage, which sum to 1.
AnswerProbabilities = Mapping[str, Mapping[str, float]]


class MixtureVerdict(str, Enum):
    """Whether the answer of a mixture is right, and whether a right passage has a weight.

    - ``right``: the answer is right, and a right passage has a weight.
    - ``right without evidence``: the answer is right, but no right passage has a weight.
    - ``not covered``: the answer is wrong, and no right passage has a weight.
    - ``covered but wrong``: the answer is wrong, although a right passage has a weight.
    - ``stale``: as ``covered but wrong``, and the cited passage is stale and weighs more than the right ones. A passage
      is stale if a label marks it as stale or inadmissible, or if its document is older than that of a right passage.
    """

    RIGHT = "right"
    WITHOUT_EVIDENCE = "right without evidence"
    NOT_COVERED = "not covered"
    COVERED_BUT_WRONG = "covered but wrong"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class EvidenceMixture:
    """The answers of a mixture with their evaluation.

    Attributes
    ----------
    answers : tuple of (str, float)
        The answers with their probabilities ``p(y|x) = Σ_d p(d|x) p(y|x, d)``, most probable first.
    cited : str
        Chunk id of the passage that contributes most to the probability of the first answer.
    covered : bool
        Coverage: whether a right passage has a weight.
    mass : float
        Evidence mass: the total weight of the right passages.
    correct_probability : float or None
        Total probability of the expected answers; ``None`` if no answer is labelled.
    is_correct : bool or None
        Correctness: whether the first answer is an expected one. Without labelled answers, whether the cited passage is
        a right one; ``None`` if no passage is labelled either.
    is_supported : bool
        Source support: whether the first answer is also the most probable one given only the cited passage.
    verdict : MixtureVerdict or None
        ``None`` if ``is_correct`` is ``None``.
    """

    answers: tuple[tuple[str, float], ...]
    cited: str
    covered: bool
    mass: float
    correct_probability: float | None
    is_correct: bool | None
    is_supported: bool
    verdict: MixtureVerdict | None

    @property
    def answer(self) -> str:
        """The most probable answer."""
        return self.answers[0][0]
