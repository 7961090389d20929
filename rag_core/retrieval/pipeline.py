"""Rank the hits of the retrievers: fuse them, apply the reranker, the look-up in sections, and a cross-encoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rag_core.retrieval.fusion import reciprocal_rank_fusion
from rag_core.types.protocols import LookupPlan
from rag_core.types.retrieval import Hit, Ranking, Timer

# Number of best chunks for a question that are candidates of a look-up. The word search of the look-up returns as many
# further candidates.
LOOKUP_CHUNKS = 50
# Number of candidates whose sections are determined: the best ones for the query of the look-up.
SECTION_CHUNKS = 30
# Number of characters at the start of a chunk in which the title of a section is looked for.
HEAD_CHARACTERS = 300
# Number of chunks that a cross-encoder scores for a question.
CROSS_ENCODER_CHUNKS = 20

# A function that takes chunk ids and returns the hits of the chunks that have a score, best first.
Rerank = Callable[[Sequence[int]], list[Hit]]
Texts = Callable[[Sequence[int]], Mapping[int, str]]


@dataclass(frozen=True, slots=True)
class RetrievedHits:
    """The hits of the retrievers and the reranker, best first.

    Attributes
    ----------
    found : mapping of str to sequence of Hit
        Hits of the retrievers, by the names of their scores.
    lookup : sequence of Hit
        Hits of the word search of the look-up.
    reranked : sequence of Hit
        Chunks with a score of the reranker.
    """

    found: Mapping[str, Sequence[Hit]]
    lookup: Sequence[Hit] = ()
    reranked: Sequence[Hit] = ()


@dataclass(frozen=True, slots=True)
class SectionRanker:
    """Ranks the chunks in the sections of a look-up, separately for each kind of section.

    Parameters
    ----------
    plan : LookupPlan
    rerank : callable
        Function that ranks chunks for the query of the look-up.
    texts : callable
        Function that returns the texts of chunks, including their prefixes, by chunk id.
    """

    plan: LookupPlan
    rerank: Rerank
    texts: Texts

    def rank(self, chunk_ids: Sequence[int], lines: Sequence[int]) -> list[list[Hit]]:
        """Return the ranked chunks in each kind of section, in the order of ``plan.sections``.

        Parameters
        ----------
        chunk_ids : sequence of int
            Chunks that were found for the question, best first.
        lines : sequence of int
            Chunks that the word search of the look-up found, best first.
        """
        candidates = list(dict.fromkeys([*chunk_ids[:LOOKUP_CHUNKS], *lines]))
        closest = self.rerank(candidates)[:SECTION_CHUNKS]
        texts = self.texts([hit.chunk_id for hit in closest])
        heads = {chunk_id: text[:HEAD_CHARACTERS] for chunk_id, text in texts.items()}
        return [
            [hit for hit in closest if self.plan.is_in_section(section, heads.get(hit.chunk_id, ""))][
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

    Chunks that are not embedded yet have no score of the reranker. They follow the reranked chunks in the order of the
    fusion. Chunks without a score of the cross-encoder follow the chunks with such a score.

    Parameters
    ----------
    hits : RetrievedHits
    rank_by : str
        The score that orders the chunks; see `RetrievalConfig`. The order for ``named`` is that for ``financials``,
        because `prefer_named_documents` is applied later.
    rrf_k : int
        Constant of reciprocal rank fusion.
    timer : Timer
        Measures the time of each stage.
    sections : SectionRanker, optional
        Ranks the sections of the look-up. Without it, the order for ``financials`` is that for ``rerank``.
    cross_encode : callable, optional
        Function that ranks chunks with the cross-encoder; required if ``rank_by`` is ``cross_encoder``, else ignored.

    Raises
    ------
    ValueError
        ``rank_by`` is ``cross_encoder`` and ``cross_encode`` is not given.
    """
    if rank_by == "cross_encoder" and cross_encode is None:
        raise ValueError("rank_by='cross_encoder' requires a cross-encoder in cross_encode.")
    lines = _list_ids(hits.lookup)
    with timer.measure("rerank"):
        fused = reciprocal_rank_fusion(map(_list_ids, hits.found.values()), rrf_k)
        # Chunks with equal scores are ordered by their position in the fused ranking.
        position = {one: index for index, one in enumerate(dict.fromkeys([*_list_ids(fused), *lines]))}
        reranked = sorted(hits.reranked, key=lambda hit: (-hit.score, position[hit.chunk_id]))
    ranked_sections: list[list[Hit]] = []
    if sections is not None:
        with timer.measure("financials"):
            ranked_sections = sections.rank(_list_ids(reranked), lines)
    rankings = map(_list_ids, [reranked, *ranked_sections])
    financials = reciprocal_rank_fusion(rankings, rrf_k) if any(ranked_sections) else []
    with_sections = financials or reranked
    orders = {"rerank": reranked, "financials": with_sections, "named": with_sections, "cross_encoder": with_sections}
    # For the score of a retriever, only this retriever has run, so that the fused order is its order.
    order = list(dict.fromkeys(_list_ids([*orders.get(rank_by, fused), *fused])))
    scores = {
        **{name: _map_scores(found) for name, found in hits.found.items()},
        "rrf": {} if rank_by in hits.found else _map_scores(fused),
        "rerank": _map_scores(reranked),
        "statement": _map_scores([hit for section in ranked_sections for hit in section]),
        "financials": _map_scores(financials),
    }
    if rank_by == "cross_encoder" and cross_encode is not None:
        with timer.measure("cross_encoder"):
            cross_encoded = cross_encode(order[:CROSS_ENCODER_CHUNKS])
        order = list(dict.fromkeys([*_list_ids(cross_encoded), *order]))
        scores["cross_encoder"] = _map_scores(cross_encoded)
    return Ranking(tuple(order), scores)


def _list_ids(hits: Sequence[Hit]) -> list[int]:
    return [hit.chunk_id for hit in hits]


def _map_scores(hits: Sequence[Hit]) -> dict[int, float]:
    return {hit.chunk_id: hit.score for hit in hits}
