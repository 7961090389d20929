"""Ask labelled questions one after another, and compare the results with the labels."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from rag_core.answering.ask import Answerer
from rag_core.answering.page_context import PageSelector
from rag_core.answering.page_reading import PageReader
from rag_core.answering.search import Searcher
from rag_core.answering.strategies.registry import Strategies
from rag_core.errors import LabelError, QuestionError
from rag_core.evaluation.asking import AskFunction, BuildRanker, MethodResult, build_baseline_ask, build_search_ask
from rag_core.evaluation.context_value import measure_context
from rag_core.evaluation.costs import measure_index
from rag_core.evaluation.evidence_metrics import add_evidence, weigh_evidence
from rag_core.evaluation.judging import AnswerJudge, JudgedAnswer
from rag_core.evaluation.label_comparison import compare_with_label, is_answered
from rag_core.evaluation.metrics import compute_metrics, compute_precision_recall, compute_risk_coverage
from rag_core.evaluation.page_finder import PageFinder
from rag_core.evaluation.ranking_metrics import compute_ranking_metrics
from rag_core.reading.answer_probabilities import compute_probabilities_by_passage
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.preferences import Preferences
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.store.database import create_id, now
from rag_core.types.answers import Answer, AnswerState
from rag_core.types.conversations import Scope
from rag_core.types.documents import PageKey
from rag_core.types.evaluation import Baseline, Evaluation, EvaluationEvent, EvaluationProgress, Label, QuestionResult
from rag_core.types.judgements import JudgeConfig, Judgement
from rag_core.types.retrieval import RetrievalConfig, Timer


@dataclass(frozen=True, eq=False)
class EvaluationRunner:
    """Asks labelled questions, compares the rankings and answers with the labels, and stores the evaluation.

    Parameters
    ----------
    settings : Settings
    stores : Stores
    searcher : Searcher
    strategies : Strategies
    answerer : Answerer
    preferences : Preferences
    models : LanguageModels
    judge : AnswerJudge
    reader : PageReader
    build_ranker : callable
        Returns the ranker of a baseline for some texts.
    """

    settings: Settings
    stores: Stores
    searcher: Searcher
    strategies: Strategies
    answerer: Answerer
    preferences: Preferences
    models: LanguageModels
    judge: AnswerJudge
    reader: PageReader
    build_ranker: BuildRanker

    def run(
        self,
        labels: Sequence[Label],
        configuration: RetrievalConfig | Baseline,
        name: str,
        *,
        answers: bool,
        judge_config: JudgeConfig | None = None,
        with_context: bool = False,
    ) -> Generator[EvaluationEvent, None, None]:
        """Yield progress, and at the end the stored evaluation; see `Evaluations.run`."""
        if not labels:
            raise LabelError(
                "There are no labelled questions. Choose a file of labelled questions, or rate answers in the chat."
            )
        started = time.perf_counter()
        threshold = self.preferences.threshold
        if isinstance(configuration, RetrievalConfig):
            self.strategies.check(configuration)
            # Store the present values of the settings, which may change later.
            configuration = replace(configuration, rank_by=configuration.rank_by or self.settings.rank_by)
            if configuration.adapter is None and self.preferences.adapters.select(None):
                configuration = replace(configuration, adapter=True)
            if configuration.threshold is not None:
                threshold = configuration.threshold
        self._check_questions(labels)
        if judge_config is not None:
            self.judge.find_judge_name(judge_config)  # fails before the first question if there is no judge
        finder, selector = PageFinder(self.stores.documents), PageSelector(self.stores, self.reader)
        relevant, stale = finder.find_all(labels), finder.find_all(labels, current=False)
        ask, index_bytes = self._build_ask(configuration, labels[0].question, answers=answers)
        asked: list[MethodResult] = []
        values: dict[str, dict[str, float]] = {label.label_id: {} for label in labels}
        judgements: dict[str, Judgement] = {}
        for done, (label, pages) in enumerate(zip(labels, relevant, strict=True)):
            yield EvaluationProgress(done, len(labels))
            found = ask(label.question, pages)
            if with_context and found.outcome is not None:
                values[label.label_id] |= measure_context(label, pages, found.outcome, selector)
            # Drop the outcome: those of all questions would need much memory.
            asked.append(replace(found, outcome=None))
            if judge_config is not None and found.answer is not None:
                judgement = self._judge_answer(label, found.answer, threshold, judge_config)
                judgements[label.label_id] = judgement
                values[label.label_id] |= judgement.values
        yield EvaluationProgress(len(labels), len(labels))
        measured = compute_ranking_metrics(
            {label.label_id: found.pages for label, found in zip(labels, asked, strict=True)},
            {label.label_id: pages for label, pages in zip(labels, relevant, strict=True) if pages},
        )
        outcomes = tuple(
            self._compare_with_label(
                label, pages, outdated, found, measured.get(label.label_id, {}) | values[label.label_id], threshold
            )
            for label, pages, outdated, found in zip(labels, relevant, stale, asked, strict=True)
        )
        judged = [
            JudgedAnswer(found.answer, judgements[outcome.label_id], pages, _is_right(outcome))
            for outcome, pages, found in zip(outcomes, relevant, asked, strict=True)
            if found.answer is not None and outcome.label_id in judgements
        ]
        evaluation = Evaluation(
            evaluation_id=create_id(),
            name=name,
            configuration=configuration.label,
            generator=self.models.generator,
            threshold=threshold,
            created_at=now(),
            seconds=time.perf_counter() - started,
            figures=compute_metrics(outcomes),
            outcomes=outcomes,
            precision_recall=compute_precision_recall(outcomes),
            risk_coverage=compute_risk_coverage(outcomes),
            judge_report=self.judge.report(judged, self.models.generator) if judged else None,
            index_bytes=index_bytes,
        )
        self.stores.evaluations.add(evaluation)
        yield evaluation

    def _build_ask(
        self, configuration: RetrievalConfig | Baseline, question: str, *, answers: bool
    ) -> tuple[AskFunction, int]:
        """Return a function that asks a question with a method, and the size in bytes of the method's indexes.

        Run a search for ``question`` first, so that models are loaded.
        """
        if isinstance(configuration, Baseline):
            return build_baseline_ask(self.stores.documents, configuration, self.build_ranker)
        rank_by = configuration.rank_by or self.settings.rank_by
        ask = build_search_ask(self.searcher, self.strategies, self.answerer, configuration, rank_by, answers=answers)
        # The first search loads models, whose time would count as that of the first question.
        warm_up = self.searcher.build_query(question, Scope(), None, configuration)
        self.searcher.search(replace(warm_up, gated=False), Timer())
        return ask, measure_index(self.stores, configuration, rank_by)

    def _compare_with_label(
        self,
        label: Label,
        relevant: Mapping[PageKey, str],
        stale: Mapping[PageKey, str],
        asked: MethodResult,
        values: Mapping[str, float],
        threshold: float,
    ) -> QuestionResult:
        result = compare_with_label(label, relevant, asked.pages, values, asked.answer, threshold)
        result = replace(result, search_ms=asked.search_ms)
        if asked.answer is None or not relevant:
            return result
        find = partial(self.reader.find_answers_inside, label.question)
        probabilities = compute_probabilities_by_passage(asked.passages, find) if label.answers else {}
        ages = self.stores.documents.version_ages({one.version_id for one in asked.passages})
        freshness = self.settings.freshness
        evidence = weigh_evidence(label, asked.passages, relevant, stale, probabilities, ages, freshness)
        return add_evidence(result, label, asked.answer, evidence, stale)

    def _check_questions(self, labels: Sequence[Label]) -> None:
        """Raise `LabelError` if a question is invalid, before any question is asked, so that no results are lost."""
        for label in labels:
            try:
                self.searcher.normalize_question(label.question)
            except QuestionError as error:
                raise LabelError(f"{label.where}: {error}") from None

    def _judge_answer(self, label: Label, answer: Answer, threshold: float, config: JudgeConfig) -> Judgement:
        """Return the judge's verdicts on an answer, which counts as a refusal if its score is below the threshold."""
        if not is_answered(answer, threshold):
            answer = replace(answer, state=AnswerState.ABSTAINED)
        return self.judge.judge_answer(answer, config, expected=label.answers[0] if label.answers else "")


def _is_right(outcome: QuestionResult) -> bool | None:
    contains_answer = outcome.values.get("contains_answer")
    return None if contains_answer is None else contains_answer == 1.0
