"""The protocol of a judge of answers, which `rag_core.research.judge` implements."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from rag_core.types.answers import Answer
from rag_core.types.documents import PageKey
from rag_core.types.judgements import JudgeConfig, Judgement, JudgeReport


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """An answer with its judgement, and its comparison with the label of the question.

    Attributes
    ----------
    answer : Answer
    judgement : Judgement
    pages : collection of PageKey
        The labelled pages that answer the question.
    is_right : bool or None
        Whether the answer contains an expected answer; ``None`` if the label names no expected answer, or if the
        documents do not answer the question.
    """

    answer: Answer
    judgement: Judgement
    pages: Collection[PageKey]
    is_right: bool | None


class AnswerJudge(Protocol):
    """Judges answers and their passages."""

    def find_judge_name(self, config: JudgeConfig) -> str:
        """Return the name of the judge; raise `SettingsError` if there is none."""

    def judge_answer(self, answer: Answer, config: JudgeConfig, *, expected: str = "") -> Judgement:
        """Return the verdicts on an answer and its passages; ``expected`` is the expected answer, empty if unknown."""

    def report(self, judged: Sequence[JudgedAnswer], writer: str) -> JudgeReport:
        """Return the report over all judged answers of an evaluation; ``writer`` is what wrote the answers."""
