"""Learn from labelled questions: train the query adapter, switch it on and off, and write pseudo-questions."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing

from rag_core.answering.search import Searcher
from rag_core.errors import LabelError
from rag_core.research.learning.inverse_cloze import write_pseudo_questions
from rag_core.research.learning.training import Trainer
from rag_core.runtime.background import BackgroundService
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.models import LocalModels
from rag_core.runtime.preferences import Preferences
from rag_core.runtime.stores import Stores
from rag_core.types.evaluation import Label, LabelKind, LabelledPage
from rag_core.types.jobs import RunState
from rag_core.types.learning import Training, TrainingConfig, TrainingEvent


class Learning(BackgroundService):
    """Trainings of the query adapter; at most one training at a time runs in the background.

    Parameters
    ----------
    stores : Stores
    generations : IndexGenerations
    models : LocalModels
    searcher : Searcher
    preferences : Preferences
    """

    def __init__(
        self,
        stores: Stores,
        generations: IndexGenerations,
        models: LocalModels,
        searcher: Searcher,
        preferences: Preferences,
    ) -> None:
        super().__init__("training")
        self._stores = stores
        self._generations = generations
        self._trainer = Trainer(stores, generations, models, searcher)
        self._adapters = preferences.adapters

    def train(
        self, labels: Sequence[Label], config: TrainingConfig | None = None, *, name: str = ""
    ) -> Generator[TrainingEvent, None, None]:
        """Train an adapter; yield progress, and at the end one `Training`, which is stored.

        The documents of the questions are divided into groups. For each group, an adapter is trained on the other
        groups and measured on the questions of the group. If these figures are better than without an adapter, an
        adapter that is trained on all questions is switched on. Otherwise, it is discarded, and the training says why.
        If the iterator is closed, nothing is stored.

        Parameters
        ----------
        labels : sequence of Label
            Only answerable labels are used. With the objective ``inverse_cloze``, they only measure the adapter; if
            there are none, pseudo-questions measure it.
        config : TrainingConfig, optional
        name : str
            Name of the labels in lists.

        Raises
        ------
        LabelError
            There are too few questions or documents, or a label names a document or page that is not in the library.
        EmbedderError, IndexMismatch, StoreError
        """
        with closing(self._trainer.train(labels, name, config or TrainingConfig())) as events:
            for event in events:
                if isinstance(event, Training):
                    self._adapters.clear_cache()
                    if event.accepted:
                        self._adapters.set_on(True)
                yield event

    def start(self, labels: Sequence[Label], config: TrainingConfig, *, name: str = "") -> RunState:
        """If no training is active, start one in the background. Return the state of the active training."""

        def work() -> None:
            with closing(self.train(labels, config, name=name)) as events:
                for event in events:
                    if not isinstance(event, Training):
                        self._background.advance(stage=event.stage, done=event.done, total=event.total)

        return self._background.start("Starting", 0, work)

    def trainings(self) -> list[Training]:
        """Return the trainings, newest first, including those whose adapter was rejected."""
        return self._stores.trainings.all()

    def remove(self, training_id: str) -> None:
        """Remove a training with its adapter; searches then use the newest remaining adapter."""
        self._stores.trainings.remove(training_id)
        self._adapters.clear_cache()

    @property
    def has_adapter(self) -> bool:
        """Whether an accepted adapter is stored."""
        return self._adapters.newest is not None

    @property
    def is_on(self) -> bool:
        """Whether searches apply the adapter of the newest accepted training."""
        return self._adapters.is_on and self.has_adapter

    def set_on(self, on: bool) -> None:
        """Switch the adapter on or off without re-indexing; raise `SettingsError` if no adapter can be switched on."""
        if on:
            self._adapters.select(True)
        self._adapters.set_on(on)

    def find_problems(self) -> list[str]:
        """Return why the adapter cannot be applied to the index; empty if it can, or if no adapter is switched on."""
        adapter = self._adapters.select(None)
        return adapter.find_problems(self._generations.active().embedder.identity) if adapter else []

    def write_pseudo_questions(self, count: int) -> list[Label]:
        """Return at most ``count`` pseudo-questions from the sentences of the documents as labels; store nothing.

        Raises
        ------
        LabelError
            No sentence is suitable.
        """
        questions = write_pseudo_questions(self._trainer.find_rows(), count)
        if not questions:
            raise LabelError("The documents contain no sentence with names or numbers. Add documents with text.")
        return [
            Label(
                label_id=f"pseudo-{one.row.id}",
                question=one.question,
                kind=LabelKind.ANSWERABLE,
                evidence=tuple(LabelledPage(one.row.document, page) for page in one.row.page_indices),
                answers=(one.answer,),
                is_pseudo=True,
            )
            for one in questions
        ]

    def add_pseudo_questions(self, count: int) -> int:
        """Replace the stored labels of pseudo-questions by at most ``count`` new ones; return their number."""
        written = self.write_pseudo_questions(count)
        self._stores.evaluations.remove_pseudo_labels()
        for one in written:
            self._stores.evaluations.put_label(one.question, one.kind, one.evidence, one.answers, is_pseudo=True)
        return len(written)

    def remove_pseudo_questions(self) -> None:
        """Remove the stored labels of pseudo-questions."""
        self._stores.evaluations.remove_pseudo_labels()
