"""Apply the trained adapter to the vectors of a question for the ranking, and score chunks without it for the gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag_core.retrieval.late_interaction import rerank_chunks
from rag_core.types.protocols import QuestionEmbedder
from rag_core.types.retrieval import Question
from rag_core.types.searches import Query, RankedChunks


def apply_adapter(query: Query, question: Question, embedder: QuestionEmbedder) -> Question:
    """Return the question with the vectors that the adapter of the query maps; unchanged without a fitting adapter."""
    if query.adapter is None or query.adapter.find_problems(embedder.identity):
        return question
    return query.adapter.apply(question)


def score_unmapped(ranked: RankedChunks, chunk_ids: Sequence[int]) -> Mapping[int, float]:
    """Return the late-interaction scores of chunks for the question without an adapter, by chunk id.

    The scores are features of the gate, which was fitted without an adapter. Chunks without token vectors have none.
    """
    if ranked.mapped_question is ranked.question:
        return ranked.ranking.scores["rerank"]
    hits = rerank_chunks(ranked.question, ranked.token_weights, lambda _: ranked.vectors, chunk_ids)
    return {hit.chunk_id: hit.score for hit in hits}
