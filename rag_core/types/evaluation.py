"""Labelled questions, and what came of asking them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Literal


class LabelKind(str, Enum):
    """Whether the documents answer a labelled question: every kind but the first says that they do not.

    ``off-corpus`` lies outside what the documents are about, ``adversarial`` within it.
    """

    ANSWERABLE = "answerable"
    NO_ANSWER = "no answer"
    OFF_CORPUS = "off-corpus"
    ADVERSARIAL = "adversarial"


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """A page that answers a question: by its index, as it is printed, or by words that stand on it."""

    document: str
    page_index: int | None = None
    page: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Label:
    """A question with what is known of its answer. ``where`` says in words where the label stands."""

    label_id: str
    question: str
    kind: LabelKind
    evidence: tuple[LabelledPage, ...] = ()
    answers: tuple[str, ...] = ()
    where: str = ""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A textbook ranker to compare a `RetrievalConfig` with; it ranks pages and answers nothing.

    ``k`` and ``b`` are BM25's.
    """

    name: Literal["tf-idf", "bm25"]
    k: float = 1.2
    b: float = 0.75

    @property
    def label(self) -> str:
        """``tf-idf baseline``, ``bm25 baseline, k 1.2, b 0.75``."""
        return f"{self.name} baseline" + (f", k {self.k:g}, b {self.b:g}" if self.name == "bm25" else "")


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with the ends of its 95 % confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric's value over ``n`` questions, or citations' questions, with its interval."""

    metric: str
    interval: Interval
    n: int


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """What became of one labelled question.

    ``values`` maps those metrics that apply to the question to its own value. ``gate_score`` is
    ``None`` where nothing answers at any threshold, and where answers were not asked for. ``wrong``
    says whether answering it is, or would be, wrong; ``answered`` whether the threshold let it be
    answered. ``problem`` says in words what went wrong, and is empty when nothing did.
    """

    label_id: str
    question: str
    kind: LabelKind
    evidence: tuple[str, ...]
    first_rank: int | None
    values: Mapping[str, float]
    text: str = ""
    gate_score: float | None = None
    answered: bool = False
    wrong: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """At a threshold, the share of questions answered, and the share of those answered wrongly."""

    threshold: float
    coverage: float
    risk: float


@dataclass(frozen=True, slots=True)
class ThresholdAdvice:
    """The lowest threshold at which at most the share ``most`` of unanswerable questions is answered.

    Then the shares answered at it of questions without and with an answer; of how many questions without
    one that was found; the share of further questions like them that it leaves possible, as the upper end
    of a one-sided interval of 95 %; and how many it takes before that end can be ``most``, ``None`` where no
    number does.
    """

    threshold: float
    most: float
    unanswerable_answered: float
    answerable_answered: float
    unanswerable: int
    unanswerable_possible: float
    unanswerable_needed: int | None

    @property
    def reach(self) -> str:
        """How far the questions asked speak for others."""
        told = (
            f"Measured on {self.unanswerable:,} without an answer, so of others like them up to "
            f"{100 * self.unanswerable_possible:.1f} % may be answered (95 % confidence)."
        )
        if self.unanswerable_needed is None or self.unanswerable >= self.unanswerable_needed:
            return told
        return f"{told} It takes at least {self.unanswerable_needed:,} to know of {100 * self.most:g} %."


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One configuration's figures on a set of labelled questions.

    ``precision_recall`` is interpolated precision at recall 0.0, 0.1, … 1.0; empty where no question
    names a page. ``threshold`` is the one that was in use.
    """

    evaluation_id: str
    name: str
    configuration: str
    generator: str
    threshold: float
    created_at: datetime
    seconds: float
    figures: tuple[Metric, ...]
    outcomes: tuple[QuestionResult, ...]
    precision_recall: tuple[float, ...]
    risk_coverage: tuple[RiskPoint, ...]


@dataclass(frozen=True, slots=True)
class EvaluationProgress:
    """An event of `Evaluations.run`: so many of the questions are done."""

    done: int
    total: int


EvaluationEvent = EvaluationProgress | Evaluation


@dataclass(frozen=True, slots=True)
class EvaluationState:
    """The evaluation in the background: how far it is, or how it ended.

    ``problem`` says why it ended without a result; ``evaluation_ids`` are those that are complete.
    """

    name: str
    done: int
    total: int
    running: bool
    problem: str = ""
    evaluation_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """How much higher the second of two evaluations is, on the ``n`` questions that both asked.

    ``p_value`` is two-sided, from the paired bootstrap.
    """

    metric: str
    difference: Interval
    p_value: float
    n: int
