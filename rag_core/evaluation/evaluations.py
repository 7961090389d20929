"""Run evaluations, directly or in the background; store, compare and report them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag_core.errors import RagError
from rag_core.evaluation.methods import tabulate
from rag_core.evaluation.metrics import compare, gate_scores
from rag_core.evaluation.plots import plots, score_plot
from rag_core.evaluation.release import check_release
from rag_core.evaluation.report import write_report
from rag_core.evaluation.runner import EvaluationRunner
from rag_core.evaluation.thresholds import MAX_UNANSWERABLE_SHARE, advise_threshold
from rag_core.runtime.preferences import Preferences
from rag_core.runtime.stores import Stores
from rag_core.types import (
    Baseline,
    Comparison,
    Evaluation,
    EvaluationEvent,
    EvaluationState,
    JudgeConfig,
    Label,
    MethodRow,
    ReleaseCheck,
    RetrievalConfig,
    ThresholdAdvice,
)
from rag_core.types.searches import DEFAULT_CONFIGURATION

log = logging.getLogger(__name__)


class Evaluations:
    """Evaluations of labelled questions; at most one evaluation at a time runs in the background.

    Parameters
    ----------
    stores : Stores
    runner : EvaluationRunner
    preferences : Preferences
    """

    def __init__(self, stores: Stores, runner: EvaluationRunner, preferences: Preferences) -> None:
        self._stores = stores
        self._runner = runner
        self._preferences = preferences
        self._state: EvaluationState | None = None
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        # The evaluations of the last table, and its rows.
        self._table: tuple[tuple[str, ...], tuple[MethodRow, ...]] = ((), ())

    def run(
        self,
        labels: Sequence[Label],
        configuration: RetrievalConfig | Baseline | None = None,
        *,
        name: str = "",
        answers: bool = True,
        judge: JudgeConfig | None = None,
    ) -> Generator[EvaluationEvent, None, None]:
        """Ask labelled questions; yield progress, and at the end one `Evaluation`, which is stored.

        Each question is searched for once. Questions whose gate score is below the threshold are answered as well, so
        that the evaluation also shows the effect of other thresholds. If the iterator is closed, the evaluation stops
        and is not stored.

        Parameters
        ----------
        labels : sequence of Label
        configuration : RetrievalConfig or Baseline, optional
            How to retrieve; by default as in the settings.
        name : str
            Name of the evaluation in lists.
        answers : bool
            Whether to answer the questions; if not, only rankings are measured.
        judge : JudgeConfig, optional
            The language model that judges the answers and their passages; see `rag_core.evaluation.judge`.

        Raises
        ------
        SettingsError
            No language model is set for a judge or a strategy.
        LabelError
            There are no labels, or a label names a document or page that is not in the library.
        GeneratorError
            The endpoint failed. Quotes cannot replace its answers, because they would count as answers of the model.
        EmbedderError, RerankerMissing, IndexMismatch, StoreError
        """
        return self._runner.run(
            labels, configuration or DEFAULT_CONFIGURATION, name, answers=answers, judge_config=judge
        )

    def start(
        self,
        labels: Sequence[Label],
        configurations: Sequence[RetrievalConfig | Baseline],
        *,
        name: str = "",
        answers: bool = True,
        judge: JudgeConfig | None = None,
    ) -> EvaluationState:
        """Run one evaluation per configuration in the background, one after another; return the state.

        If a background run is already active, no new run starts, and the state of the active run is returned.
        """
        with self._lock:
            if self._state is not None and self._state.running:
                return self._state
            self._stopping.clear()
            self._state = EvaluationState(name, 0, len(labels) * len(configurations), running=True)
            self._thread = threading.Thread(
                target=self._work, args=(labels, configurations, name, answers, judge), name="evaluation", daemon=True
            )
            self._thread.start()
            return self._state

    def state(self) -> EvaluationState | None:
        """Return the state of the current or last background run; ``None`` before the first."""
        return self._state

    def cancel(self) -> None:
        """Stop the background run after the current question; discard the unfinished evaluation."""
        self._stopping.set()

    def close(self) -> None:
        """Stop the background run, and wait until it ends."""
        self.cancel()
        if self._thread is not None:
            self._thread.join()

    def list(self) -> list[Evaluation]:
        """Return the stored evaluations, newest first."""
        return self._stores.evaluations.all()

    def get(self, evaluation_id: str) -> Evaluation:
        """Return one evaluation; may raise `UnknownEvaluation`."""
        return self._stores.evaluations.get(evaluation_id)

    def remove(self, evaluation_id: str) -> None:
        """Remove an evaluation."""
        self._stores.evaluations.remove(evaluation_id)

    def compare(self, first: Evaluation, second: Evaluation) -> tuple[Comparison, ...]:
        """Return the difference ``second - first`` of each metric, over the questions that both evaluations asked."""
        return compare(first.outcomes, second.outcomes)

    def list_methods(self, k: float = 1.2, b: float = 0.75) -> Sequence[RetrievalConfig | Baseline]:
        """Return the retrieval methods to compare in one table, from the simplest one to all stages.

        They are the textbook rankers, each retriever, their fusion, and the rerankers. ``k`` and ``b`` are the
        parameters of the BM25 baseline.
        """
        return self._runner.list_methods(k, b)

    def tabulate(self, evaluations: Sequence[Evaluation]) -> tuple[MethodRow, ...]:
        """Return a table of evaluations of the same questions, one row each, in the given order.

        Each row contains the paired differences from the evaluation of the default configuration; if that is not
        among the evaluations, from the last one.
        """
        # The Evaluate page shows the same table again at each interaction, and its paired tests take seconds.
        shown = tuple(one.evaluation_id for one in evaluations)
        if self._table[0] != shown:
            default = self._runner.default_configuration
            reference = next((one for one in evaluations if one.configuration == default), None)
            self._table = shown, tabulate(evaluations, reference or evaluations[-1])
        return self._table[1]

    def check_release(self, first: Evaluation, second: Evaluation) -> ReleaseCheck:
        """Return whether the change from the first to the second evaluation may be released."""
        return check_release(self.compare(first, second))

    def advise_threshold(self, evaluation: Evaluation, most: float = MAX_UNANSWERABLE_SHARE) -> ThresholdAdvice | None:
        """Return the lowest threshold at which at most the share ``most`` of unanswerable questions is answered.

        Return ``None`` if there are no answerable or no unanswerable questions, or if no threshold up to 1 suffices.
        """
        return advise_threshold(*gate_scores(evaluation.outcomes), most)

    def plots(self, evaluations: Sequence[Evaluation]) -> dict[str, Mapping[str, Any]]:
        """Return charts of one or more evaluations as a mapping of chart name to Vega-Lite specification."""
        return dict(plots(evaluations))

    def write_report(self, evaluations: Sequence[Evaluation], folder: Path) -> Sequence[Path]:
        """Write tables (CSV) and charts (SVG) of one or more evaluations; may raise `SettingsError`."""
        comparisons = self.compare(*evaluations) if len(evaluations) == 2 else ()
        methods = self.tabulate(evaluations) if len(evaluations) > 2 else ()
        return write_report(evaluations, comparisons, folder, methods)

    def recent_gate_scores(self, most: int = 200) -> Sequence[float]:
        """Return the scores of the current gate for the newest questions of conversations, newest first."""
        return self._stores.conversations.gate_scores(self._preferences.gate, most)

    def gate_scores_plot(self, scores: Sequence[float]) -> Mapping[str, Any]:
        """Return a chart of gate scores and the threshold, as a Vega-Lite specification."""
        return score_plot(scores, self._preferences.threshold)

    def _work(
        self,
        labels: Sequence[Label],
        configurations: Sequence[RetrievalConfig | Baseline],
        name: str,
        answers: bool,
        judge: JudgeConfig | None,
    ) -> None:
        try:
            for position, configuration in enumerate(configurations):
                if not self._run_one(labels, configuration, name, answers, judge, position * len(labels)):
                    self._change(problem="Stopped before the end.")
                    return
        except RagError as error:
            self._change(problem=str(error))
        except Exception as error:  # no caller would see an error in this thread
            log.exception("evaluation")
            self._change(problem=f"An internal error: {type(error).__name__}: {error}. The log has the details.")
        finally:
            self._change(running=False)

    def _run_one(
        self,
        labels: Sequence[Label],
        configuration: RetrievalConfig | Baseline,
        name: str,
        answers: bool,
        judge: JudgeConfig | None,
        before: int,
    ) -> bool:
        """Run the evaluation of one configuration; return whether it completed."""
        with closing(self.run(labels, configuration, name=name, answers=answers, judge=judge)) as events:
            for event in events:
                if isinstance(event, Evaluation):
                    assert self._state is not None
                    self._change(evaluation_ids=(*self._state.evaluation_ids, event.evaluation_id))
                    return True
                self._change(done=before + event.done)
                if self._stopping.is_set():
                    return False
        return False

    def _change(self, **changes: Any) -> None:
        assert self._state is not None
        self._state = replace(self._state, **changes)
