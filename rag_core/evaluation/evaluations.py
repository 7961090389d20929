"""Run evaluations, directly or in the background; store, compare and report them."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from rag_core.answering.strategies.registry import Strategies
from rag_core.evaluation.context_value import summarize_context
from rag_core.evaluation.methods import list_choices, list_methods, tabulate
from rag_core.evaluation.metrics import compare, split_gate_scores
from rag_core.evaluation.plots import build_gate_score_plot, build_plots
from rag_core.evaluation.release import check_release
from rag_core.evaluation.report import write_report
from rag_core.evaluation.runner import EvaluationRunner
from rag_core.evaluation.thresholds import MAX_UNANSWERABLE_SHARE, advise_threshold
from rag_core.runtime.background import BackgroundService
from rag_core.runtime.preferences import Preferences
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.types.evaluation import (
    Baseline,
    Comparison,
    ConfigurationChoice,
    ContextValue,
    Evaluation,
    EvaluationEvent,
    Label,
    MethodRow,
    ReleaseCheck,
    ThresholdAdvice,
)
from rag_core.types.jobs import RunState
from rag_core.types.judgements import JudgeConfig
from rag_core.types.retrieval import RetrievalConfig
from rag_core.types.searches import DEFAULT_CONFIGURATION


class Evaluations(BackgroundService):
    """Evaluations of labelled questions; at most one evaluation at a time runs in the background.

    Parameters
    ----------
    settings : Settings
    stores : Stores
    runner : EvaluationRunner
    strategies : Strategies
    preferences : Preferences
    """

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        runner: EvaluationRunner,
        strategies: Strategies,
        preferences: Preferences,
    ) -> None:
        super().__init__("evaluation")
        self._settings = settings
        self._strategies = strategies
        self._stores = stores
        self._runner = runner
        self._preferences = preferences
        # The last table: its key (the label of the default configuration and the ids of the evaluations), and its rows.
        self._table: tuple[tuple[str, ...], tuple[MethodRow, ...]] = ((), ())

    def run(
        self,
        labels: Sequence[Label],
        configuration: RetrievalConfig | Baseline | None = None,
        *,
        name: str = "",
        answers: bool = True,
        judge: JudgeConfig | None = None,
        with_context: bool = False,
    ) -> Generator[EvaluationEvent, None, None]:
        """Ask labelled questions; yield progress, and at the end one `Evaluation`, which is stored.

        Questions whose gate score is below the threshold are answered too, so that the evaluation shows the effect of
        other thresholds. If the iterator is closed, the evaluation stops and is not stored.

        Parameters
        ----------
        labels : sequence of Label
        configuration : RetrievalConfig or Baseline, optional
            How to retrieve. Default: as in the settings.
        name : str
            Name of the evaluation in lists.
        answers : bool
            Whether to answer the questions. Otherwise, only rankings are measured.
        judge : JudgeConfig, optional
            The language model that judges the answers and their passages; see `rag_core.research.judge`.
        with_context : bool
            Whether to measure how often the pages in the prompt of a capable model contain the answer.

        Raises
        ------
        SettingsError
            No language model is set for a judge or a strategy, or no themes were built for the strategy ``themes``.
        LabelError
            There are no labels, or a label names a document or page that is not in the library.
        GeneratorError
            The endpoint failed. Quotes cannot replace its answers, because they would count as answers of the model.
        EmbedderError, RerankerMissing, IndexMismatch, StoreError
        """
        return self._runner.run(
            *(labels, configuration or DEFAULT_CONFIGURATION, name),
            answers=answers,
            judge_config=judge,
            with_context=with_context,
        )

    def start(
        self,
        labels: Sequence[Label],
        configurations: Sequence[RetrievalConfig | Baseline],
        *,
        name: str = "",
        answers: bool = True,
        judge: JudgeConfig | None = None,
    ) -> RunState:
        """Run one evaluation per configuration in the background, one after another; return the state.

        If a run is active, start nothing and return the state of this run. The pages in prompts (``with_context`` of
        `run`) are measured only for one or two configurations. May raise `SettingsError`; see `check`.
        """
        with_context = len(configurations) <= 2
        measure = partial(self.run, name=name, answers=answers, judge=judge, with_context=with_context)
        self.check(configurations)

        def work() -> None:
            complete: tuple[str, ...] = ()
            for position, configuration in enumerate(configurations):
                with closing(measure(labels, configuration)) as events:
                    for event in events:
                        if isinstance(event, Evaluation):
                            complete = (*complete, event.evaluation_id)
                            self._background.change(evaluation_ids=complete)
                        else:
                            self._background.advance(done=position * len(labels) + event.done)

        stage = f"Asking the questions of {name}" if name else "Asking the questions"
        return self._background.start(stage, len(labels) * len(configurations), work)

    def check(self, configurations: Sequence[RetrievalConfig | Baseline]) -> None:
        """Raise `SettingsError` if no themes were built and a configuration has the strategy ``themes``.

        Without themes, this strategy would run the plain search, and the evaluation would measure the plain search.
        """
        for configuration in configurations:
            if isinstance(configuration, RetrievalConfig):
                self._strategies.check(configuration)

    def list(self) -> list[Evaluation]:
        """Return the stored evaluations, newest first."""
        return self._stores.evaluations.all()

    def remove(self, evaluation_id: str) -> None:
        """Remove an evaluation."""
        self._stores.evaluations.remove(evaluation_id)

    def compare(self, first: Evaluation, second: Evaluation) -> tuple[Comparison, ...]:
        """Return the difference ``second - first`` of each metric, over the questions that both evaluations asked."""
        return compare(first.outcomes, second.outcomes)

    def list_choices(self, k: float = 1.2, b: float = 0.75) -> Sequence[ConfigurationChoice]:
        """Return the configurations that can be measured; ``k`` and ``b`` are the parameters of the BM25 baseline."""
        return list_choices(self._strategies.list_all(), k, b)

    def list_methods(self, k: float = 1.2, b: float = 0.75) -> Sequence[RetrievalConfig | Baseline]:
        """Return the retrieval methods to compare in one table, from the simplest one to all stages.

        They are the textbook rankers, each retriever, their fusion, and the rerankers. ``k`` and ``b`` are the
        parameters of the BM25 baseline.
        """
        generations = self._stores.documents.generations("active")
        return list_methods(
            self._settings.rank_by,
            retrievers=self._stores.list_retrievers(generations[-1][1] if generations else None),
            has_adapter=self._preferences.adapters.newest is not None,
            has_cross_encoder=bool(self._settings.reranker),
            k=k,
            b=b,
        )

    def tabulate(self, evaluations: Sequence[Evaluation]) -> tuple[MethodRow, ...]:
        """Return a table of evaluations of the same questions, one row each, in the given order.

        Each row contains the paired differences from the evaluation of the default configuration. If the default
        configuration was not evaluated, the last evaluation takes its place.
        """
        # Keep the last table: the Evaluate page shows it again at each interaction, and its paired tests take seconds.
        adapters = self._preferences.adapters
        adapter = None if adapters.newest is None else adapters.select(None) is not None
        default = RetrievalConfig(self._settings.rank_by, adapter=adapter).label
        shown = (default, *(one.evaluation_id for one in evaluations))
        if self._table[0] != shown:
            reference = next((one for one in evaluations if one.configuration == default), evaluations[-1])
            self._table = shown, tabulate(evaluations, reference)
        return self._table[1]

    def check_release(self, first: Evaluation, second: Evaluation) -> ReleaseCheck:
        """Return whether the change from the first to the second evaluation may be released."""
        return check_release(self.compare(first, second))

    def advise_threshold(self, evaluation: Evaluation, most: float = MAX_UNANSWERABLE_SHARE) -> ThresholdAdvice | None:
        """Return the lowest threshold at which at most the share ``most`` of unanswerable questions is answered.

        Return ``None`` if there are no answerable or no unanswerable questions, or if every such threshold up to 1
        refuses all answerable questions.
        """
        return advise_threshold(*split_gate_scores(evaluation.outcomes), most)

    def summarize_context(self, evaluation: Evaluation) -> Sequence[ContextValue]:
        """Return how often the pages in prompts contain the answer, by budget; empty if this was not measured."""
        return summarize_context(evaluation)

    def plots(self, evaluations: Sequence[Evaluation]) -> dict[str, Mapping[str, Any]]:
        """Return charts of one or more evaluations as a mapping of chart name to Vega-Lite specification."""
        return dict(build_plots(evaluations))

    def write_report(self, evaluations: Sequence[Evaluation], folder: Path) -> Sequence[Path]:
        """Write tables (CSV) and charts (SVG) of one or more evaluations; may raise `SettingsError`."""
        comparisons = self.compare(*evaluations) if len(evaluations) == 2 else ()
        methods = self.tabulate(evaluations) if len(evaluations) > 2 else ()
        return write_report(evaluations, comparisons, folder, methods)

    def recent_gate_scores(self, most: int = 200) -> Sequence[float]:
        """Return the scores of the current gate for the newest questions of conversations, newest first."""
        return self._stores.conversations.list_gate_scores(self._preferences.gate, most)

    def gate_scores_plot(self, scores: Sequence[float]) -> Mapping[str, Any]:
        """Return a chart of gate scores and the threshold, as a Vega-Lite specification."""
        return build_gate_score_plot(scores, self._preferences.threshold)
