"""Merging of several searches: order by rank fusion, scores of the best-matching question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_core.answering.search import Searcher
from rag_core.answering.strategies.comparison import merge_outcomes
from rag_core.engine import Engine
from rag_core.retrieval.fusion import fuse_rankings
from rag_core.types.conversations import Scope
from rag_core.types.retrieval import RetrievalConfig, Timer
from rag_core.types.searches import SearchOutcome
from tests.support.engines import ASK_BUDGET, ASK_PENGUINS, LIBRARY, indexed


@pytest.fixture
def searcher(engine: Engine) -> Searcher:
    for name, pages in LIBRARY.items():
        indexed(engine, name, *pages)
    return engine._searcher


def names(rows: dict, order: tuple[int, ...]) -> list[str]:
    return [rows[chunk_id].document for chunk_id in order]


def test_chunk_of_later_search_gets_all_scores(searcher: Searcher) -> None:
    narrow = RetrievalConfig("bm25")
    first, second = (
        searcher.rank(searcher.build_query(text, Scope(), None, narrow), Timer()) for text in ("Zanzibar", "mine")
    )
    assert names(first.rows, first.ranking.order) == ["bridge.pdf"]
    both = fuse_rankings([first, second], 60)
    assert set(names(both.rows, both.ranking.order)) == {"bridge.pdf", "mine.pdf"}
    assert both.ranking.scores["rerank"].keys() == set(both.ranking.order)
    outcome = searcher.apply_gate(searcher.build_query("Zanzibar", Scope()), both)
    assert all(passage.scores["answerable"] is not None for passage in outcome.result.passages)


def test_refused_searches_add_no_passages(searcher: Searcher) -> None:
    def search(text: str) -> SearchOutcome:
        return searcher.search(searcher.build_query(text, Scope(), 1), Timer())

    whole, bridge, nothing, birds = map(search, ("Both?", ASK_BUDGET, "Who won at chess in Reykjavik?", ASK_PENGUINS))
    merged = merge_outcomes(whole, [bridge, nothing, birds], 5, 60)
    assert [(passage.rank, passage.document) for passage in merged.result.passages] == [
        (1, "bridge.pdf"),
        (2, "birds.pdf"),
    ]
    assert merged.result.question == "Both?"
    assert merged.result.gate.score == max(bridge.result.gate.score, birds.result.gate.score)
    assert len(merge_outcomes(whole, [bridge, birds], 1, 60).result.passages) == 1
    refused = merge_outcomes(whole, [nothing], 5, 60)
    assert not refused.result.gate.answerable
    assert refused.result.passages


def test_lower_ranked_passages_follow_the_best_of_all_searches(searcher: Searcher) -> None:
    def search(text: str) -> SearchOutcome:
        return searcher.search(replace(searcher.build_query(text, Scope(), 1), depth=100), Timer())

    merged = merge_outcomes(search("Both?"), [search(ASK_BUDGET), search(ASK_PENGUINS)], 2, 60)
    ranks = [(passage.rank, passage.document) for passage in merged.passages]
    assert ranks == [(1, "bridge.pdf"), (2, "birds.pdf"), (3, "mine.pdf")]
    assert merged.result.passages == merged.passages[:2]


def test_passage_keeps_the_scores_of_its_best_question(searcher: Searcher) -> None:
    near, far = (
        searcher.search(searcher.build_query(text, Scope()), Timer())
        for text in (ASK_BUDGET, "Is the bridge in Zanzibar long?")
    )
    for searches in ([near, far], [far, near]):
        [bridge] = [
            passage
            for passage in merge_outcomes(far, searches, 5, 60).result.passages
            if passage.document == "bridge.pdf"
        ]
        assert bridge.scores["answerable"] == near.result.gate.score
