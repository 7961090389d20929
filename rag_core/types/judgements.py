"""Verdicts of a language model that judges answers (the judge), and how far they agree with other verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rag_core.types.usage import Usage

# Names of the metrics of the judge; see `rag_core.research.judge`.
FAITHFULNESS = "judge_faithfulness"
VERIFIER_FAITHFULNESS = "verifier_faithfulness"
ANSWER_RELEVANCE = "judge_answer_relevance"
CONTEXT_PRECISION = "judge_context_precision"
CONTEXT_RECALL = "judge_context_recall"
JUDGE_METRICS = (FAITHFULNESS, VERIFIER_FAITHFULNESS, ANSWER_RELEVANCE, CONTEXT_PRECISION, CONTEXT_RECALL)


@dataclass(frozen=True, slots=True)
class JudgeConfig:
    """The language model that judges the answers of an evaluation; ``None`` stands for the configured model."""

    model: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of a language model on a statement or passage, its reason, and the ranks of the passages it names."""

    positive: bool
    reason: str = ""
    ranks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class StatementVerdict:
    """A statement of an answer, and whether the judge and the verifier consider it supported.

    ``judge`` is ``None`` if the judge gave no verdict. ``reason`` is the judge's reason.
    """

    question: str
    statement: str
    judge: bool | None
    verifier: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judge's verdicts on one answer.

    Attributes
    ----------
    judge : str
        Name of the judge, such as ``openai:MODEL``.
    values : mapping of str to float
        Values of the metrics by name; see `rag_core.research.judge`.
    not_judged : tuple of str
        Metrics without a value, because a reply of the judge could not be read.
    statements : tuple of StatementVerdict
    passages : mapping of int to bool
        Whether a passage is useful for the answer, by the rank of the passage.
    usage : Usage
    seconds : float
        Duration of the calls.
    problems : tuple of str
        Failures of the endpoint, in words.
    """

    judge: str
    values: Mapping[str, float] = field(default_factory=dict)
    not_judged: tuple[str, ...] = ()
    statements: tuple[StatementVerdict, ...] = ()
    passages: Mapping[int, bool] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often two raters give the same verdict: the number of each combination of their verdicts.

    ``raters`` says in words who the raters are and what they rate.
    """

    raters: str
    both_positive: int
    first_only: int
    second_only: int
    both_negative: int

    @property
    def n(self) -> int:
        """Number of pairs of verdicts."""
        return self.both_positive + self.first_only + self.second_only + self.both_negative

    @property
    def share(self) -> float:
        """Share of pairs with equal verdicts; 0 without pairs."""
        return (self.both_positive + self.both_negative) / self.n if self.n else 0.0

    @property
    def kappa(self) -> float | None:
        """Agreement beyond chance, from -1 to 1 (Cohen, "A coefficient of agreement for nominal scales", 1960).

        Kappa is undefined, and this is ``None``, without pairs, or if both raters give only positive or only negative
        verdicts.
        """
        if not self.n:
            return None
        first, second = self.both_positive + self.first_only, self.both_positive + self.second_only
        by_chance = (first * second + (self.n - first) * (self.n - second)) / self.n**2
        return None if by_chance == 1 else (self.share - by_chance) / (1 - by_chance)


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """The verdicts of the judge on the answers of an evaluation. The metrics of the judge are in `Evaluation.figures`.

    Attributes
    ----------
    judge, writer : str
        The model that judged, and the generator that wrote the answers, such as ``openai:MODEL``.
    answers : int
        Number of judged answers. It includes refusals, for which only the passages are judged.
    not_judged : mapping of str to int
        Number of answers for which a reply of the judge could not be read, by metric.
    agreements : tuple of Agreement
        Agreement of the judge with the verifier and with the labels.
    statements : tuple of StatementVerdict
    usage : Usage
    seconds : float
        Duration of all calls.
    problems : tuple of str
        Distinct failures of the endpoint, in words.
    """

    judge: str
    writer: str
    answers: int
    not_judged: Mapping[str, int]
    agreements: tuple[Agreement, ...]
    statements: tuple[StatementVerdict, ...]
    usage: Usage
    seconds: float
    problems: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the cost, failures of the endpoint, missing verdicts, and the `warning`."""
        listed = ", ".join(f"{metric} {count}" for metric, count in self.not_judged.items())
        missing = f"Not judged, because a reply is missing or cannot be read (of {self.answers} answers): {listed}."
        notes = (
            f"The judge, {self.judge}, used {self.usage.label} and {self.seconds:,.0f} s.",
            *self.problems,
            missing if listed else "",
            self.warning,
        )
        return tuple(note for note in notes if note)

    @property
    def warning(self) -> str:
        """A warning if the judge also wrote the answers; empty otherwise.

        Models favour their own texts: Panickssery et al., "LLM evaluators recognize and favor their own generations",
        NeurIPS 2024.
        """
        if self.judge != self.writer:
            return ""
        return (
            f"The judge, {self.judge}, wrote the answers itself. Models rate their own text higher than others do "
            "(self-preference). Judge with another model before you rely on these figures."
        )
