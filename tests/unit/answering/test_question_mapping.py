"""Rankings compare the vectors that the query adapter maps; the gate compares those of the embedder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from rag_core.answering.question_mapping import apply_adapter, score_unmapped
from rag_core.embedding.query_adapter import QueryAdapter
from rag_core.retrieval.fusion import fuse_rankings
from rag_core.retrieval.late_interaction import rerank_chunks
from rag_core.types.chunks import ChunkVectors
from rag_core.types.retrieval import Ranking
from rag_core.types.searches import DEFAULT_CONFIGURATION, Query, RankedChunks
from tests.support.embedders import DIMENSION, HashingEmbedder

# Chunks by id. The question asks for "tavish", which the adapter maps to "pressure".
TEXTS = {1: "tavish tavish tavish", 2: "pressure of the pump", 3: "colour of the pump"}
QUESTION = "tavish"


@pytest.fixture
def adapter(embedder: HashingEmbedder) -> QueryAdapter:
    asked, meant = (embedder.embed_question(word).tokens[0] for word in ("tavish", "pressure"))
    tokens = np.outer(asked, meant - asked).astype(np.float32)
    identity = embedder.identity
    return QueryAdapter(identity.weights, identity.projection, np.zeros((DIMENSION, DIMENSION), np.float32), tokens)


def rank(embedder: HashingEmbedder, adapter: QueryAdapter | None, chunk_ids: Sequence[int]) -> RankedChunks:
    """Return the ranking of chunks as a search for the question that finds only these chunks."""
    question = embedder.embed_question(QUESTION)
    query = Query(QUESTION, None, 5, DEFAULT_CONFIGURATION, adapter=adapter)
    mapped = apply_adapter(query, question, embedder)
    embeddings = embedder.embed([TEXTS[one] for one in chunk_ids])
    start = np.zeros(1, np.int32)
    vectors = {
        one: ChunkVectors(embedding.tokens, embedding.scales, start)
        for one, embedding in zip(chunk_ids, embeddings, strict=True)
    }
    weights = np.ones(1, np.float32)
    hits = rerank_chunks(mapped, weights, lambda _: vectors, chunk_ids)
    scores = {"rerank": {hit.chunk_id: hit.score for hit in hits}}
    ranking = Ranking(tuple(hit.chunk_id for hit in hits), scores)
    return RankedChunks(question, mapped, weights, ranking, {}, vectors, embedder)


def test_adapter_changes_the_ranking(embedder: HashingEmbedder, adapter: QueryAdapter) -> None:
    assert rank(embedder, None, [1, 2, 3]).ranking.order[0] == 1
    assert rank(embedder, adapter, [1, 2, 3]).ranking.order[0] == 2


def test_fused_rankings_have_the_scores_of_one_search(embedder: HashingEmbedder, adapter: QueryAdapter) -> None:
    for one in (None, adapter):
        whole = rank(embedder, one, [1, 2, 3]).ranking.scores["rerank"]
        fused = fuse_rankings([rank(embedder, one, [1]), rank(embedder, one, [2, 3])], 60)
        assert fused.ranking.scores["rerank"] == pytest.approx(whole)


def test_scores_for_the_gate_do_not_depend_on_the_adapter(embedder: HashingEmbedder, adapter: QueryAdapter) -> None:
    plain, mapped = (rank(embedder, one, [1, 2, 3]) for one in (None, adapter))
    assert score_unmapped(plain, [1, 2, 3]) == plain.ranking.scores["rerank"]
    assert score_unmapped(mapped, [1, 2, 3]) == pytest.approx(plain.ranking.scores["rerank"])
    assert mapped.ranking.scores["rerank"] != pytest.approx(plain.ranking.scores["rerank"])


def test_adapter_of_another_embedder_is_not_applied(embedder: HashingEmbedder, adapter: QueryAdapter) -> None:
    other = QueryAdapter("0" * 64, adapter.projection, adapter.dense, adapter.tokens)
    ranked = rank(embedder, other, [1, 2])
    assert ranked.mapped_question is ranked.question
