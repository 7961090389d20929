"""From a question to passages, and the gate's verdict on them."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from rag_core.answering.facts import Reading
from rag_core.errors import QuestionError, StoreUnavailable
from rag_core.index import STOPWORDS
from rag_core.retrieval import (
    GATED,
    CrossEncoderReranker,
    Financials,
    LateInteractionReranker,
    Pipeline,
    Ranking,
    Timer,
    calibration,
    decide,
    fold,
    fresher_first,
    lookup,
    token_weights,
)
from rag_core.services.chunktokens import ChunkTokens
from rag_core.services.gating import judged
from rag_core.services.generations import Generation, Generations
from rag_core.services.models import Models
from rag_core.services.passages import passage_of
from rag_core.services.queries import AS_SET, Found, Query, Ranked
from rag_core.services.stores import Stores
from rag_core.settings import Settings
from rag_core.types import Configuration, FloatArray, Question, RankBy, SearchResult, embedded_text

# How often a question is asked of an index that changes under it.
TRIES = 3


class Searching:
    """Finds passages in what is indexed.

    Parameters
    ----------
    threshold, top_k : callable
        The present values; they can be changed while the app runs.
    """

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        models: Models,
        generations: Generations,
        threshold: Callable[[], float],
        top_k: Callable[[], int],
    ) -> None:
        self._settings = settings
        self._stores = stores
        self._models = models
        self._generations = generations
        self._threshold = threshold
        self._top_k = top_k

    def query(
        self,
        text: str,
        documents: Sequence[str] | None,
        top_k: int | None = None,
        configuration: Configuration = AS_SET,
    ) -> Query:
        """A question as it is searched for; raises `QuestionError` and `UnknownDocument`."""
        scope = tuple(self._stores.library.resolve(documents)) if documents else None
        return Query(self.checked(text), scope, top_k or configuration.top_k or self._top_k(), configuration)

    def search(self, query: Query, timer: Timer, on_stage: Callable[[str], None] = lambda name: None) -> Found:
        """Retrieve, rerank and gate; see `Engine.search`."""
        started = time.perf_counter()
        ranked = self.rank(query, timer, on_stage)
        on_stage("gate")
        found = self.judge(query, ranked)
        timer.ms["total"] = 1000 * (time.perf_counter() - started)
        return replace(found, result=replace(found.result, timings_ms=dict(timer.ms)))

    def judge(self, query: Query, ranked: Ranked) -> Found:
        """The first passages of a ranking, and whether they answer."""
        rows, order = ranked.rows, ranked.ranking.order
        folded = fold([rows[chunk_id] for chunk_id in order if chunk_id in rows], max(query.top_k, query.depth, GATED))
        unjudged = [
            passage_of(rank, rows[chunk_id], ranked.ranking.scores, [rows[one] for one in repeats])
            for rank, (chunk_id, repeats) in enumerate(folded.items(), 1)
        ]
        passages = judged(ranked, unjudged)
        given = query.configuration.threshold
        gate = decide(passages[:GATED], self._threshold() if given is None else given, self._settings.gate)
        notices = self._notices(query.documents, ranked.generation)
        return Found(SearchResult(query.text, passages[: query.top_k], gate, {}, notices), ranked, passages)

    def rank(
        self,
        query: Query,
        timer: Timer,
        on_stage: Callable[[str], None] = lambda name: None,
        hypothesis: str = "",
    ) -> Ranked:
        """Chunks in their order, found in an index that did not change meanwhile.

        Where documents or the whole index were replaced or removed, what was found is no longer there,
        and what is there was not searched: it is tried again, and the last try's result stands.

        ``hypothesis`` is a made-up answer: dense retrieval looks for what is close to it and to the
        question, at the mean of their vectors (HyDE; Gao et al., "Precise zero-shot dense retrieval
        without relevance labels", ACL 2023). Words and reranker keep to the question.
        """
        for _ in range(TRIES - 1):
            generation = self._generations.active()
            try:
                ranked = self._tried(query, timer, on_stage, hypothesis, generation)
            except StoreUnavailable:
                if self._is_active(generation):
                    raise
            else:
                # Of an index that is gone as a whole nothing is found, and so nothing is missing.
                if len(ranked.rows) == len(ranked.ranking.order) and (ranked.rows or self._is_active(generation)):
                    return ranked
            on_stage = _unheard
        return self._tried(query, timer, on_stage, hypothesis, self._generations.active())

    def _is_active(self, generation: Generation) -> bool:
        return self._generations.active().generation_id == generation.generation_id

    def checked(self, text: str) -> str:
        """The question as it is asked, white space folded; raises `QuestionError`."""
        # Half surrogate pairs come out of broken JSON and terminals; no tokenizer and no store takes them.
        question = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode("utf-8"))
        question = " ".join(question.split())
        limit = self._settings.max_question_chars
        if not question:
            raise QuestionError("The question is empty. Type what you want to know.")
        if len(question) > limit:
            raise QuestionError(
                f"The question has {len(question)} characters; the limit is {limit}. Shorten it, or raise "
                "RAG_MAX_QUESTION_CHARS."
            )
        return question

    def _tried(
        self, query: Query, timer: Timer, on_stage: Callable[[str], None], hypothesis: str, generation: Generation
    ) -> Ranked:
        on_stage("embed")
        with timer.measure("embed"):
            question = generation.embedder.embed_question(query.text)
            if hypothesis:
                question = _towards(question, generation.embedder.embed_question(hypothesis).dense)
        weights = token_weights(question, self._stores.words.idf, STOPWORDS)
        tokens = ChunkTokens(self._stores, generation)
        how = query.configuration
        rank_by = how.rank_by or self._settings.rank_by
        looks_up = rank_by in ("financials", "cross_encoder")
        financials = self._financials(query.text, generation, tokens, timer) if looks_up else None
        pipeline = Pipeline(
            self._stores.dense(generation.generation_id),
            self._stores.words,
            LateInteractionReranker(tokens.vectors, lambda _: weights),
            candidates=max(how.candidates or self._settings.candidates, query.top_k),
            rrf_k=how.rrf_k or self._settings.rrf_k,
            rank_by=rank_by,
            financials=financials,
            cross_encoder=(
                CrossEncoderReranker(self._models.cross_encoder(), self._texts) if rank_by == "cross_encoder" else None
            ),
            cross_encoder_top=self._settings.rerank_top,
        )
        ranking = pipeline.run(question, self._versions(query.documents), timer, on_stage)
        rows = self._stores.library.visible_chunks(ranking.order)
        ranking = self._fresher_first(ranking, rank_by, rows)
        alone = financials is not None and len(self._stores.library.visible_versions(query.documents)) == 1
        return Ranked(question, weights, ranking, rows, tokens, generation, financials, alone)

    def _financials(self, text: str, generation: Generation, tokens: ChunkTokens, timer: Timer) -> Financials | None:
        """The search for the statements that a question is answered from."""
        wanted = lookup(text, [word.text for word in Reading(text).names])
        if wanted is None:
            return None
        with timer.measure("embed"):
            question = generation.embedder.embed_question(wanted.text)
        weights = token_weights(question, self._stores.words.idf, STOPWORDS)
        reranker = LateInteractionReranker(tokens.vectors, lambda _: weights)
        return Financials(wanted, question, weights, self._stores.words, reranker, self._texts)

    def _fresher_first(self, ranking: Ranking, rank_by: RankBy, rows: Mapping[int, Any]) -> Ranking:
        """The ranking with newer documents preferred, where the settings say so.

        Only the rerankers' scores are of one size: what is much beside one stage's is nothing beside
        another's.
        """
        if rank_by == "financials" and not ranking.scores[rank_by]:
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
        return fresher_first(ranking, rank_by, ages, self._settings.freshness, self._settings.freshness_half_life_days)

    def _texts(self, chunk_ids: Sequence[int]) -> Mapping[int, str]:
        rows = self._stores.library.visible_chunks(chunk_ids)
        return {one: embedded_text(row.prefix, row.text) for one, row in rows.items()}

    def _versions(self, scope: Sequence[str] | None) -> list[str] | None:
        """Versions to search: ``None`` where all that the stores hold may be seen."""
        if scope is None and not self._stores.library.hidden_versions():
            return None
        return list(self._stores.library.visible_versions(scope))

    def _notices(self, scope: Sequence[str] | None, generation: Generation) -> tuple[str, ...]:
        notices = []
        states = ("still being indexed and found by words only so far", "still being read and not found yet")
        for number, state in zip(self._stores.library.unfinished(scope), states, strict=True):
            if number:
                notices.append(f"{'1 document is' if number == 1 else f'{number} documents are'} {state}.")
        identity = generation.embedder.identity
        if self._settings.gate == "answerable" and not calibration().fits(identity.weights, identity.projection):
            notices.append(
                f"Whether to answer was not calibrated for the embedding model {identity.name}, so it may be decided "
                "wrongly. Set RAG_GATE to rerank and RAG_THRESHOLD to what suits your documents."
            )
        return tuple(notices)


def _towards(question: Question, hypothesis: FloatArray) -> Question:
    mean = question.dense + hypothesis
    return replace(question, dense=mean / np.linalg.norm(mean))


def _unheard(_name: str) -> None:
    """For stages that were told before."""
