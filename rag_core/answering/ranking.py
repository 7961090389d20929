"""Rank the chunks of an index for a question with all stages of retrieval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import islice

import numpy as np

from rag_core.answering.question_forms import QuestionForms
from rag_core.answering.question_mapping import apply_adapter
from rag_core.answering.question_searches import QuestionSearches
from rag_core.errors import IndexMismatch
from rag_core.finance.measures import plan_lookup
from rag_core.index.retriever import Retriever
from rag_core.retrieval.chunk_data import ChunkLoader
from rag_core.retrieval.cross_encoder import cross_encode_chunks
from rag_core.retrieval.fusion import RRF_K
from rag_core.retrieval.guarded_search import GuardedSearch
from rag_core.retrieval.late_interaction import compute_token_weights, rerank_chunks
from rag_core.retrieval.on_demand import OnDemandEmbeddings
from rag_core.retrieval.pipeline import LOOKUP_CHUNKS, SectionRanker, rank_chunks
from rag_core.retrieval.reordering import (
    prefer_dated_chunks,
    prefer_identified_chunks,
    prefer_named_documents,
    prefer_recent_documents,
)
from rag_core.runtime.index_generations import IndexGeneration
from rag_core.runtime.models import LocalModels
from rag_core.runtime.pool import SearchPool
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.text.abbreviations import add_forms
from rag_core.text.calendar_dates import ORDER_TERMS, find_asked_dates, find_head_date
from rag_core.text.languages import detect_language
from rag_core.text.names import annotate, find_document_names, find_lowercase_names
from rag_core.text.words import STOP_WORDS, replace_words
from rag_core.types.arrays import FloatArray
from rag_core.types.chunks import ChunkRow
from rag_core.types.dates import DAY_FIRST, NO_DATES, AskedDates
from rag_core.types.protocols import InverseDocumentFrequency, LookupPlan, QuestionEmbedder
from rag_core.types.retrieval import (
    CountedAlone,
    Excluding,
    Hit,
    Question,
    Ranking,
    Timer,
    VersionFilter,
    build_unembedded_question,
)
from rag_core.types.searches import EmbeddedLookup, Query, RankedChunks

# Number of top chunks that keep their ranks when documents with a name of the question are preferred, if the question
# has no capital letters. Any word of such a question may be a name, so an ordinary word can match a document by chance.
FIXED_TOP = 2
# Number of chunks that each retriever returns.
CANDIDATES = 100
# Number of documents on whose first page a date is looked for.
MAX_DATED = 20
# Values of ``rank_by`` with which questions about financial figures also search the lines of statements (the look-up).
_WITH_LOOKUP = ("financials", "named", "cross_encoder")


class Ranker:
    """Ranks the chunks of an index for a question according to the settings and the query's configuration.

    Parameters
    ----------
    settings : Settings
    stores : Stores
    models : LocalModels
    pool : SearchPool
        Runs searches in the background, for example while the question is embedded.
    on_demand : OnDemandEmbeddings
        Embeds chunks that indexing has not embedded yet.
    """

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        models: LocalModels,
        pool: SearchPool,
        on_demand: OnDemandEmbeddings,
    ) -> None:
        self._settings = settings
        self._stores = stores
        self._models = models
        self._pool = pool
        self._on_demand = on_demand
        self._guards = {
            one.score.name: GuardedSearch(one.store, one.search_limit_s)
            for one in stores.retrievers
            if one.search_limit_s is not None
        }

    def rank(self, query: Query, timer: Timer, hypothesis: str, generation: IndexGeneration) -> RankedChunks:
        """Return the chunks of ``generation``, ranked for a query; see `Searcher.rank`."""
        with self._pool.open_tasks() as tasks:
            return self._rank(query, timer, hypothesis, generation, tasks)

    def _rank(
        self, query: Query, timer: Timer, hypothesis: str, generation: IndexGeneration, tasks: Executor
    ) -> RankedChunks:
        configuration = query.configuration
        rank_by = configuration.rank_by or self._settings.rank_by
        candidates = max(configuration.candidates or CANDIDATES, query.top_k)
        view, embeddings = self._stores.view(query.as_of), self._stores.embeddings
        loader = ChunkLoader(view, embeddings, generation.embedder, tasks, self._on_demand)
        plan = self._plan_lookup(query.text) if rank_by in _WITH_LOOKUP else None
        versions, embedded_versions = self._select_versions(query, generation.generation_id)
        forms = self._stores.word_index.find_forms(query.text, versions)
        idf = partial(self._stores.word_index.idf, versions=versions)
        asked = QuestionForms(query, forms, generation.embedder, idf)
        expanded = add_forms(query.text, forms)
        if forms and not hypothesis:
            hypothesis = replace_words(query.text, {form: others[0] for form, others in forms.items()})
        searches = QuestionSearches(generation, loader, tasks, self._guards)
        available = self._stores.list_retrievers(generation.fingerprint, with_optional=configuration.sparse)
        retrievers = self._select_retrievers(rank_by, available, generation)
        for retriever in retrievers:
            if retriever.reads != "embedding":
                scope = versions if retriever.reads == "text" else embedded_versions
                searches.start(retriever, build_unembedded_question(expanded), candidates, scope)
        if plan:
            searches.start_lookup(self._stores.word_index, plan.text, LOOKUP_CHUNKS, versions)
        with timer.measure("embed"):
            other = tasks.submit(asked.embed, hypothesis) if hypothesis else None
            question, weights = asked.embed(query.text)
            mapped = searched = apply_adapter(query, question, generation.embedder)
            if other is not None:
                searched = _average_embedding(mapped, other.result()[0].dense)
        for retriever in retrievers:
            if retriever.reads == "embedding":
                searches.start(retriever, searched, candidates, embedded_versions)
        lookup = tasks.submit(_embed_lookup, plan, generation.embedder, idf) if plan else None

        def rerank(chunk_ids: Sequence[int]) -> list[Hit]:
            loader.prefetch_rows(chunk_ids)
            return asked.rerank(loader, chunk_ids)

        hits, problems = searches.collect([one.score.name for one in available], rerank, timer)
        if hits.found.get(rank_by) == []:
            self._check_indexed(retrievers[0], generation)
        embedded_lookup = None
        if lookup is not None:
            with timer.measure("financials"):
                embedded_lookup = lookup.result()
        ranking = rank_chunks(
            hits,
            rank_by=rank_by,
            rrf_k=configuration.rrf_k or RRF_K,
            timer=timer,
            sections=_create_section_ranker(embedded_lookup, loader),
            cross_encode=(
                partial(cross_encode_chunks, self._models.cross_encoder(), question, loader.texts)
                if rank_by == "cross_encoder"
                else None
            ),
        )
        rows = loader.rows(ranking.order)
        ranking = self._prefer_recent_documents(ranking, rank_by, rows)
        if rank_by == "named":
            ranking = _prefer_named(ranking, query.text, rows)
        # Dates are ignored in questions about financial figures: they name periods, which columns and titles state.
        dates = self._find_dates(query.text, rows) if plan is None else NO_DATES
        ranking = prefer_dated_chunks(ranking, dates, rows)
        is_lookup_in_one_document = lookup is not None and len(view.visible_versions(query.documents)) == 1
        return RankedChunks(
            *(question, mapped, weights, ranking, rows, loader.loaded_vectors, generation.embedder),
            lookup=embedded_lookup,
            is_lookup_in_one_document=is_lookup_in_one_document,
            problems=problems,
            forms=forms,
            chosen_forms=asked.chosen,
            dates=dates,
        )

    def _find_dates(self, question: str, rows: Mapping[int, ChunkRow]) -> AskedDates:
        """Return the dates in a question, and in which order the documents of the chunks write day and month.

        The order is that of the unambiguous dates of a document. Without such dates, its language decides.
        """
        asked = find_asked_dates(question)
        versions = {row.version_id: row.text for row in rows.values()} if asked else {}
        if not versions:
            return AskedDates(asked)
        terms = {term: order for order, term in ORDER_TERMS.items()}
        ranges = self._stores.documents.chunk_ranges(list(versions))
        shown: dict[str, set[str]] = defaultdict(set)
        for version_id, term, _ in self._stores.word_index.find_words([(term, term) for term in terms], ranges):
            shown[version_id].add(terms[term])
        orders = {version_id: found.pop() for version_id, found in shown.items() if len(found) == 1}
        foreign = (one for one, text in versions.items() if one not in shown and detect_language(text))
        orders = {**dict.fromkeys(foreign, DAY_FIRST), **orders}
        return AskedDates(asked, orders, self._find_head_dates(versions, orders))

    def _find_head_dates(self, versions: Iterable[str], orders: Mapping[str, str]) -> dict[str, date]:
        """Return the dates on the first pages of the first `MAX_DATED` versions, by version id."""
        pages = [(version_id, 0) for version_id in islice(versions, MAX_DATED)]
        contents = self._stores.documents.page_texts(pages)
        found = {one: find_head_date(text, orders.get(one, "")) for (one, _), (text, _) in contents.items()}
        return {version_id: day for version_id, day in found.items() if day}

    def _select_retrievers(
        self, rank_by: str, available: list[Retriever], generation: IndexGeneration
    ) -> list[Retriever]:
        """Return the retrievers to run: the one that ``rank_by`` names, or else all available ones.

        Raises
        ------
        IndexMismatch
            The index contains no data for the named retriever.
        """
        for one in self._stores.retrievers:
            if one.score.name == rank_by:
                if not one.is_used_in(generation.fingerprint):
                    raise IndexMismatch(one.missing)
                return [one]
        return available

    def _check_indexed(self, retriever: Retriever, generation: IndexGeneration) -> None:
        """Raise `IndexMismatch` if a retriever that found nothing has an empty index, but the library has chunks."""
        if self._stores.word_index.count() and not retriever.open(generation.generation_id).count():
            raise IndexMismatch(retriever.missing)

    def _plan_lookup(self, text: str) -> LookupPlan | None:
        return plan_lookup(text, [word.text for word in annotate(text).names] or find_lowercase_names(text))

    def _prefer_recent_documents(self, ranking: Ranking, rank_by: str, rows: Mapping[int, ChunkRow]) -> Ranking:
        """Return the ranking with chunks of newer documents moved up, if the setting ``freshness`` is above 0.

        Only rankings by the score of a reranker change, because the setting does not fit the scales of other scores.
        """
        if rank_by in ("financials", "named") and not ranking.scores["financials"]:
            rank_by = "rerank"
        if not self._settings.freshness or rank_by not in ("rerank", "cross_encoder"):
            return ranking
        # The age is that of the first file of a document, even if a later file has replaced its content.
        known = self._stores.documents.version_ages({row.version_id for row in rows.values()})
        ages = {chunk_id: known[row.version_id] for chunk_id, row in rows.items() if row.version_id in known}
        return prefer_recent_documents(ranking, rank_by, ages, self._settings.freshness)

    def _select_versions(self, query: Query, generation_id: int) -> tuple[VersionFilter | None, VersionFilter | None]:
        """Return two filters of versions: for searches of the text of chunks, and for searches of their vectors.

        ``None`` means that all versions are searched.
        """
        if query.documents is not None or query.as_of is not None:
            visible = list(self._stores.view(query.as_of).visible_versions(query.documents))
            if query.configuration.counts_alone:
                visible = CountedAlone(visible, self._stores.documents.chunk_ids)
            return visible, visible
        hidden = self._stores.documents.find_inactive_versions()
        embedded = [version for version, generation in hidden.items() if generation == generation_id]
        return Excluding(list(hidden)) if hidden else None, Excluding(embedded) if embedded else None


def _embed_lookup(plan: LookupPlan, embedder: QuestionEmbedder, idf: InverseDocumentFrequency) -> EmbeddedLookup:
    question = embedder.embed_question(plan.text, low_priority=True)
    return EmbeddedLookup(plan, question, compute_token_weights(question, idf, STOP_WORDS))


def _create_section_ranker(lookup: EmbeddedLookup | None, loader: ChunkLoader) -> SectionRanker | None:
    if lookup is None:
        return None
    rerank = partial(rerank_chunks, lookup.question, lookup.token_weights, loader.vectors)
    return SectionRanker(lookup.plan, rerank, loader.texts)


def _prefer_named(ranking: Ranking, question: str, rows: Mapping[int, ChunkRow]) -> Ranking:
    labels = {one: row.document_label for one, row in rows.items()}
    texts = {one: row.text for one, row in rows.items()}
    names = find_document_names(question)
    kept = 0 if names else FIXED_TOP
    ranking = prefer_named_documents(ranking, names or find_lowercase_names(question), labels, texts, kept)
    return prefer_identified_chunks(ranking, question, labels, texts)


def _average_embedding(question: Question, hypothesis: FloatArray) -> Question:
    """Return the question with the mean of its vector and the vector of a hypothetical answer, of unit length."""
    mean = question.dense + hypothesis
    return replace(question, dense=mean / np.linalg.norm(mean))
