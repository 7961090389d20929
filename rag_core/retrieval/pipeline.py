"""Retrieve by meaning and by words, fuse, rerank, look up: the stages in their order, each timed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rag_core.finance.measures import Financials
from rag_core.retrieval.fusion import reciprocal_rank_fusion
from rag_core.types import Hit, Question, RankBy, Versions
from rag_core.types.protocols import Reranker, Retriever
from rag_core.types.retrieval import Ranking, Timer


class Pipeline:
    """Retrieval as one configuration.

    Parameters
    ----------
    dense, words : Retriever
        Where one is `Begun`, its time is what is left to wait for.
    reranker : Reranker
    candidates : int
        Chunks that each retriever is asked for; all that they find are reranked.
    rrf_k : int
        Constant of the fusion.
    rank_by : {"dense", "bm25", "rrf", "rerank", "financials", "named", "cross_encoder"}
        The stage that orders chunks; see `Configuration`. For ``named`` they come as ``financials`` orders
        them, for `named_first` to go on with.
    financials : Financials, optional
        The statements that the question is answered from, for the last three; without them ``financials``
        orders as ``rerank`` does.
    cross_encoder : Reranker, optional
        What ``rank_by="cross_encoder"`` orders by; not run otherwise.
    cross_encoder_top : int
        Of the order before it, so many chunks are given to it.

    Raises
    ------
    ValueError
        ``rank_by`` is ``cross_encoder`` and there is none.
    """

    def __init__(
        self,
        dense: Retriever,
        words: Retriever,
        reranker: Reranker,
        *,
        candidates: int,
        rrf_k: int,
        rank_by: RankBy = "financials",
        financials: Financials | None = None,
        cross_encoder: Reranker | None = None,
        cross_encoder_top: int = 20,
    ) -> None:
        if rank_by == "cross_encoder" and cross_encoder is None:
            raise ValueError("To rank by a cross-encoder, one must be given.")
        self._dense = dense
        self._words = words
        self._reranker = reranker
        self._candidates = candidates
        self._rrf_k = rrf_k
        self._rank_by = rank_by
        self._financials = financials
        self._cross_encoder = cross_encoder if rank_by == "cross_encoder" else None
        self._cross_encoder_top = cross_encoder_top

    def run(
        self,
        question: Question,
        versions: Versions | None,
        timer: Timer,
        on_stage: Callable[[str], None] = lambda name: None,
    ) -> Ranking:
        """Rank chunks for a question; ``on_stage`` hears each stage's name before it runs.

        What words found is reranked before dense retrieval is waited for, which may go on meanwhile.

        Chunks that the reranker cannot score (not embedded yet) follow those it can, in fused order; those
        that the cross-encoder is not given follow those it is, in the order before it.
        """
        by_meaning: list[Hit] = []
        by_words: list[Hit] = []
        if self._rank_by != "dense":
            on_stage("lexical")
            with timer.measure("lexical"):
                by_words = self._words.retrieve(question, self._candidates, versions)
        looked_up: list[int] = []
        if self._financials is not None:
            with timer.measure("financials"):
                looked_up = self._financials.candidates(versions)
        with timer.measure("rerank"):
            known = dict.fromkeys([*_chunk_ids(by_words), *looked_up])
            first = self._reranker.rerank(question, list(known))
        if self._rank_by != "bm25":
            on_stage("dense")
            with timer.measure("dense"):
                by_meaning = self._dense.retrieve(question, self._candidates, versions)
        fused = reciprocal_rank_fusion([by_meaning, by_words], self._rrf_k)
        on_stage("rerank")
        with timer.measure("rerank"):
            found = list(dict.fromkeys([*_chunk_ids(fused), *looked_up]))
            rest = self._reranker.rerank(question, [one for one in found if one not in known])
            reranked = _merged(found, first, rest)
        both = _by_chunk(fused) if self._rank_by not in ("dense", "bm25") else {}
        statements = self._statements(reranked, looked_up, timer)
        financials = reciprocal_rank_fusion([reranked, *statements], self._rrf_k) if any(statements) else []
        last = financials or reranked
        orders = {"rerank": reranked, "financials": last, "named": last, "cross_encoder": last}
        # The fusion of one ranking keeps its order.
        order = list(dict.fromkeys(_chunk_ids([*orders.get(self._rank_by, fused), *fused])))
        scores = {
            self._dense.name: _by_chunk(by_meaning),
            self._words.name: _by_chunk(by_words),
            "rrf": both,
            self._reranker.name: _by_chunk(reranked),
            "statement": _by_chunk([hit for hits in statements for hit in hits]),
            "financials": _by_chunk(financials),
        }
        if self._cross_encoder is not None:
            on_stage("cross_encoder")
            with timer.measure("cross_encoder"):
                read = self._cross_encoder.rerank(question, order[: self._cross_encoder_top])
            order = list(dict.fromkeys([*_chunk_ids(read), *order]))
            scores[self._cross_encoder.name] = _by_chunk(read)
        return Ranking(tuple(order), scores)

    def _statements(self, reranked: Sequence[Hit], looked_up: Sequence[int], timer: Timer) -> list[list[Hit]]:
        """The chunks of each statement that the question is answered from."""
        if self._financials is None:
            return []
        with timer.measure("financials"):
            return self._financials.rankings(_chunk_ids(reranked), looked_up)


def _merged(found: Sequence[int], *parts: Sequence[Hit]) -> list[Hit]:
    """The hits of all parts, best first; equal scores keep the order in which they were found."""
    hits = {hit.chunk_id: hit for part in parts for hit in part}
    return sorted((hits[one] for one in found if one in hits), key=lambda hit: -hit.score)


def _chunk_ids(hits: Sequence[Hit]) -> list[int]:
    return [hit.chunk_id for hit in hits]


def _by_chunk(hits: Sequence[Hit]) -> dict[int, float]:
    return {hit.chunk_id: hit.score for hit in hits}
