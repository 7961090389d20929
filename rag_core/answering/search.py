"""Search passages for a question, and let the gate decide whether they answer it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import chain

from rag_core.answering.places.restriction import keep_places
from rag_core.answering.question_mapping import score_unmapped
from rag_core.answering.ranking import Ranker
from rag_core.answering.spelling_correction import correct_spelling
from rag_core.errors import QuestionError, StoreUnavailable
from rag_core.gate.calibration import PASSAGES_SCORED, apply_threshold, load_calibration
from rag_core.gate.features import score_answerability
from rag_core.gate.presuppositions import list_name_forms
from rag_core.reading.title_names import read_with_forms
from rag_core.retrieval.chunk_data import ChunkLoader, load_passage_tokens
from rag_core.retrieval.fusion import RRF_K
from rag_core.retrieval.near_duplicates import fold_near_duplicates
from rag_core.retrieval.on_demand import OnDemandEmbeddings
from rag_core.retrieval.passages import build_passage
from rag_core.runtime.index_generations import IndexGeneration, IndexGenerations
from rag_core.runtime.models import LocalModels
from rag_core.runtime.pool import SearchPool
from rag_core.runtime.preferences import Preferences
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.system import freeze_garbage_collector
from rag_core.text.abbreviations import describe_forms
from rag_core.text.calendar_dates import describe_asked_days, describe_reading
from rag_core.text.normalize import normalize_characters
from rag_core.text.spelling import is_ordinary_word
from rag_core.types.answers import EMPTY_SNAPSHOT, NO_DOCUMENTS
from rag_core.types.chunks import ChunkRow, ChunkVectors
from rag_core.types.conversations import Scope
from rag_core.types.formatting import format_count
from rag_core.types.protocols import QuestionEmbedder
from rag_core.types.retrieval import Gate, Passage, RetrievalConfig, SearchResult, Timer
from rag_core.types.searches import (
    DEFAULT_CONFIGURATION,
    DEFAULT_WRITER,
    MAX_QUESTION_CHARS,
    PassageTokens,
    Query,
    RankedChunks,
    SearchOutcome,
    Writer,
)

# Maximum number of attempts if the index changes during a search.
TRIES = 3
# Maximum number of versions whose chunk ids are cached.
MAX_CACHED_RANGES = 10_000
# A search for this question runs every stage, including the domain look-up.
WARM_QUESTION = "What were the total assets and the revenue in 2000?"
# Parts of notices about documents that a search does not read, or reads only in part.
_ONLY_WORDS = "still being indexed and can only be found by words"
_PARTLY_READ = (
    "{read:,} of {pages} of {name} are read so far, and only these were searched. Ask again when the rest is read."
)
_NOT_READ = "still being read and cannot be found yet"
_NOT_INDEXED = "in the snapshot, but not in the index, and cannot be found until re-indexed"


class Searcher:
    """Searches the index, and lets the gate decide whether the passages answer the question.

    Parameters
    ----------
    settings : Settings
    stores : Stores
    models : LocalModels
    generations : IndexGenerations
        The active index is searched.
    preferences : Preferences
    pool : SearchPool
        Runs searches in the background.
    """

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        models: LocalModels,
        generations: IndexGenerations,
        preferences: Preferences,
        pool: SearchPool,
    ) -> None:
        self._settings = settings
        self._stores = stores
        self._models = models
        self._on_demand = OnDemandEmbeddings()
        self._ranker = Ranker(settings, stores, models, pool, self._on_demand)
        self._generations = generations
        self._preferences = preferences
        self._pool = pool
        self._searched = False
        self._chunk_ranges: dict[str, tuple[int, int]] = {}

    def close(self) -> None:
        """Stop embedding chunks in the background."""
        self._on_demand.close()

    def warm_up(self) -> None:
        """Run one search to fill caches and open connections, then load the token vectors into memory."""
        is_ordinary_word("", "")
        self.search(Query(WARM_QUESTION, None, self._preferences.top_k, DEFAULT_CONFIGURATION), Timer())
        self._stores.embeddings.warm_up()

    def build_query(
        self,
        text: str,
        scope: Scope,
        top_k: int | None = None,
        configuration: RetrievalConfig = DEFAULT_CONFIGURATION,
        writer: Writer = DEFAULT_WRITER,
    ) -> Query:
        """Return the query for a question; raise the errors of `Engine.ask` about its arguments."""
        library, document_ids = self._stores.documents, None
        if scope:
            ids = [*library.find_ids(scope.documents), *library.ids_in_collections(scope.collections)]
            document_ids = tuple(dict.fromkeys(ids))

        def find_ranges() -> dict[str, tuple[int, int]] | None:
            if document_ids is None or scope.as_of:
                return None
            return self._find_chunk_ranges([one.version_id for one in library.documents(list(document_ids))])

        question, notices = correct_spelling(self.normalize_question(text), self._stores.word_index, find_ranges)
        return Query(
            question,
            document_ids,
            top_k or configuration.top_k or self._preferences.top_k,
            configuration,
            as_of=self._stores.snapshots.find(scope.as_of) if scope.as_of else None,
            writer=Writer(writer.model, self._preferences.add_instructions(writer.instructions)),
            adapter=self._preferences.adapters.select(configuration.adapter),
            notices=(*notices, *describe_asked_days(question)),
        )

    def search(self, query: Query, timer: Timer) -> SearchOutcome:
        """Retrieve and rerank chunks, and apply the gate; see `Engine.search`."""
        started = time.perf_counter()
        ranked = self.rank(query, timer)
        with timer.measure("gate"):
            outcome = self.apply_gate(query, ranked)
        timer.ms["total"] = 1000 * (time.perf_counter() - started)
        if not self._searched:
            # The first search creates many objects that stay until the process ends. Garbage collections that examine
            # these objects would delay later searches.
            freeze_garbage_collector()
            self._searched = True
        return replace(outcome, result=replace(outcome.result, timings_ms=dict(timer.ms)))

    def select_rrf_k(self, query: Query) -> int:
        """Return the constant of reciprocal rank fusion for a query."""
        return query.configuration.rrf_k or RRF_K

    def apply_gate(self, query: Query, ranked: RankedChunks) -> SearchOutcome:
        """Return the first passages of a ranking, with the scores of the gate and its decision."""
        rows, order = ranked.rows, ranked.ranking.order
        folded = fold_near_duplicates(
            [rows[chunk_id] for chunk_id in order if chunk_id in rows], max(query.top_k, query.depth, PASSAGES_SCORED)
        )
        passages = tuple(
            build_passage(rank, rows[chunk_id], ranked.ranking.scores, [rows[one] for one in repeats])
            for rank, (chunk_id, repeats) in enumerate(folded.items(), 1)
        )
        scored_rows = [rows[chunk_id] for chunk_id in list(folded)[: max(PASSAGES_SCORED, query.top_k)]]
        tokens: dict[int, PassageTokens] = {}
        if query.gated:
            tokens = load_passage_tokens(scored_rows, ranked.vectors, ranked.embedder)
            contains = self._create_word_lookup(query.text, {row.version_id for row in scored_rows})
            closeness = score_unmapped(ranked, list(tokens))
            read = read_with_forms(self._models.answerability_model(), ranked.forms)
            passages = score_answerability(passages, tokens, ranked, closeness, contains, read)
        score_name, default = self._preferences.find_gate(query.writer.model)
        threshold = default if query.configuration.threshold is None else query.configuration.threshold
        gate = apply_threshold(passages[:PASSAGES_SCORED], threshold, score_name)
        if query.places and query.places.is_whole:
            gate = gate.overrule()
        notices = self._list_notices(query, ranked.embedder)
        if not passages and (nothing := _describe_empty_scope(query, self._stores)):
            notices = (nothing, *notices)
        if any(int(one.chunk_id) in ranked.chosen_forms for one in passages[: query.top_k]):
            notices = *describe_forms(ranked.forms), *notices
        readings = (
            describe_reading(ranked.dates.of(one.version_id), one.text, one.document, one.full_title)
            for one in passages[: query.top_k]
        )
        notices = *query.notices, *ranked.problems, *dict.fromkeys(chain.from_iterable(readings)), *notices
        result = SearchResult(query.text, passages[: query.top_k], gate, {}, notices, as_of=query.as_of_label)
        return SearchOutcome(result, ranked, passages, tokens, places=query.places)

    def _create_word_lookup(self, question: str, version_ids: Collection[str]) -> Callable[[str, str, str], bool]:
        """Return a function of a version id, a word and a prefix.

        The function returns whether the version contains the word, or any word that starts with the prefix. Its first
        call looks up all names of the question in all versions with one statement.
        """
        known: dict[tuple[str, str, str], bool] = {}

        def contains(version: str, word: str, beginning: str) -> bool:
            if (version, word, beginning) not in known:
                pairs = [(word, beginning)] if known else [*list_name_forms(question), (word, beginning)]
                found = self._stores.word_index.find_words(pairs, self._find_chunk_ranges(version_ids))
                known.update({(one, *pair): (one, *pair) in found for one in version_ids for pair in pairs})
            return known[version, word, beginning]

        return contains

    def _find_chunk_ranges(self, version_ids: Collection[str]) -> dict[str, tuple[int, int]]:
        """Return the lowest and highest chunk id of each version; cache them for completely indexed versions."""
        found = {one: self._chunk_ranges[one] for one in version_ids if one in self._chunk_ranges}
        if missing := [one for one in version_ids if one not in found]:
            if len(self._chunk_ranges) > MAX_CACHED_RANGES:
                self._chunk_ranges = {}
            # The state is read before the ids: a version that is complete at that time keeps its chunks.
            complete = self._stores.documents.find_complete_versions(missing)
            ranges = self._stores.documents.chunk_ranges(missing)
            self._chunk_ranges |= {one: ends for one, ends in ranges.items() if one in complete}
            found |= ranges
        return found

    def decide_on_quotes(self, passages: Sequence[Passage], threshold: float | None = None) -> Gate:
        """Return the decision whether to quote the passages, by the gate for answers without a language model."""
        score_name, default = self._preferences.find_gate("")
        return apply_threshold(passages[:PASSAGES_SCORED], default if threshold is None else threshold, score_name)

    def rank(self, query: Query, timer: Timer, hypothesis: str = "") -> RankedChunks:
        """Return the chunks of the index, ranked for a query.

        If documents or the whole index are replaced or removed during the search, the search is repeated, at most
        `TRIES` times in all. The result of the last attempt is returned even if the index changed.

        ``hypothesis`` is a hypothetical answer. Dense retrieval uses the mean of its vector and the vector of the
        question (HyDE; Gao et al., "Precise zero-shot dense retrieval without relevance labels", ACL 2023). Word search
        and the reranker use only the question.
        """
        ranked = self._rank_repeatedly(query, timer, hypothesis)
        return keep_places(ranked, query.places, self._stores) if query.places else ranked

    def _rank_repeatedly(self, query: Query, timer: Timer, hypothesis: str) -> RankedChunks:
        for _ in range(TRIES - 1):
            generation = self._generations.active()
            try:
                ranked = self._ranker.rank(query, timer, hypothesis, generation)
            except StoreUnavailable:
                if self._is_active(generation):
                    raise
            else:
                # A search in a removed index finds nothing: accept an empty result only if the index is still active.
                if len(ranked.rows) == len(ranked.ranking.order) and (ranked.rows or self._is_active(generation)):
                    return ranked
        return self._ranker.rank(query, timer, hypothesis, self._generations.active())

    def load_vectors(self, row: ChunkRow, generation: IndexGeneration) -> ChunkVectors | None:
        """Return the token vectors of one chunk; ``None`` if the chunk has none."""
        with self._pool.open_tasks() as tasks:
            documents, embeddings = self._stores.documents, self._stores.embeddings
            loader = ChunkLoader(documents, embeddings, generation.embedder, tasks, self._on_demand)
            return loader.vectors([row.id]).get(row.id)

    def _is_active(self, generation: IndexGeneration) -> bool:
        return self._generations.active().generation_id == generation.generation_id

    def normalize_question(self, text: str) -> str:
        """Return the question with normalized Unicode and white space; may raise `QuestionError`."""
        # Broken JSON and terminals can produce unpaired surrogates, which tokenizers and stores reject.
        question = normalize_characters(text.encode("utf-8", "replace").decode("utf-8"))
        question = " ".join(question.split())
        if not question:
            raise QuestionError("The question is empty. Type what you want to know.")
        if len(question) > MAX_QUESTION_CHARS:
            raise QuestionError(
                f"The question has {len(question):,} characters; the limit is {MAX_QUESTION_CHARS:,}. Shorten it."
            )
        return question

    def _list_notices(self, query: Query, embedder: QuestionEmbedder) -> tuple[str, ...]:
        notices = query.adapter.find_problems(embedder.identity) if query.adapter else []
        notices += _list_unsearched(query, self._stores)
        identity = embedder.identity
        is_calibrated = load_calibration(identity).fits(identity.weights, identity.projection)
        if self._settings.gate == "answerable" and not is_calibrated:
            notices.append(
                f"The gate is not calibrated for the embedding model {identity.name}, so questions may be answered "
                "or refused wrongly. Set RAG_GATE to rerank, and RAG_THRESHOLD (with a language model "
                "RAG_MODEL_THRESHOLD) to a value that suits your documents."
            )
        return tuple(notices)


def _list_unsearched(query: Query, stores: Stores) -> list[str]:
    """Return a sentence for each group of documents that the search finds not at all, in part, or only by words."""
    partly: list[tuple[str, int, int]] = []
    if query.as_of is not None:
        counts = {_NOT_INDEXED: stores.snapshots.count_unsearchable(query.as_of, query.documents)}
    else:
        by_words, unread = stores.documents.count_unfinished(query.documents)
        partly = stores.documents.list_partly_read(query.documents) if by_words else []
        counts = {_ONLY_WORDS: by_words - len(partly), _NOT_READ: unread}
    return [
        *(_PARTLY_READ.format(name=name, read=read, pages=format_count(pages, "page")) for name, read, pages in partly),
        *(
            f"{format_count(number, 'document is', 'documents are')} {state}."
            for state, number in counts.items()
            if number > 0
        ),
    ]


def _describe_empty_scope(query: Query, stores: Stores) -> str:
    """Return a sentence if the library, or the snapshot that is searched, is empty; otherwise an empty text."""
    if stores.view(query.as_of).documents():
        return ""
    return NO_DOCUMENTS if query.as_of is None else EMPTY_SNAPSHOT
