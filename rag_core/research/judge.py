"""Let a language model judge answers and passages.

The metrics are those of Es et al., "RAGAS: Automated evaluation of retrieval augmented generation", EACL 2024, and
of the library ragas:

``judge_faithfulness``
    Share of the statements of the answer that the passages support. The judge gets the statements of the verifier
    instead of extracting its own, so that both judge the same statements.
``judge_answer_relevance``
    Mean cosine between the question and three questions that the judge writes for the answer without seeing the
    question; 0 if the answer is noncommittal. The embedder is that of the index.
``judge_context_precision``
    Mean of precision@k over the ranks k of the useful passages. A passage is useful if it helps to arrive at the
    expected answer, or at the given answer if no answer is expected.
``judge_context_recall``
    Share of the sentences of the expected answer that can be attributed to the passages.

``verifier_faithfulness``
    Share of the same statements that the verifier supports.

A metric is computed only if all its verdicts can be read. Otherwise, it counts as not judged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rag_core.errors import GeneratorAuthError, GeneratorError
from rag_core.evaluation.judging import JudgedAnswer
from rag_core.llm.context_budget import count_available_tokens, count_prompt_tokens, pack_batches
from rag_core.llm.generator import LanguageModel
from rag_core.llm.judge_prompts import (
    QUESTIONS_SCHEMA,
    VERDICTS_SCHEMA,
    build_expected_messages,
    build_passage_messages,
    build_question_messages,
    build_statement_messages,
    parse_questions,
    parse_verdicts,
)
from rag_core.research.agreement import report_judgements
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.language_models import LanguageModels
from rag_core.text.sentences import find_sentence_spans
from rag_core.types.answers import Answer, AnswerState, strip_markers
from rag_core.types.judgements import (
    ANSWER_RELEVANCE,
    CONTEXT_PRECISION,
    CONTEXT_RECALL,
    FAITHFULNESS,
    VERIFIER_FAITHFULNESS,
    JudgeConfig,
    Judgement,
    JudgeReport,
    StatementVerdict,
    Verdict,
)
from rag_core.types.retrieval import Passage
from rag_core.types.usage import Usage

# Most passages that one reply judges. In longer lists, models lose count.
MAX_PASSAGES_PER_CALL = 8

# A function that returns the chat messages of a request about some passages.
BuildMessages = Callable[[Sequence[Passage]], list[dict[str, str]]]


@dataclass(slots=True)
class _Calls:
    """Calls one model to judge one answer, and collects the usage and the problems of all calls."""

    model: LanguageModel
    usage: Usage = field(default_factory=Usage)
    problems: list[str] = field(default_factory=list)

    def complete(self, messages: Sequence[dict[str, str]], schema: dict[str, Any]) -> str:
        """Return the reply; empty if the endpoint fails. Raise `GeneratorAuthError` if the endpoint rejects the key."""
        try:
            reply = self.model.complete(messages, schema)
        except GeneratorAuthError:
            raise
        except GeneratorError as error:
            self.problems.append(str(error))
            return ""
        self.usage += reply.usage
        return reply.text


class Judge:
    """Judges answers with a language model.

    Parameters
    ----------
    generations : IndexGenerations
        The embedder of the active index computes the answer relevance.
    models : LanguageModels
    """

    def __init__(self, generations: IndexGenerations, models: LanguageModels) -> None:
        self._generations = generations
        self._models = models

    def find_judge_name(self, config: JudgeConfig) -> str:
        """Return the name of the judge, such as ``openai:MODEL``.

        Raises
        ------
        SettingsError
            No language model is connected.
        """
        self._get_model(config)
        return self._models.find_generator_name(config.model)

    def judge_answer(self, answer: Answer, config: JudgeConfig, *, expected: str = "") -> Judgement:
        """Return the judge's verdicts on an answer and its passages.

        For a refusal, only the passages are judged, and only if there is an ``expected`` answer. Quotes after the text
        are not judged.

        Raises
        ------
        SettingsError
            No language model is connected.
        GeneratorAuthError
            The endpoint rejects the key. After other failures of the endpoint, ``not_judged`` lists the metrics that
            are missing.
        """
        started = time.perf_counter()
        calls = _Calls(self._get_model(config))
        values: dict[str, float] = {}
        missing: list[str] = []
        statements: tuple[StatementVerdict, ...] = ()
        useful: dict[int, bool] = {}

        def add(metric: str, value: float | None) -> None:
            if value is None:
                missing.append(metric)
            else:
                values[metric] = value

        text = strip_markers(answer.written_text).strip() if answer.state is AnswerState.ANSWERED else ""
        if text:
            statements = tuple(self._judge_statements(calls, answer))
            if statements:
                add(FAITHFULNESS, compute_share([one.judge for one in statements]))
                add(VERIFIER_FAITHFULNESS, compute_share([one.verifier for one in statements]))
            add(ANSWER_RELEVANCE, self._judge_relevance(calls, answer.question, text))
        if answer.passages and (expected or text):
            useful = self._judge_passages(calls, answer, expected or text)
            add(CONTEXT_PRECISION, compute_context_precision([useful.get(one.rank) for one in answer.passages]))
        if answer.passages and expected:
            add(CONTEXT_RECALL, self._judge_recall(calls, answer, expected))
        return Judgement(
            judge=self.find_judge_name(config),
            values=values,
            not_judged=tuple(missing),
            statements=statements,
            passages=useful,
            usage=calls.usage,
            seconds=time.perf_counter() - started,
            problems=tuple(dict.fromkeys(calls.problems)),
        )

    def report(self, judged: Sequence[JudgedAnswer], writer: str) -> JudgeReport:
        """Return the report over all judged answers of an evaluation."""
        return report_judgements(judged, writer)

    def _get_model(self, config: JudgeConfig) -> LanguageModel:
        return self._models.require("Judging answers", config.model)

    def _judge_statements(self, calls: _Calls, answer: Answer) -> Iterator[StatementVerdict]:
        written = [one for one in answer.statements if one.start < len(answer.written_text)]
        if not written:
            return
        texts = [strip_markers(answer.text[one.start : one.end]).strip() for one in written]
        verdicts = self._judge_items(
            calls, answer, len(texts), lambda passages: build_statement_messages(answer.question, passages, texts)
        )
        for number, (claim, text) in enumerate(zip(written, texts, strict=True), 1):
            verdict = verdicts.get(number)
            positive, reason = (verdict.positive, verdict.reason) if verdict else (None, "")
            yield StatementVerdict(answer.question, text, positive, claim.supported, reason)

    def _judge_recall(self, calls: _Calls, answer: Answer, expected: str) -> float | None:
        sentences = [expected[start:end] for start, end in find_sentence_spans(expected)] or [expected]
        verdicts = self._judge_items(
            calls,
            answer,
            len(sentences),
            lambda passages: build_expected_messages(answer.question, passages, sentences),
        )
        found = (verdicts.get(number) for number in range(1, len(sentences) + 1))
        return compute_share([one.positive if one else None for one in found])

    def _judge_items(self, calls: _Calls, answer: Answer, count: int, build: BuildMessages) -> dict[int, Verdict]:
        """Return the verdicts on items, numbered from 1 to ``count``: whether the passages support each item.

        If the passages need several prompts, see `_merge_verdicts`. Items without a verdict are left out.
        """
        replies = []
        for passages in _pack_passages(calls.model, answer.passages, build, most=len(answer.passages)):
            reply = calls.complete(build(passages), VERDICTS_SCHEMA)
            replies.append(parse_verdicts(reply, range(1, count + 1)))
        return dict(_merge_verdicts(replies, count))

    def _judge_passages(self, calls: _Calls, answer: Answer, target: str) -> dict[int, bool]:
        """Return whether each passage helps to arrive at ``target``, by rank; leave out missing verdicts."""

        def build(passages: Sequence[Passage]) -> list[dict[str, str]]:
            return build_passage_messages(answer.question, passages, target)

        useful: dict[int, bool] = {}
        for passages in _pack_passages(calls.model, answer.passages, build, MAX_PASSAGES_PER_CALL):
            reply = calls.complete(build(passages), VERDICTS_SCHEMA)
            verdicts = parse_verdicts(reply, [one.rank for one in passages])
            useful |= {rank: verdict.positive for rank, verdict in verdicts.items()}
        return useful

    def _judge_relevance(self, calls: _Calls, question: str, text: str) -> float | None:
        written = parse_questions(calls.complete(build_question_messages(text), QUESTIONS_SCHEMA))
        if written is None:
            return None
        if written.noncommittal:
            return 0.0
        embedder = self._generations.active().embedder
        vectors = [embedder.embed_question(one).dense for one in (question, *written.questions)]
        unit = [vector / np.linalg.norm(vector) for vector in vectors]
        return float(np.mean([unit[0] @ one for one in unit[1:]]))


def compute_share(verdicts: Sequence[bool | None]) -> float | None:
    """Return the share of positive verdicts; ``None`` if there are no verdicts, or if one of them is ``None``."""
    if not verdicts or any(one is None for one in verdicts):
        return None
    return sum(map(bool, verdicts)) / len(verdicts)


def compute_context_precision(useful: Sequence[bool | None]) -> float | None:
    """Return the mean of precision@k over the ranks k of the useful passages; 0 if no passage is useful.

    Parameters
    ----------
    useful : sequence of bool or None
        The verdict on each passage, in the order of the ranks; ``None`` if the verdict is missing.

    Returns
    -------
    float or None
        ``None`` if a verdict is missing, or if there are no passages.
    """
    if not useful or any(one is None for one in useful):
        return None
    precisions = [sum(map(bool, useful[:rank])) / rank for rank, one in enumerate(useful, 1) if one]
    return sum(precisions) / len(precisions) if precisions else 0.0


def _pack_passages(
    model: LanguageModel, passages: Sequence[Passage], build: BuildMessages, most: int
) -> Iterator[Sequence[Passage]]:
    """Yield batches of at most ``most`` passages that fit into one prompt; a passage that is too long is alone."""
    room = count_available_tokens(build(()), model.profile.filled_tokens, model.answer_tokens)
    for run in pack_batches([count_prompt_tokens(one) for one in passages], room):
        for first in range(run.start, run.stop, most):
            yield passages[first : min(first + most, run.stop)]


def _merge_verdicts(replies: Sequence[Mapping[int, Verdict]], count: int) -> Iterator[tuple[int, Verdict]]:
    """Yield the number of each item and its verdict over several replies.

    The verdict is the first positive one. If all replies have negative verdicts, it is the first of these. If a reply
    lacks a verdict and no other is positive, the item is left out.
    """
    for number in range(1, count + 1):
        verdicts = [one.get(number) for one in replies]
        found = next((one for one in verdicts if one and one.positive), None)
        if found is None and all(verdicts):
            found = next(iter(verdicts), None)
        if found is not None:
            yield number, found
