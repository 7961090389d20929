"""Labelled questions and the results of evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Literal


class LabelKind(str, Enum):
    """Whether the documents answer a labelled question. They do so only for ``answerable``.

    An ``off-corpus`` question is outside the subjects of the documents, an ``adversarial`` one within them.
    """

    ANSWERABLE = "answerable"
    NO_ANSWER = "no answer"
    OFF_CORPUS = "off-corpus"
    ADVERSARIAL = "adversarial"


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """A page that answers a question, given by its index, its printed number or a quote from it."""

    document: str
    page_index: int | None = None
    page: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Label:
    """A question with its expected evidence and answers. ``where`` names the label's place in its file."""

    label_id: str
    question: str
    kind: LabelKind
    evidence: tuple[LabelledPage, ...] = ()
    answers: tuple[str, ...] = ()
    where: str = ""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A textbook ranker to compare a `RetrievalConfig` with. It only ranks pages.

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
    """A metric's value over ``n`` questions, with its confidence interval."""

    metric: str
    interval: Interval
    n: int


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """The result of one labelled question.

    ``values`` maps each metric that applies to the question to its value. ``gate_score`` is ``None`` if no
    threshold leads to an answer, or if the evaluation does not ask for answers. ``wrong`` says whether an answer
    is or would be wrong, ``answered`` whether the threshold allows one. ``problem`` describes an error, if any.
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
    """The share of questions answered at a threshold, and the share of wrong answers among these."""

    threshold: float
    coverage: float
    risk: float


@dataclass(frozen=True, slots=True)
class ThresholdAdvice:
    """The lowest threshold at which at most the share ``most`` of unanswerable questions is answered.

    ``unanswerable_answered`` and ``answerable_answered`` are the shares answered at this threshold.
    ``unanswerable_possible`` is the upper end of the one-sided 95 % confidence interval of the first, given
    ``unanswerable`` questions. ``unanswerable_needed`` is the number of such questions from which that end can be
    ``most``; ``None`` if no number suffices.
    """

    threshold: float
    most: float
    unanswerable_answered: float
    answerable_answered: float
    unanswerable: int
    unanswerable_possible: float
    unanswerable_needed: int | None

    @property
    def confidence_text(self) -> str:
        """The confidence of the advice, in words."""
        questions = "question" if self.unanswerable == 1 else "questions"
        text = (
            f"Measured on {self.unanswerable:,} {questions} without an answer: of similar questions, up to "
            f"{100 * self.unanswerable_possible:.1f} % may be answered (95 % confidence)."
        )
        if self.unanswerable_needed is None or self.unanswerable >= self.unanswerable_needed:
            return text
        return f"{text} At least {self.unanswerable_needed:,} are needed to confirm {100 * self.most:g} %."


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One configuration's metrics on a set of labelled questions.

    ``precision_recall`` is the interpolated precision at recall 0.0, 0.1, … 1.0; empty if no question
    names a page. ``threshold`` is the gate's threshold during the evaluation.
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
    """An event of `Evaluations.run`: the number of questions done so far."""

    done: int
    total: int


EvaluationEvent = EvaluationProgress | Evaluation


@dataclass(frozen=True, slots=True)
class EvaluationState:
    """Progress or outcome of the evaluation in the background.

    ``problem`` says why it ended without a result; ``evaluation_ids`` are the completed evaluations.
    """

    name: str
    done: int
    total: int
    running: bool
    problem: str = ""
    evaluation_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """A metric of a second evaluation minus that of a first, on the ``n`` questions of both.

    ``p_value`` is two-sided, from the paired bootstrap.
    """

    metric: str
    difference: Interval
    p_value: float
    n: int
