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

# Metrics in the table that compares retrieval methods.
TABLE_METRICS = ("recall@1", "recall@5", "mrr@10", "ndcg@10", "exact_match", "token_f1")
# A difference is significant if its p-value is lower.
SIGNIFICANCE_LEVEL = 0.05
# Minimum number of questions for a significant difference. An exact sign test of five questions that all change in one
# direction has p = 0.06; the bootstrap, which draws from these few, would not notice.
MIN_SIGNIFICANT_QUESTIONS = 6


class LabelKind(str, Enum):
    """Whether the documents answer a labelled question.

    - ``answerable``: the documents contain the answer.
    - ``off-corpus``: the documents do not cover the subject of the question.
    - ``adversarial``: the documents cover the subject, but do not contain the answer.
    - ``no answer``: either of the two previous kinds.
    """

    ANSWERABLE = "answerable"
    NO_ANSWER = "no answer"
    OFF_CORPUS = "off-corpus"
    ADVERSARIAL = "adversarial"


# Whether the answer on a labelled page is valid, was valid formerly, or must not be used.
EvidenceState = Literal["current", "stale", "inadmissible"]
EVIDENCE_STATES: tuple[EvidenceState, ...] = ("current", "stale", "inadmissible")


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """A page that belongs to a labelled question; only a page whose ``state`` is ``current`` answers it correctly.

    A page is identified by ``page_index`` (from 0), by its printed number ``page``, or by a ``quote`` from its text.
    """

    document: str
    page_index: int | None = None
    page: str = ""
    quote: str = ""
    state: EvidenceState = "current"


@dataclass(frozen=True, slots=True)
class Label:
    """A question with the pages and answers that are expected.

    ``where`` is the file and line of the label, for messages. ``is_pseudo`` is true if the question was generated from
    a sentence of a document; see `rag_core.research.learning.inverse_cloze`.
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
    """A classical method that ranks pages without answering questions.

    ``k`` and ``b`` are the parameters of BM25; TF-IDF ignores them.
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
    """A configuration that users can choose to evaluate.

    Attributes
    ----------
    name : str
        Name on the command line.
    configuration : RetrievalConfig or Baseline
    label : str
        Name for display. Empty if ``stage`` or ``strategy`` is set; its name is displayed instead.
    stage : str or None
        The stage of the search whose score orders the passages, if the configuration evaluates one.
    strategy : StrategyDescription or None
        The search strategy, if the configuration evaluates a strategy.
    """

    name: str
    configuration: RetrievalConfig | Baseline
    label: str = ""
    stage: str | None = None
    strategy: StrategyDescription | None = None


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its 95 % confidence interval from ``low`` to ``high``."""

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
    """How often the pages in the prompt, with at most ``budget`` tokens, contain the answer.

    ``share`` is the share of the questions for which they do. ``median_tokens`` is the median of their tokens.
    """

    budget: int
    share: Metric
    median_tokens: int


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """The result of one labelled question.

    Attributes
    ----------
    evidence : tuple of str
        The labelled pages, in words.
    first_rank : int or None
        Rank of the first page that answers the question; ``None`` if no such page was found.
    values : mapping of str to float
        Values of the metrics that apply to the question, by name.
    text : str
        Text of the answer.
    gate_score : float or None
        Score that the gate compares with its threshold: 1 if the question is answered at every threshold; ``None`` if
        it is refused at every threshold, or if the evaluation only measures rankings.
    answered : bool
        Whether ``gate_score`` reaches the threshold of the evaluation.
    wrong : bool
        Whether the answer is wrong, or would be wrong at a lower threshold if the question is refused.
    problem : str
        What is wrong with the result; empty if nothing is wrong.
    search_ms : float or None
        Milliseconds in which passages were ranked; ``None`` in evaluations of earlier versions.
    is_pseudo : bool
        Whether the question was generated from a sentence of a document.
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
    """The effect of a threshold of the gate.

    ``coverage`` is the share of all questions that are answered, and ``risk`` the share of wrong answers among them.
    """

    threshold: float
    coverage: float
    risk: float


@dataclass(frozen=True, slots=True)
class ThresholdAdvice:
    """The lowest threshold of the gate at which few enough unanswerable questions are answered.

    Attributes
    ----------
    threshold : float
    most : float
        The largest acceptable share of unanswerable questions that are answered.
    unanswerable_answered, answerable_answered : float
        Shares of the unanswerable and of the answerable questions that are answered at the threshold.
    unanswerable : int
        Number of unanswerable questions.
    unanswerable_possible : float
        One-sided 95 % upper confidence bound of ``unanswerable_answered``.
    unanswerable_needed : int or None
        Number of unanswerable questions, all refused, that would confirm a share of at most ``most``; ``None`` if no
        number suffices.
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
        """How reliable the threshold is and whether more questions are needed, in words for the user."""
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
    """The results of one configuration on a set of labelled questions.

    Attributes
    ----------
    threshold : float
        Threshold of the gate during the evaluation.
    seconds : float
        Duration of the evaluation.
    figures : tuple of Metric
        Metrics over all questions.
    outcomes : tuple of QuestionResult
        The result of each question.
    precision_recall : tuple of float
        Interpolated precision at the recalls 0.0, 0.1, 0.2 and so on to 1.0; empty if no label names a page.
    risk_coverage : tuple of RiskPoint
    judge_report : JudgeReport or None
        ``None`` if no language model judged the answers.
    index_bytes : int or None
        Size of the indexes that the configuration reads; ``None`` in evaluations of earlier versions.
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
        """Number of questions that were generated from sentences of documents."""
        return sum(one.is_pseudo for one in self.outcomes)


@dataclass(frozen=True, slots=True)
class EvaluationProgress:
    """An event of `Evaluations.run`: ``done`` of ``total`` questions are finished."""

    done: int
    total: int


EvaluationEvent = EvaluationProgress | Evaluation


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mean difference of a metric between two evaluations, the second minus the first.

    The mean is over the ``n`` questions for which both evaluations have the metric. ``p_value`` is the two-sided
    p-value of the paired bootstrap.
    """

    metric: str
    difference: Interval
    p_value: float
    n: int

    @property
    def is_significant(self) -> bool:
        """Whether the difference is hardly due to chance."""
        return self.p_value < SIGNIFICANCE_LEVEL and self.n >= MIN_SIGNIFICANT_QUESTIONS


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
        Number of questions.
    metrics : mapping of str to Metric
        The metrics by name. Methods that only rank passages have no metrics of answers.
    differences : mapping of str to Comparison
        The method minus the reference, for the metrics in `TABLE_METRICS`; empty for the reference.
    median_ms, p95_ms : float or None
        Median and 95th percentile of the time to rank passages for a question, in milliseconds.
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
        """Return whether the difference from the reference is significant."""
        return metric in self.differences and self.differences[metric].is_significant


@dataclass(frozen=True, slots=True)
class ReleaseCheck:
    """Whether a change of the configuration may be released, with the reason in words.

    - ``passed``: faithfulness does not fall.
    - ``uncertain``: faithfulness falls, but perhaps by chance.
    - ``refused``: faithfulness falls significantly.
    - ``unmeasured``: no metric of faithfulness was measured.
    """

    verdict: Literal["passed", "uncertain", "refused", "unmeasured"]
    reason: str
