"""Train a query adapter, and decide on held-out documents whether it is used."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

from rag_core.answering.search import Searcher
from rag_core.embedding.query_adapter import pack_matrices
from rag_core.errors import LabelError
from rag_core.evaluation.page_finder import PageFinder
from rag_core.research.learning.cross_validation import (
    FOLDS,
    Rankings,
    compute_figures,
    explain_rejection,
    fit_adapter,
    rank_pages,
    split_documents,
)
from rag_core.research.learning.examples import Example, ExampleBuilder, TrainingQuestion, list_page_keys
from rag_core.research.learning.inverse_cloze import PseudoQuestion, write_pseudo_questions
from rag_core.runtime.index_generations import IndexGeneration, IndexGenerations
from rag_core.runtime.models import LocalModels
from rag_core.runtime.stores import Stores
from rag_core.store.database import now
from rag_core.store.trainings import StoredAdapter
from rag_core.types.chunks import ChunkRow
from rag_core.types.evaluation import Label, LabelKind
from rag_core.types.learning import HeldOutFigure, Training, TrainingConfig, TrainingEvent, TrainingProgress

# Fewest questions, and fewest documents of these questions, with which an adapter can be trained and measured.
MIN_QUESTIONS, MIN_DOCUMENTS = 10, 3


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """The examples of a training, and the questions on which the adapter is measured.

    Attributes
    ----------
    examples : list of Example
    measured : list of TrainingQuestion
        The questions on which the adapter is measured.
    unused : int
        Number of questions from which no example could be made.
    on_pseudo : bool
        Whether the measured questions are pseudo-questions.
    """

    examples: list[Example]
    measured: list[TrainingQuestion]
    unused: int
    on_pseudo: bool


class Trainer:
    """Trains query adapters with cross-validation over documents.

    Parameters
    ----------
    stores : Stores
    generations : IndexGenerations
    models : LocalModels
    searcher : Searcher
    """

    def __init__(self, stores: Stores, generations: IndexGenerations, models: LocalModels, searcher: Searcher) -> None:
        self._stores = stores
        self._generations = generations
        self._models = models
        self._searcher = searcher

    def train(self, labels: Sequence[Label], name: str, config: TrainingConfig) -> Generator[TrainingEvent, None, None]:
        """Yield progress, and at the end the stored training; see `Learning.train`."""
        started = time.perf_counter()
        generation = self._generations.active()
        training_set = yield from self._build_training_set(labels, config, generation)
        figures, folds = yield from self._cross_validate(training_set, generation)
        reason = explain_rejection(figures)
        yield TrainingProgress("Training", folds, folds)
        identity = generation.embedder.identity
        adapter = fit_adapter(training_set.examples, frozenset(), identity)
        assert adapter is not None  # the folds, which have fewer examples, could be fitted
        training = Training(
            training_id="",
            created_at=now(),
            objective=config.objective,
            labels=name,
            embedder=identity.name,
            trained_on=len(training_set.examples),
            measured_on_pseudo=training_set.on_pseudo,
            guided=sum(one.is_guided for one in training_set.measured),
            unused=training_set.unused,
            folds=folds,
            seconds=time.perf_counter() - started,
            figures=figures,
            accepted=not reason,
            reason=reason,
        )
        stored = StoredAdapter(identity.weights, identity.projection, pack_matrices(adapter))
        yield self._stores.trainings.add(training, stored)

    def find_rows(self) -> list[ChunkRow]:
        """Return all chunks that searches can find now."""
        documents = self._stores.documents
        return [row for version in documents.visible_versions() for row in documents.chunk_rows(version)]

    def _build_training_set(
        self, labels: Sequence[Label], config: TrainingConfig, generation: IndexGeneration
    ) -> Generator[TrainingEvent, None, TrainingSet]:
        model = self._models.answerability_model()
        builder = ExampleBuilder(self._stores, self._searcher, generation, model.score_span)
        questions = yield from self._find_questions(labels, builder)
        answerable = sum(one.kind is LabelKind.ANSWERABLE for one in labels)
        if config.objective == "inverse_cloze":
            pseudo = write_pseudo_questions(self.find_rows(), config.pseudo_questions)
            examples = yield from _collect_examples(builder.build_inverse_cloze(pseudo), len(pseudo))
            on_pseudo = not questions
            training_set = TrainingSet(
                examples,
                [_convert_pseudo_question(one) for one in pseudo] if on_pseudo else questions,
                answerable - len(questions) + len(pseudo) - len(examples),
                on_pseudo,
            )
        else:
            usable = [one for one in questions if one.answers] if config.objective == "marginal" else questions
            build = builder.build_marginal if config.objective == "marginal" else builder.build_contrastive
            examples = yield from _collect_examples(build(usable), len(usable))
            training_set = TrainingSet(examples, questions, answerable - len(examples), on_pseudo=False)
        _check_size(training_set, config)
        return training_set

    def _find_questions(
        self, labels: Sequence[Label], builder: ExampleBuilder
    ) -> Generator[TrainingEvent, None, list[TrainingQuestion]]:
        """Return the answerable questions with the pages that answer them.

        If a label names no page, the pages are found by `ExampleBuilder.find_guided_question`; if that finds none, the
        question is left out.
        """
        answerable = [one for one in labels if one.kind is LabelKind.ANSWERABLE]
        questions = []
        pages_by_label = PageFinder(self._stores.documents).find_all(answerable)
        for done, (label, pages) in enumerate(zip(answerable, pages_by_label, strict=True)):
            yield TrainingProgress("Reading the labels", done, len(answerable))
            if pages:
                document_id = next(iter(pages))[0]
                questions.append(TrainingQuestion(label.question, label.answers, document_id, frozenset(pages)))
            elif (guided := builder.find_guided_question(label.question, label.answers)) is not None:
                questions.append(guided)
        return questions

    def _cross_validate(
        self, training_set: TrainingSet, generation: IndexGeneration
    ) -> Generator[TrainingEvent, None, tuple[tuple[HeldOutFigure, ...], int]]:
        """Yield progress; return the figures over all held-out questions, and the number of folds."""
        folds = split_documents([one.document_id for one in training_set.measured], FOLDS)
        questions: list[TrainingQuestion] = []
        before: list[Rankings] = []
        after: list[Rankings] = []
        for number, held_out in enumerate(folds):
            yield TrainingProgress("Training", number, len(folds))
            adapter = fit_adapter(training_set.examples, held_out, generation.embedder.identity)
            if adapter is None:
                raise LabelError(
                    "Too few questions are left if one group of documents is held out. Label questions about more "
                    "documents."
                )
            for one in (one for one in training_set.measured if one.document_id in held_out):
                yield TrainingProgress("Measuring", len(questions), len(training_set.measured))
                questions.append(one)
                before.append(rank_pages(self._searcher, one, None))
                after.append(rank_pages(self._searcher, one, adapter))
        return compute_figures(questions, before, after), len(folds)


def _collect_examples(examples: Iterator[Example | None], total: int) -> Generator[TrainingEvent, None, list[Example]]:
    """Yield progress for each of ``total`` examples; return those that are not ``None``."""
    collected = []
    for done, example in enumerate(examples):
        yield TrainingProgress("Preparing the examples", done, total)
        if example is not None:
            collected.append(example)
    return collected


def _check_size(training_set: TrainingSet, config: TrainingConfig) -> None:
    """Raise `LabelError` if there are too few questions or documents."""
    documents = len({one.document_id for one in training_set.measured})
    count = min(len(training_set.examples), len(training_set.measured))
    if count >= MIN_QUESTIONS and documents >= MIN_DOCUMENTS:
        return
    needs = {
        "contrastive": "questions with their pages or answers",
        "marginal": "questions with answers that a passage contains",
        "inverse_cloze": "sentences with names or numbers in the documents",
    }[config.objective]
    raise LabelError(
        f"An adapter needs at least {MIN_QUESTIONS} {needs}, about at least {MIN_DOCUMENTS} documents; there are "
        f"{count:,} about {documents:,}. Label more questions, rate answers in the chat, or add documents."
    )


def _convert_pseudo_question(question: PseudoQuestion) -> TrainingQuestion:
    row = question.row
    return TrainingQuestion(question.question, (question.answer,), row.document_id, frozenset(list_page_keys(row)))
