"""From what the retrievers found to ranked chunks: fuse, rerank, add what was looked up, read the best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rag_core.retrieval.fusion import reciprocal_rank_fusion
from rag_core.types import Hit, RankBy
from rag_core.types.protocols import LookupPlan
from rag_core.types.retrieval import Ranking, Timer

# Chunks that words find for a lookup, and so many of the question's best, among which its sections are ranked.
LOOKUP_CHUNKS = 50
# Of the chunks most like the lookup, those whose first characters are compared with the sections' titles.
SECTION_CHUNKS, HEAD_CHARACTERS = 30, 300
# Chunks that a cross-encoder scores for a question.
CROSS_ENCODER_CHUNKS = 20

# Scores the chunks with these ids against a question: those that have a score, best first.
Rerank = Callable[[Sequence[int]], list[Hit]]
Texts = Callable[[Sequence[int]], Mapping[int, str]]


@dataclass(frozen=True, slots=True)
class RetrievedHits:
    """What the retrievers found, best first each.

    ``lines`` are the chunks that words found for a lookup. ``reranked`` are those of all these chunks that the
    reranker could score.
    """

    dense: Sequence[Hit] = ()
    words: Sequence[Hit] = ()
    lines: Sequence[Hit] = ()
    reranked: Sequence[Hit] = ()


@dataclass(frozen=True, slots=True)
class SectionRanker:
    """Ranks the chunks of each section of a lookup.

    Parameters
    ----------
    plan : LookupPlan
    rerank : callable
        Scores chunks against the lookup's query.
    texts : callable
        Returns chunks' texts by id, their prefix first.
    """

    plan: LookupPlan
    rerank: Rerank
    texts: Texts

    def rank(self, chunk_ids: Sequence[int], lines: Sequence[int]) -> list[list[Hit]]:
        """Return for each section its chunks, those most like the lookup first.

        Parameters
        ----------
        chunk_ids : sequence of int
            What was found for the question, best first.
        lines : sequence of int
            What words found for the lookup, best first.
        """
        among = list(dict.fromkeys([*chunk_ids[:LOOKUP_CHUNKS], *lines]))
        closest = self.rerank(among)[:SECTION_CHUNKS]
        texts = self.texts([hit.chunk_id for hit in closest])
        heads = {chunk_id: text[:HEAD_CHARACTERS] for chunk_id, text in texts.items()}
        return [
            [hit for hit in closest if self.plan.is_section(section, heads.get(hit.chunk_id, ""))][: self.plan.most]
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
    """Rank what the retrievers found.

    Chunks that the reranker cannot score, because they are not embedded yet, follow those it can, in fused order;
    those that the cross-encoder does not read follow those it does, in the order before it.

    Parameters
    ----------
    hits : RetrievedHits
    rank_by : {"dense", "bm25", "rrf", "rerank", "financials", "named", "cross_encoder"}
        The stage that orders the chunks; see `RetrievalConfig`. For ``named`` they are ordered as for ``financials``:
        the caller goes on with `prefer_named_documents`.
    rrf_k : int
        Constant of the fusion.
    timer : Timer
        Measures each stage.
    sections : SectionRanker, optional
        Ranks what was looked up; without it ``financials`` orders as ``rerank`` does.
    cross_encode : callable, optional
        Scores the first chunks for ``cross_encoder``.

    Raises
    ------
    ValueError
        ``rank_by`` is ``cross_encoder`` and there is none.
    """
    if rank_by == "cross_encoder" and cross_encode is None:
        raise ValueError("To rank by a cross-encoder, one must be given.")
    lines = _chunk_ids(hits.lines)
    with timer.measure("rerank"):
        fused = reciprocal_rank_fusion([hits.dense, hits.words], rrf_k)
        position = {one: place for place, one in enumerate(dict.fromkeys([*_chunk_ids(fused), *lines]))}
        # Equal scores keep the order in which the chunks were found.
        reranked = sorted(hits.reranked, key=lambda hit: (-hit.score, position[hit.chunk_id]))
    ranked_sections: list[list[Hit]] = []
    if sections is not None:
        with timer.measure("financials"):
            ranked_sections = sections.rank(_chunk_ids(reranked), lines)
    financials = reciprocal_rank_fusion([reranked, *ranked_sections], rrf_k) if any(ranked_sections) else []
    last = financials or reranked
    orders = {"rerank": reranked, "financials": last, "named": last, "cross_encoder": last}
    # The fusion of one ranking keeps its order.
    order = list(dict.fromkeys(_chunk_ids([*orders.get(rank_by, fused), *fused])))
    scores = {
        "dense": _by_chunk(hits.dense),
        "bm25": _by_chunk(hits.words),
        "rrf": _by_chunk(fused) if rank_by not in ("dense", "bm25") else {},
        "rerank": _by_chunk(reranked),
        "statement": _by_chunk([hit for section in ranked_sections for hit in section]),
        "financials": _by_chunk(financials),
    }
    if rank_by == "cross_encoder" and cross_encode is not None:
        with timer.measure("cross_encoder"):
            read = cross_encode(order[:CROSS_ENCODER_CHUNKS])
        order = list(dict.fromkeys([*_chunk_ids(read), *order]))
        scores["cross_encoder"] = _by_chunk(read)
    return Ranking(tuple(order), scores)


def _chunk_ids(hits: Sequence[Hit]) -> list[int]:
    return [hit.chunk_id for hit in hits]


def _by_chunk(hits: Sequence[Hit]) -> dict[int, float]:
    return {hit.chunk_id: hit.score for hit in hits}
