"""Summarize whole documents with a language model.

The model takes notes on each part of the documents (map). Each note is checked against the passages that it cites. Then
the model writes the summary from the supported notes (reduce). The method follows Wu et al., "Recursively summarizing
books with human feedback", 2021.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from rag_core.answering.answer_builder import WrittenSummary
from rag_core.answering.call_budget import CallBudget, require_model
from rag_core.answering.extractive_summary import MIN_SUPPORTED, SUPPORTED_SCORE
from rag_core.answering.places.restriction import list_rows
from rag_core.answering.summary_notes import NoteChecker, describe_range, renumber_answer, renumber_passages
from rag_core.answering.trace import AnswerTrace
from rag_core.errors import CallLimit, GeneratorError
from rag_core.llm.context_budget import (
    count_available_summary_tokens,
    count_condensing_calls,
    count_notes_per_prompt,
    count_prompt_tokens,
    pack_batches,
    spread_evenly,
)
from rag_core.llm.generator import LanguageModel
from rag_core.llm.prompts import build_map_messages, build_reduce_messages
from rag_core.llm.reasoning import retract_reasoning
from rag_core.llm.setting_names import start_sentence
from rag_core.retrieval.passages import build_passage
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.store.documents import DocumentStore
from rag_core.store.snapshots import SnapshotView
from rag_core.types.answers import REFUSAL, AskEvent, Delta, Restart, Stage
from rag_core.types.formatting import format_count
from rag_core.types.protocols import TextEncoder
from rag_core.types.retrieval import Gate, Passage, SearchResult
from rag_core.types.searches import Query
from rag_core.verification.attribution import (
    EMPTY_ANSWER,
    NOT_CHECKED,
    SourceComparison,
    contains_words,
    verify_text,
)
from rag_core.verification.support import create_text_encoder
from rag_core.verification.verified_answer import REFUSED

WRITING = "Writing the answer"
# Maximum share of the tokens of all calls for an answer that one call may use.
_MAX_CALL_SHARE = 1 / 3
# Estimated length of a chunk as a share of the maximum length. It determines how many chunks are read; of these, the
# chunks that do not fit are dropped.
_ESTIMATED_SHARE = 0.5
# Number of tokens of a passage in the prompt in addition to its text.
_TOKENS_AROUND_PASSAGE = 40


class Summarizer:
    """Summarizes documents with a language model.

    Parameters
    ----------
    settings : Settings
    stores : Stores
    generations : IndexGenerations
    models : LanguageModels
    """

    def __init__(
        self, settings: Settings, stores: Stores, generations: IndexGenerations, models: LanguageModels
    ) -> None:
        self._settings = settings
        self._stores = stores
        self._generations = generations
        self._models = models

    def summarize(
        self, query: Query, trace: AnswerTrace, passages: Sequence[Passage] | None = None
    ) -> Generator[AskEvent, None, WrittenSummary | None]:
        """Yield the events of writing a summary of ``passages``; return the summary.

        By default, the places that the query names are summarized. If it names none, its documents are summarized.

        If the endpoint fails or the limits are too low, add a notice that a plain search is used instead, and return
        ``None``.

        Raises
        ------
        SettingsError
            No model is set.
        """
        model = require_model(query, self._models)
        try:
            return (yield from self._summarize(model, query, trace, passages))
        except (GeneratorError, CallLimit) as error:
            trace.notices.append(f"{error} A plain search was used instead.")
            yield Restart(str(error))
            return None

    def _summarize(
        self, model: LanguageModel, query: Query, trace: AnswerTrace, given: Sequence[Passage] | None
    ) -> Generator[AskEvent, None, WrittenSummary]:
        capacity, calls = self._plan_calls(model, query)
        if given is None and query.places is not None:
            rows = [row for place in query.places.places for row in list_rows(place, self._stores)]
            given = [build_passage(rank, row, {}) for rank, row in enumerate(rows, 1)]
        if given is None:
            view = self._stores.view(query.as_of)
            passages, total = _read_passages(
                self._stores.documents, view, query.documents, self._settings.chunk_tokens, capacity, calls
            )
        else:
            passages, total = _spread_passages(given, capacity, calls), len(given)
        if len(passages) < total:
            calls_label = format_count(CallBudget.max_calls, "call")
            trace.notices.append(
                f"{len(passages):,} of {total:,} passages were read, spread evenly over the documents: a summary "
                f"takes at most {calls_label} to the model and {CallBudget.max_tokens:,} tokens."
            )
        encode = create_text_encoder(self._generations.active().embedder)
        checker = NoteChecker(query.text, passages, encode)
        budget = CallBudget(model, trace)
        with trace.timer.measure("notes"):
            notes = yield from self._take_notes(query.text, passages, capacity, checker, budget, trace)
            is_reliable = bool(notes) and checker.share >= MIN_SUPPORTED
            gate = Gate(SUPPORTED_SCORE, checker.share, MIN_SUPPORTED, is_reliable)
            if gate.answerable:
                notes = yield from self._condense_notes(query.text, notes, capacity, checker, budget)
        shown, notes = renumber_passages(passages, notes)
        result = SearchResult(query.text, tuple(shown), gate, dict(trace.timer.ms), as_of=query.as_of_label)
        if not gate.answerable:
            yield Delta(REFUSAL)
            return WrittenSummary(replace(result, passages=()), REFUSED, model.name)
        yield result
        return (yield from self._write_summary(model, query, result, notes, encode, trace))

    def _plan_calls(self, model: LanguageModel, query: Query) -> tuple[int, int]:
        """Return how many tokens of passages fit into one call, and how many calls may be used to read passages.

        Raises
        ------
        CallLimit
            The context of the model has no room for the notes on two parts.
        """
        tokens = min(model.profile.filled_tokens, int(CallBudget.max_tokens * _MAX_CALL_SHARE))
        instructions = query.writer.instructions
        capacity = count_available_summary_tokens(query.text, tokens, model.answer_tokens, instructions)
        calls = min(CallBudget.max_calls, CallBudget.max_tokens // tokens)
        context = self._models.names.context_value.format(tokens)
        if count_notes_per_prompt(capacity) < 2:
            raise CallLimit(
                f"{start_sentence(context)} leaves too little room for a summary's "
                f"notes in addition to RAG_OPENAI_ANSWER_TOKENS={model.answer_tokens}. Raise the first, or "
                "lower the second."
            )
        parts = calls
        while parts > 1 and parts + count_condensing_calls(parts, count_notes_per_prompt(capacity)) > calls:
            parts -= 1
        return capacity, parts

    def _take_notes(
        self,
        request: str,
        passages: Sequence[Passage],
        capacity: int,
        checker: NoteChecker,
        budget: CallBudget,
        trace: AnswerTrace,
    ) -> Generator[AskEvent, None, list[str]]:
        """Take notes on each part of the documents (map); return the supported notes of each part."""
        notes = []
        parts = pack_batches([count_prompt_tokens(one) for one in passages], capacity)
        for number, part in enumerate(parts, 1):
            part_passages = passages[part.start : part.stop]
            part_label = f"part {number} of {len(parts)}, {describe_range(part_passages)}"
            yield Stage(f"part_{number}", f"Reading {part_label}")
            statements = checker.check_notes(budget.complete(build_map_messages(request, part_passages)))
            trace.steps.append(f"Read {part_label}: {format_count(len(statements), 'statement')} noted")
            yield Stage(f"part_{number}", f"Reading {part_label}", done=True)
            if statements:
                notes.append("\n".join(statements))
        return notes

    def _condense_notes(
        self, request: str, notes: list[str], capacity: int, checker: NoteChecker, budget: CallBudget
    ) -> Generator[AskEvent, None, list[str]]:
        """Let the model condense the notes until they fit into one prompt; return the condensed notes."""
        most, level = count_notes_per_prompt(capacity), 1
        while len(notes) > most:
            stage = f"condense_{level}"
            yield Stage(stage, f"Putting the notes of {len(notes)} parts together")
            batches = [notes[first : first + most] for first in range(0, len(notes), most)]
            shorter = [checker.check_notes(budget.complete(build_reduce_messages(request, batch))) for batch in batches]
            yield Stage(stage, f"Putting the notes of {len(notes)} parts together", done=True)
            notes, level = ["\n".join(one) for one in shorter if one], level + 1
        return notes

    def _write_summary(
        self,
        model: LanguageModel,
        query: Query,
        result: SearchResult,
        notes: Sequence[str],
        encode: TextEncoder,
        trace: AnswerTrace,
    ) -> Generator[AskEvent, None, WrittenSummary]:
        """Let the model write the summary from the notes (reduce); return the summary, checked against the passages."""
        yield Stage("generate", WRITING)
        stream = model.stream_reply(build_reduce_messages(query.text, notes, query.writer.instructions))
        pieces: list[str] = []
        try:
            for piece in stream:
                pieces.append(piece)
                yield Delta(piece)
        except GeneratorError as error:
            if not pieces:
                raise
            trace.notices.append(str(error))
        finally:
            stream.close()
            trace.usage += stream.usage
        trace.notices += stream.notices
        yield Stage("generate", WRITING, done=True)
        text = yield from retract_reasoning(pieces)
        if not contains_words(text):
            trace.notices.append(EMPTY_ANSWER)
            return WrittenSummary(replace(result, passages=()), REFUSED, model.name)
        answer = verify_text(text.strip(), SourceComparison(result.passages, result.question, encode))
        if answer.refused:
            return WrittenSummary(replace(result, passages=()), answer, model.name)
        if answer.unchecked:
            trace.notices.append(NOT_CHECKED)
        passages, answer = renumber_answer(result.passages, answer)
        return WrittenSummary(replace(result, passages=tuple(passages)), answer, model.name)


def _read_passages(
    library: DocumentStore,
    view: DocumentStore | SnapshotView,
    documents_in_scope: Sequence[str] | None,
    chunk_tokens: int,
    capacity: int,
    calls: int,
) -> tuple[list[Passage], int]:
    """Return evenly spread passages that fit into a number of calls, in reading order, and the number of all passages.

    Parameters
    ----------
    library : DocumentStore
    view : DocumentStore or SnapshotView
        Determines which versions of the documents are read.
    documents_in_scope : sequence of str, optional
        Ids of documents; by default, all documents.
    chunk_tokens : int
        Maximum number of tokens of a chunk, by the settings.
    capacity : int
        Number of tokens of passages that fit into one call.
    calls : int
    """
    scope = None if documents_in_scope is None else list(documents_in_scope)
    visible = view.visible_versions(scope)
    documents = [one for one in view.documents(scope) if one.version_id in visible]
    documents.sort(key=lambda one: (one.name.casefold(), one.document_id))
    counts = [one.chunks for one in documents]
    wanted = int(calls * capacity / (chunk_tokens * _ESTIMATED_SHARE + _TOKENS_AROUND_PASSAGE))
    rows = []
    for document, places in zip(documents, spread_evenly(counts, wanted), strict=True):
        ids = [row.id for row in library.chunk_rows(document.version_id)] if places else []
        visible_rows = view.visible_chunks([ids[place] for place in places if place < len(ids)])
        rows += [visible_rows[one] for one in ids if one in visible_rows]
    passages = [build_passage(rank, row, {}) for rank, row in enumerate(rows, 1)]
    return _spread_passages(passages, capacity, calls), sum(counts)


def _spread_passages(passages: Sequence[Passage], capacity: int, calls: int) -> list[Passage]:
    """Return evenly spread passages that fit into ``calls`` calls with ``capacity`` tokens each."""
    kept = list(passages)
    while (parts := len(pack_batches([count_prompt_tokens(one) for one in kept], capacity))) > calls:
        [fewer] = spread_evenly([len(kept)], len(kept) * calls // parts - 1)
        kept = [replace(kept[place], rank=rank) for rank, place in enumerate(fewer, 1)]
    return kept
