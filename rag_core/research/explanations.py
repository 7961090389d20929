"""Explain how passages are found: the ranking of each stage, and the token matches behind a score."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from rag_core.answering.question_mapping import apply_adapter
from rag_core.answering.search import Searcher
from rag_core.errors import UnknownDocument
from rag_core.retrieval.late_interaction import (
    compute_max_sim,
    compute_token_similarities,
    compute_token_weights,
    score_chunks,
    select_compared_tokens,
)
from rag_core.retrieval.passage_weights import compute_evidence_mass, weight_passages
from rag_core.retrieval.passages import build_passage
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.stores import Stores
from rag_core.text.words import STOP_WORDS
from rag_core.types.conversations import Scope
from rag_core.types.explanations import (
    EvidenceMass,
    Explanation,
    ScoredPassage,
    StageRanking,
    TokenMatch,
    TokenMatches,
    WeightedPassage,
    WeightingConfig,
)
from rag_core.types.retrieval import Hit, RetrievalConfig, Timer
from rag_core.types.searches import DEFAULT_CONFIGURATION

# Name of the score that determines the weights of passages.
WEIGHED_BY = "rerank"


class Explanations:
    """Explains how passages are found and scored.

    Parameters
    ----------
    stores : Stores
    generations : IndexGenerations
    searcher : Searcher
    """

    def __init__(self, stores: Stores, generations: IndexGenerations, searcher: Searcher) -> None:
        self._stores = stores
        self._generations = generations
        self._searcher = searcher

    def explain(
        self,
        question: str,
        *,
        documents: Sequence[str] | None = None,
        collections: Sequence[str] = (),
        as_of: str = "",
        configuration: RetrievalConfig | None = None,
    ) -> Explanation:
        """Return the results of each stage of a search, with all ranks, scores and the gate's decision.

        Parameters
        ----------
        question : str
        documents, collections : sequence of str, optional
            Names or ids of the documents, and names of the collections, to search. Default: all documents.
        as_of : str
            Name of a snapshot or date, as in `Engine.search`.
        configuration : RetrievalConfig, optional
            Parameters of the retrieval. Default: those of the settings.

        Raises
        ------
        QuestionError, UnknownDocument, CollectionError, SnapshotError, EmbedderError, RerankerMissing, IndexMismatch
        StoreError
        """
        scope = Scope.of(documents, collections, as_of)
        query = self._searcher.build_query(question, scope, configuration=configuration or DEFAULT_CONFIGURATION)
        outcome = self._searcher.search(query, Timer())
        rows, scores = outcome.ranked.rows, outcome.ranked.ranking.scores
        order = [chunk_id for chunk_id in outcome.ranked.ranking.order if chunk_id in rows]
        shown = {one.chunk_id: one for one in outcome.result.passages}
        passages = tuple(
            shown.get(str(one)) or build_passage(rank, rows[one], scores) for rank, one in enumerate(order, 1)
        )
        # Each `by_chunk` has the order in which the stage ranked the chunks.
        stages = tuple(
            StageRanking(name, tuple(Hit(one, value) for one, value in by_chunk.items() if one in rows))
            for name, by_chunk in scores.items()
            if by_chunk
        )
        result = outcome.result
        dates = self._stores.documents.version_dates({passage.version_id for passage in passages})
        added_at = {one.document_id: dates[one.version_id] for one in passages if one.version_id in dates}
        return Explanation(
            question=result.question,
            passages=passages,
            stages=stages,
            gate=result.gate,
            timings_ms=result.timings_ms,
            notices=result.notices,
            added_at=added_at,
        )

    def token_matches(self, question: str, chunk_id: str) -> TokenMatches:
        """Return the weight of each compared token of a question, and the token of a chunk that matches it best.

        Return no matches if the embedder computes no token vectors, or if the vectors of the chunk are not stored yet.

        Raises
        ------
        QuestionError, UnknownDocument, EmbedderError, RerankerMissing, IndexMismatch, StoreError
        """
        generation = self._generations.active()
        query = self._searcher.build_query(question, Scope())
        embedded_question = apply_adapter(query, generation.embedder.embed_question(query.text), generation.embedder)
        wanted = [int(chunk_id)]
        found = self._stores.documents.visible_chunks(wanted) or self._stores.snapshots.chunks(None, wanted)
        row = found.get(int(chunk_id))
        if row is None:
            raise UnknownDocument("That passage is no longer in the library. Ask the question again.")
        embedded = row.embedded_text
        chunk = self._searcher.load_vectors(row, generation)
        if chunk is None or not len(chunk.scales) or not len(embedded_question.tokens):
            return TokenMatches(embedded_question.text, embedded, (), 0.0, 0.0)
        weights = compute_token_weights(embedded_question, self._stores.word_index.idf, STOP_WORDS)
        vectors = chunk.to_float()
        indices = select_compared_tokens(weights)
        similarities = compute_token_similarities(embedded_question.tokens[indices], vectors)
        best = similarities.argmax(axis=1)
        spans = generation.embedder.offsets([embedded])[0][best]
        rows = zip(embedded_question.offsets[indices], weights[indices], similarities.max(axis=1), spans, strict=True)
        return TokenMatches(
            question=embedded_question.text,
            text=embedded,
            matches=tuple(
                TokenMatch(
                    int(span[0]), int(span[1]), float(weight), float(similarity), int(chunk_span[0]), int(chunk_span[1])
                )
                for span, weight, similarity, chunk_span in rows
            ),
            whole=compute_max_sim(similarities, weights[indices]),
            score=float(score_chunks(embedded_question.tokens, [chunk], weights)[0]),
        )

    def weight_passages(self, explanation: Explanation, weighting: WeightingConfig) -> tuple[WeightedPassage, ...]:
        """Return the passages of an explanation with their weights, best first.

        Passages without a rerank score or without the date of their document are left out.

        Raises
        ------
        ValueError
            ``weighting.k`` or ``weighting.temperature`` is out of range.
        """
        return weight_passages(find_scored_passages(explanation), weighting)

    def evidence_mass(self, weighted: Sequence[WeightedPassage], k: int, right: str | None) -> EvidenceMass:
        """Return the weight of the right passage among the ``k`` best passages, and the passage that ranks above it.

        ``right`` is the chunk id of the right passage; ``None`` if no stage of the search finds the passage.
        """
        return compute_evidence_mass(weighted, k, right)


def find_scored_passages(explanation: Explanation, now: datetime | None = None) -> list[ScoredPassage]:
    """Return the passages that have a rerank score and the date of their document, with ages in days.

    ``now`` is the time at which ages are measured, by default the present.
    """
    moment = now or datetime.now(UTC)
    ages = {one: (moment - added).total_seconds() / 86_400 for one, added in explanation.added_at.items()}
    return [
        ScoredPassage(passage.chunk_id, score, ages[passage.document_id])
        for passage in explanation.passages
        if (score := passage.scores.get(WEIGHED_BY)) is not None and passage.document_id in ages
    ]
