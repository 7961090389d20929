"""Rank the hits of the retrievers: fuse and rerank them, add the domain look-up, and apply a cross-encoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rag_core.retrieval.fusion import reciprocal_rank_fusion
from rag_core.types.protocols import LookupPlan
from rag_core.types.retrieval import Hit, Ranking, Timer

# The candidates of a look-up are this number of hits of its word search, and the same number of the best chunks for the
# question.
LOOKUP_CHUNKS = 50
# The number of candidates with the best scores for the look-up's query that are checked for section titles, and the
# number of characters at the start of each chunk in which the title is searched.
SECTION_CHUNKS, HEAD_CHARACTERS = 30, 300
# Number of chunks that a cross-encoder scores for a question.
CROSS_ENCODER_CHUNKS = 20

# A function that takes chunk ids and returns the chunks for which a score can be computed, best first.
Rerank = Callable[[Sequence[int]], list[Hit]]
Texts = Callable[[Sequence[int]], Mapping[int, str]]


@dataclass(frozen=True, slots=True)
class RetrievedHits:
    """The hits of each retriever, best first.

    ``found`` contains the hits of each retriever that ran, by the name of its score, and ``lookup`` those of the word
    search for lines of statements. ``reranked`` contains the chunks to which the reranker gave a score.
    """

    found: Mapping[str, Sequence[Hit]]
    lookup: Sequence[Hit] = ()
    reranked: Sequence[Hit] = ()


@dataclass(frozen=True, slots=True)
class SectionRanker:
    """Ranks the chunks that belong to the sections of a look-up, separately for each kind of section.

    Parameters
    ----------
    plan : LookupPlan
    rerank : callable
        Scores chunks for the query of the look-up.
    texts : callable
        Returns the texts of chunks, including their prefixes, by chunk id.
    """

    plan: LookupPlan
    rerank: Rerank
    texts: Texts

    def rank(self, chunk_ids: Sequence[int], lines: Sequence[int]) -> list[list[Hit]]:
        """Return a ranking for each kind of section in ``plan.sections``: its chunks, ordered by `rerank`.

        Parameters
        ----------
        chunk_ids : sequence of int
            Chunks found for the question, best first.
        lines : sequence of int
            Chunks that the word search of the look-up found, best first.
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
    rank_by: str,
    rrf_k: int,
    timer: Timer,
    sections: SectionRanker | None = None,
    cross_encode: Rerank | None = None,
) -> Ranking:
    """Rank the hits of the retrievers.

    Chunks that are not embedded yet have no score of the reranker. They follow the reranked chunks, in the order of the
    fusion. Chunks that the cross-encoder does not score follow the chunks that it scores, and keep their order.

    Parameters
    ----------
    hits : RetrievedHits
    rank_by : str
        The score that determines the order of the chunks; see `RetrievalConfig`. For ``named``, the result has the
        same order as for ``financials``, because the caller applies `prefer_named_documents` to the result.
    rrf_k : int
        Constant of reciprocal rank fusion.
    timer : Timer
        Measures the time of each stage.
    sections : SectionRanker, optional
        Ranks the sections of the look-up. Without it, the order for ``financials`` is the same as for ``rerank``.
    cross_encode : callable, optional
        Scores the first chunks with the cross-encoder, which ``rank_by="cross_encoder"`` requires.

    Raises
    ------
    ValueError
        ``rank_by`` is ``cross_encoder`` and ``cross_encode`` is not given.
    """
    if rank_by == "cross_encoder" and cross_encode is None:
        raise ValueError("rank_by='cross_encoder' requires a cross-encoder in cross_encode.")
    lines = _chunk_ids(hits.lookup)
    with timer.measure("rerank"):
        fused = reciprocal_rank_fusion([*hits.found.values()], rrf_k)
        position = {one: place for place, one in enumerate(dict.fromkeys([*_chunk_ids(fused), *lines]))}
        # Chunks with equal scores are ordered by their position in the fused ranking.
        reranked = sorted(hits.reranked, key=lambda hit: (-hit.score, position[hit.chunk_id]))
    ranked_sections: list[list[Hit]] = []
    if sections is not None:
        with timer.measure("financials"):
            ranked_sections = sections.rank(_chunk_ids(reranked), lines)
    financials = reciprocal_rank_fusion([reranked, *ranked_sections], rrf_k) if any(ranked_sections) else []
    with_sections = financials or reranked
    orders = {"rerank": reranked, "financials": with_sections, "named": with_sections, "cross_encoder": with_sections}
    # For the score of a retriever, only that retriever ran, so the fused order is the order of the retriever.
    order = list(dict.fromkeys(_chunk_ids([*orders.get(rank_by, fused), *fused])))
    scores = {
        **{name: _by_chunk(found) for name, found in hits.found.items()},
        "rrf": {} if rank_by in hits.found else _by_chunk(fused),
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
