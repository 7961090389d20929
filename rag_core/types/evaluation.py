"""Labelled questions and the results of evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Literal

from rag_core.types.judgements import JudgeReport
from rag_core.types.retrieval import RetrievalConfig
from rag_core.types.strategies import StrategyDescription

# Metrics that the table of retrieval methods shows.
TABLE_METRICS = ("recall@1", "recall@5", "mrr@10", "ndcg@10", "exact_match", "token_f1")
# A difference with a lower p-value is marked as significant.
SIGNIFICANCE_LEVEL = 0.05


class LabelKind(str, Enum):
    """Whether the documents answer a labelled question, and if not, how the question relates to them.

    The documents answer only ``answerable`` questions. An ``off-corpus`` question is about a subject that the documents
    do not cover. An ``adversarial`` question is about a subject of the documents, but they do not contain the answer.
    ``no answer`` does not say which of these two cases applies.
    """

    ANSWERABLE = "answerable"
    NO_ANSWER = "no answer"
    OFF_CORPUS = "off-corpus"
    ADVERSARIAL = "adversarial"


# Whether a labelled page states the answer that holds now, one that no longer holds, or one that may not be used.
EvidenceState = Literal["current", "stale", "inadmissible"]
EVIDENCE_STATES: tuple[EvidenceState, ...] = ("current", "stale", "inadmissible")


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """A page about a question, identified by its index from 0, its printed number or words on the page.

    It answers the question if its ``state`` is ``current``; otherwise its answer no longer holds, or must not be used.
    """

    document: str
    page_index: int | None = None
    page: str = ""
    quote: str = ""
    state: EvidenceState = "current"


@dataclass(frozen=True, slots=True)
class Label:
    """A question with its expected evidence and answers. ``where`` names the file and line of the label in messages.

    ``is_pseudo`` says whether the question was made from a sentence of the document; see
    `rag_core.research.learning.inverse_cloze`.
    """

    label_id: str
    question: str
    kind: LabelKind
    evidence: tuple[LabelledPage, ...] = ()
    answers: tuple[str, ...] = ()
    where: str = ""
    is_pseudo: bool = False


@dataclass(frozen=True, slots=True)
class Baseline:
    """A textbook ranking method that is compared with a `RetrievalConfig`. It ranks pages, but answers no questions.

    ``k`` and ``b`` are the parameters of BM25; TF-IDF does not use them.
    """

    name: Literal["tf-idf", "bm25"]
    k: float = 1.2
    b: float = 0.75

    @property
    def label(self) -> str:
        """Name for display, such as ``tf-idf baseline`` or ``bm25 baseline, k 1.2, b 0.75``."""
        return f"{self.name} baseline" + (f", k {self.k:g}, b {self.b:g}" if self.name == "bm25" else "")


@dataclass(frozen=True, slots=True)
class ConfigurationChoice:
    """A configuration that can be evaluated, by its name on the command line.

    ``stage`` is the score by which it orders passages, and ``strategy`` describes its search strategy, if that is what
    it is about. ``label`` is its name for display if it is about neither.
    """

    name: str
    configuration: RetrievalConfig | Baseline
    label: str = ""
    stage: str | None = None
    strategy: StrategyDescription | None = None


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and its 95 % confidence interval, which reaches from ``low`` to ``high``."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Metric:
    """The mean value of a metric over ``n`` questions, with its confidence interval."""

    metric: str
    interval: Interval
    n: int


@dataclass(frozen=True, slots=True)
class ContextValue:
    """What a capable language model would find in pages of at most ``budget`` tokens.

    ``share`` is the share of questions whose pages contain the answer. ``median_tokens`` is the median of the tokens of
    these pages.
    """

    budget: int
    share: Metric
    median_tokens: int


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """The result of one labelled question.

    ``first_rank`` is the rank of the first page that answers the question. ``values`` maps the names of the metrics
    that apply to the question to their values. ``gate_score`` is 1 if the question is answered at every threshold, and
    ``None`` if it is refused at every threshold or if the evaluation only measures rankings. ``answered`` says whether
    ``gate_score`` reaches the threshold of the evaluation. ``wrong`` says whether the answer is wrong; if the question
    is not answered, it says whether the answer would be wrong at a lower threshold. ``problem`` says what is wrong with
    the result; it is empty if nothing is wrong. ``search_ms`` is the time in milliseconds that the method needed to
    rank passages; ``None`` in evaluations of earlier versions. ``is_pseudo`` says whether the question was made from a
    sentence of the document.
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
    search_ms: float | None = None
    is_pseudo: bool = False


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """The effect of a threshold: ``coverage`` is the share of all questions that are answered at this threshold.

    ``risk`` is the share of wrong answers among the answers to these questions.
    """

    threshold: float
    coverage: float
    risk: float


@dataclass(frozen=True, slots=True)
class ThresholdAdvice:
    """The lowest threshold at which at most the share ``most`` of unanswerable questions is answered.

    ``unanswerable_answered`` and ``answerable_answered`` are the shares of unanswerable and of answerable questions
    that are answered at this threshold. ``unanswerable`` is the number of unanswerable questions.
    ``unanswerable_possible`` is the one-sided 95 % upper confidence bound of ``unanswerable_answered``. To confirm that
    the share is at most ``most``, at least ``unanswerable_needed`` unanswerable questions are needed, all of which must
    be refused; ``None`` if no number of questions suffices.
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
        """A text for the user that says how reliable the threshold is and whether more questions are needed."""
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
    """The metrics of one configuration on a set of labelled questions.

    ``figures`` contains the metrics over all questions, ``outcomes`` the result of each question.
    ``precision_recall`` contains the interpolated precision at the recalls 0.0, 0.1, 0.2 and so on to 1.0; it is empty
    if no label names a page. ``threshold`` is the threshold of the gate during the evaluation. ``judge_report`` is
    ``None`` if no language model judged the answers. ``index_bytes`` is the size of the indexes that the configuration
    reads; ``None`` in evaluations of earlier versions.
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
    judge_report: JudgeReport | None = None
    index_bytes: int | None = None

    @property
    def pseudo_questions(self) -> int:
        """Number of questions that were made from sentences of the documents."""
        return sum(one.is_pseudo for one in self.outcomes)


@dataclass(frozen=True, slots=True)
class EvaluationProgress:
    """An event of `Evaluations.run`: ``done`` of ``total`` questions are finished."""

    done: int
    total: int


EvaluationEvent = EvaluationProgress | Evaluation


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mean difference of a metric between two evaluations: the second minus the first.

    The mean is taken over the ``n`` questions for which both evaluations have the metric. ``p_value`` is two-sided and
    computed with the paired bootstrap.
    """

    metric: str
    difference: Interval
    p_value: float
    n: int


@dataclass(frozen=True, slots=True)
class MethodRow:
    """A row of the table that compares retrieval methods.

    Attributes
    ----------
    evaluation_id, configuration : str
        The evaluation of the method, and the name of its configuration.
    is_reference : bool
        Whether the other rows are compared with this row.
    questions : int
        Number of questions that were asked.
    metrics : mapping of str to Metric
        The metrics by name. Methods that only rank passages have no metrics of answers.
    differences : mapping of str to Comparison
        The method minus the reference, for the metrics in `TABLE_METRICS`; empty for the reference.
    median_ms, p95_ms : float or None
        Median and 95th percentile of the milliseconds in which passages were ranked for a question.
    index_bytes : int or None
        Size of the indexes that the method reads.
    """

    evaluation_id: str
    configuration: str
    is_reference: bool
    questions: int
    metrics: Mapping[str, Metric]
    differences: Mapping[str, Comparison]
    median_ms: float | None
    p95_ms: float | None
    index_bytes: int | None

    def is_significant(self, metric: str) -> bool:
        """Return whether the p-value of the difference from the reference is below `SIGNIFICANCE_LEVEL`."""
        return metric in self.differences and self.differences[metric].p_value < SIGNIFICANCE_LEVEL


@dataclass(frozen=True, slots=True)
class ReleaseCheck:
    """Whether a change may be released, with the reason in words.

    ``refused`` means that faithfulness certainly falls, and ``uncertain`` that it falls, but perhaps by chance.
    ``unmeasured`` means that no figure of faithfulness was measured.
    """

    verdict: Literal["passed", "uncertain", "refused", "unmeasured"]
    reason: str
