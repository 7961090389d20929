"""One ranking: what the stages of retrieval make of a question in one state of the index."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np

from rag_core.finance.measures import LOOKED_UP, Financials, Lookup, lookup
from rag_core.retrieval.begun import Begun
from rag_core.retrieval.chunk_rows import ChunkRows
from rag_core.retrieval.chunk_tokens import ChunkTokens
from rag_core.retrieval.cross_encoder import CrossEncoderReranker
from rag_core.retrieval.freshness import fresher_first
from rag_core.retrieval.late_interaction import LateInteractionReranker, token_weights
from rag_core.retrieval.pipeline import Pipeline
from rag_core.retrieval.queries import Query, Ranked
from rag_core.retrieval.reordering import named_first
from rag_core.runtime.index_generations import Generation
from rag_core.runtime.models import Models
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.system import usable_cores
from rag_core.text.names import named, reading, uncapitalised
from rag_core.text.words import STOP_WORDS
from rag_core.types import AllBut, ChunkVectors, FloatArray, Hit, Question, RankBy, Versions, embedded_text, unembedded
from rag_core.types.chunks import document_label
from rag_core.types.protocols import Retriever, Texts
from rag_core.types.retrieval import Ranking, Timer

# Of a question without capitals any word may be a name or none: so many first chunks keep their places.
KEPT = 2
# Chunks that a cross-encoder scores for a question.
CROSS_ENCODER_CHUNKS = 20
# Threads beside the one that a question came in: on two cores more of them take Python's lock, and the cores, from
# each other (137 questions about filings: retrieval 24.6 ms with one, 26.4 with two and 27.0 with four).
BESIDE = max(1, min(4, usable_cores() - 1))


class Ranker:
    """Puts the parts of retrieval together as settings and a query's configuration say.

    Parameters
    ----------
    settings : Settings
    stores : Stores
    models : Models
    """

    def __init__(self, settings: Settings, stores: Stores, models: Models) -> None:
        self._settings = settings
        self._stores = stores
        self._models = models

    def rank(
        self, query: Query, timer: Timer, on_stage: Callable[[str], None], hypothesis: str, generation: Generation
    ) -> Ranked:
        """Chunks in their order, found in one generation; see `Searching.rank`."""
        # Threads of its own for each question: what it needs first is begun first, whoever else asks.
        with ThreadPoolExecutor(BESIDE, thread_name_prefix="ranking") as calls:
            return self._ranked(calls, query, timer, on_stage, hypothesis, generation)

    def _ranked(
        self,
        calls: Executor,
        query: Query,
        timer: Timer,
        on_stage: Callable[[str], None],
        hypothesis: str,
        generation: Generation,
    ) -> Ranked:
        how = query.configuration
        rank_by = how.rank_by or self._settings.rank_by
        candidates = max(how.candidates or self._settings.candidates, query.top_k)
        looks_up = rank_by in ("financials", "named", "cross_encoder")
        rows = ChunkRows(self._stores.library, calls)
        names = [word.text for word in reading(query.text).names] or uncapitalised(query.text)
        wanted = lookup(query.text, names) if looks_up else None
        versions, embedded = self._versions(query.documents, generation.generation_id)
        tokens = ChunkTokens(self._stores, generation)
        index = self._stores.words
        words: Retriever = index
        if rank_by != "dense":  # which asks for no words
            words = _begun(calls, index, unembedded(query.text), candidates, versions, tokens)
        lines = _begun(calls, index, unembedded(wanted.text), LOOKED_UP, versions, tokens) if wanted else None
        on_stage("embed")
        with timer.measure("embed"):
            question = generation.embedder.embed_question(query.text)
            if hypothesis:
                question = _towards(question, generation.embedder.embed_question(hypothesis).dense)
        dense: Retriever = self._stores.dense(generation.generation_id)
        if rank_by != "bm25":  # which asks for no meaning
            dense = _begun(calls, dense, question, candidates, embedded, tokens)
        texts = partial(_texts, rows)
        financials = self._financials(calls, wanted, lines, generation, tokens, texts) if wanted and lines else None
        weights = token_weights(question, self._stores.words.idf, STOP_WORDS)

        def vectors(chunk_ids: Sequence[int]) -> Mapping[int, ChunkVectors]:
            rows.begin(chunk_ids)
            return tokens.vectors(chunk_ids)

        pipeline = Pipeline(
            dense,
            words,
            LateInteractionReranker(vectors, lambda _: weights),
            candidates=candidates,
            rrf_k=how.rrf_k or self._settings.rrf_k,
            rank_by=rank_by,
            financials=financials,
            cross_encoder=(
                CrossEncoderReranker(self._models.cross_encoder(), texts) if rank_by == "cross_encoder" else None
            ),
            cross_encoder_top=CROSS_ENCODER_CHUNKS,
        )
        ranking = pipeline.run(question, versions, timer, on_stage)
        found = rows(ranking.order)
        ranking = self._fresher_first(ranking, rank_by, found)
        if rank_by == "named":
            ranking = _named_first(ranking, query.text, found)
        alone = financials is not None and len(self._stores.library.visible_versions(query.documents)) == 1
        return Ranked(question, weights, ranking, found, tokens, generation, financials, alone)

    def _financials(
        self,
        calls: Executor,
        wanted: Lookup,
        words: Begun,
        generation: Generation,
        tokens: ChunkTokens,
        texts: Texts,
    ) -> Financials:
        """The search for the statements that a question is answered from, its lines embedded from now on."""

        def embedded() -> tuple[Question, FloatArray]:
            question = generation.embedder.embed_question(wanted.text, beside=True)
            return question, token_weights(question, self._stores.words.idf, STOP_WORDS)

        asked = calls.submit(embedded)
        reranker = LateInteractionReranker(tokens.vectors, lambda _: asked.result()[1])
        return Financials(wanted, asked.result, words, reranker, texts)

    def _fresher_first(self, ranking: Ranking, rank_by: RankBy, rows: Mapping[int, Any]) -> Ranking:
        """The ranking with newer documents preferred, where the settings say so.

        Only the rerankers' scores are of one size: what is much beside one stage's is nothing beside
        another's.
        """
        if rank_by in ("financials", "named") and not ranking.scores["financials"]:
            rank_by = "rerank"
        if not self._settings.freshness or rank_by not in ("rerank", "cross_encoder"):
            return ranking
        added = {
            one.document_id: one.added_at
            for one in self._stores.library.documents(sorted({row.document_id for row in rows.values()}))
        }
        now = datetime.now(UTC)
        ages = {
            chunk_id: (now - added[row.document_id]).total_seconds() / 86_400
            for chunk_id, row in rows.items()
            if row.document_id in added
        }
        return fresher_first(ranking, rank_by, ages, self._settings.freshness)

    def _versions(self, scope: Sequence[str] | None, generation_id: int) -> tuple[Versions | None, Versions | None]:
        """Versions to search among words, and among one generation's vectors: ``None`` where all may be seen."""
        if scope is not None:
            seen = list(self._stores.library.visible_versions(scope))
            return seen, seen
        hidden = self._stores.library.hidden_versions()
        embedded = [version for version, generation in hidden.items() if generation == generation_id]
        return AllBut(list(hidden)) if hidden else None, AllBut(embedded) if embedded else None


def _begun(
    calls: Executor, retriever: Retriever, question: Question, k: int, versions: Versions | None, tokens: ChunkTokens
) -> Begun:
    """A search from now on; what the reranker reads of the chunks is fetched with it."""

    def search() -> list[Hit]:
        hits = retriever.retrieve(question, k, versions)
        tokens.fetch([hit.chunk_id for hit in hits])
        return hits

    return Begun(retriever.name, calls.submit(search))


def _texts(rows: ChunkRows, chunk_ids: Sequence[int]) -> dict[int, str]:
    return {one: embedded_text(row.prefix, row.text) for one, row in rows(chunk_ids).items()}


def _named_first(ranking: Ranking, question: str, rows: Mapping[int, Any]) -> Ranking:
    documents = {one: document_label(row.prefix) for one, row in rows.items()}
    texts = {one: row.text for one, row in rows.items()}
    if names := named(question):
        return named_first(ranking, names, documents, texts)
    return named_first(ranking, uncapitalised(question), documents, texts, KEPT)


def _towards(question: Question, hypothesis: FloatArray) -> Question:
    mean = question.dense + hypothesis
    return replace(question, dense=mean / np.linalg.norm(mean))
