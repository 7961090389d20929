"""Rank the retrievers' hits: fuse them, rerank them, add the domain look-up, apply a cross-encoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rag_core.retrieval.fusion import reciprocal_rank_fusion
from rag_core.types import Hit, RankBy
from rag_core.types.protocols import LookupPlan
from rag_core.types.retrieval import Ranking, Timer

# Number of word-search hits for a look-up, and of the question's best chunks, that are candidates for its sections.
LOOKUP_CHUNKS = 50
# Number of chunks closest to the look-up, and of their first characters, that are compared with section titles.
SECTION_CHUNKS, HEAD_CHARACTERS = 30, 300
# Number of chunks that a cross-encoder scores for a question.
CROSS_ENCODER_CHUNKS = 20

# Scores chunks by id; returns those that have a score, best first.
Rerank = Callable[[Sequence[int]], list[Hit]]
Texts = Callable[[Sequence[int]], Mapping[int, str]]


@dataclass(frozen=True, slots=True)
class RetrievedHits:
    """The hits of each retriever, best first.

    ``lines`` are the word-search hits of a domain look-up. ``reranked`` are all hits that the reranker can score.
    """

    dense: Sequence[Hit] = ()
    lexical: Sequence[Hit] = ()
    lookup: Sequence[Hit] = ()
    reranked: Sequence[Hit] = ()


@dataclass(frozen=True, slots=True)
class SectionRanker:
    """Ranks the chunks of each section of a look-up.

    Parameters
    ----------
    plan : LookupPlan
    rerank : callable
        Scores chunks for the look-up's query.
    texts : callable
        Returns the texts of chunks, including prefixes, by id.
    """

    plan: LookupPlan
    rerank: Rerank
    texts: Texts

    def rank(self, chunk_ids: Sequence[int], lines: Sequence[int]) -> list[list[Hit]]:
        """Return the chunks of each section, those closest to the look-up first.

        Parameters
        ----------
        chunk_ids : sequence of int
            Chunks found for the question, best first.
        lines : sequence of int
            Word-search hits of the look-up, best first.
        """
        candidates = list(dict.fromkeys([*chunk_ids[:LOOKUP_CHUNKS], *lines]))
        closest = self.rerank(candidates)[:SECTION_CHUNKS]
        texts = self.texts([hit.chunk_id for hit in closest])
        heads = {chunk_id: text[:HEAD_CHARACTERS] for chunk_id, text in texts.items()}
        return [
            [hit for hit in closest if self.plan.is_section(section, heads.get(hit.chunk_id, ""))][
                : self.plan.max_chunks
            ]
            for section in self.plan.sections
        ]


def rank_chunks(
    hits: RetrievedHits,
    *,
    rank_by: RankBy,
    rrf_k: int,
    timer: Timer,
    sections: SectionRanker | None = None,
    cross_encode: Rerank | None = None,
) -> Ranking:
    """Rank the hits of the retrievers.

    Chunks without a reranker score, because they are not embedded yet, follow the others in fused order. Chunks
    without a cross-encoder score follow those that have one and keep their order.

    Parameters
    ----------
    hits : RetrievedHits
    rank_by : {"dense", "bm25", "rrf", "rerank", "financials", "named", "cross_encoder"}
        The stage that orders the chunks; see `RetrievalConfig`. The order for ``named`` is that of ``financials``;
        the caller applies `prefer_named_documents` to it.
    rrf_k : int
        Constant of the fusion.
    timer : Timer
        Measures each stage.
    sections : SectionRanker, optional
        Ranks the look-up's sections; without it the order for ``financials`` is that of ``rerank``.
    cross_encode : callable, optional
        Scores the first chunks for ``cross_encoder``.

    Raises
    ------
    ValueError
        ``rank_by`` is ``cross_encoder`` and ``cross_encode`` is not given.
    """
    if rank_by == "cross_encoder" and cross_encode is None:
        raise ValueError("rank_by='cross_encoder' requires a cross-encoder in cross_encode.")
    lines = _chunk_ids(hits.lookup)
    with timer.measure("rerank"):
        fused = reciprocal_rank_fusion([hits.dense, hits.lexical], rrf_k)
        position = {one: place for place, one in enumerate(dict.fromkeys([*_chunk_ids(fused), *lines]))}
        # Equal scores keep the fused order.
        reranked = sorted(hits.reranked, key=lambda hit: (-hit.score, position[hit.chunk_id]))
    ranked_sections: list[list[Hit]] = []
    if sections is not None:
        with timer.measure("financials"):
            ranked_sections = sections.rank(_chunk_ids(reranked), lines)
    financials = reciprocal_rank_fusion([reranked, *ranked_sections], rrf_k) if any(ranked_sections) else []
    with_sections = financials or reranked
    orders = {"rerank": reranked, "financials": with_sections, "named": with_sections, "cross_encoder": with_sections}
    # If only one retriever ran, the fused order is that retriever's order.
    order = list(dict.fromkeys(_chunk_ids([*orders.get(rank_by, fused), *fused])))
    scores = {
        "dense": _by_chunk(hits.dense),
        "bm25": _by_chunk(hits.lexical),
        "rrf": _by_chunk(fused) if rank_by not in ("dense", "bm25") else {},
        "rerank": _by_chunk(reranked),
        "statement": _by_chunk([hit for section in ranked_sections for hit in section]),
        "financials": _by_chunk(financials),
    }
    if rank_by == "cross_encoder" and cross_encode is not None:
        with timer.measure("cross_encoder"):
            cross_encoded = cross_encode(order[:CROSS_ENCODER_CHUNKS])
        order = list(dict.fromkeys([*_chunk_ids(cross_encoded), *order]))
        scores["cross_encoder"] = _by_chunk(cross_encoded)
    return Ranking(tuple(order), scores)


def _chunk_ids(hits: Sequence[Hit]) -> list[int]:
    return [hit.chunk_id for hit in hits]


def _by_chunk(hits: Sequence[Hit]) -> dict[int, float]:
    return {hit.chunk_id: hit.score for hit in hits}
