"""The retrieval methods that are compared in one table, and the rows of the table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag_core.evaluation.metrics import compare
from rag_core.index.retriever import Retriever
from rag_core.stages import RANKINGS
from rag_core.types.evaluation import TABLE_METRICS, Baseline, ConfigurationChoice, Evaluation, MethodRow
from rag_core.types.retrieval import RetrievalConfig
from rag_core.types.searches import DEFAULT_CONFIGURATION
from rag_core.types.strategies import StrategyDescription


def list_choices(strategies: Sequence[StrategyDescription], k: float, b: float) -> list[ConfigurationChoice]:
    """Return the configurations that can be measured; ``k`` and ``b`` are the parameters of the BM25 baseline."""
    return [
        ConfigurationChoice("as-set", RetrievalConfig(), "As in the chat"),
        *(ConfigurationChoice(one, RetrievalConfig(one), stage=one) for one in RANKINGS),
        *(
            ConfigurationChoice(one.name, RetrievalConfig(strategy=one.name), strategy=one)
            for one in strategies
            if one.ranks_passages and one.name != DEFAULT_CONFIGURATION.strategy
        ),
        ConfigurationChoice("adapter", RetrievalConfig(adapter=True), "With the query adapter"),
        ConfigurationChoice("no-adapter", RetrievalConfig(adapter=False), "Without the query adapter"),
        ConfigurationChoice("tf-idf-baseline", Baseline("tf-idf"), "Textbook tf-idf (rankings only)"),
        ConfigurationChoice("bm25-baseline", Baseline("bm25", k, b), "Textbook BM25 (rankings only)"),
    ]


def list_methods(
    default: str,
    *,
    retrievers: Sequence[Retriever | type[Retriever]],
    has_adapter: bool,
    has_cross_encoder: bool,
    k: float,
    b: float,
) -> list[RetrievalConfig | Baseline]:
    """Return the methods to compare, from the simplest one to all stages; each method is a row of the table.

    Parameters
    ----------
    default : str
        The score by which the settings order passages.
    retrievers : sequence of Retriever
        The retrievers of the index. If a retriever is optional, further rows without it show what it adds.
    has_adapter : bool
        Whether a query adapter was trained. If so, a further row shows the default with the adapter.
    has_cross_encoder : bool
        Whether a cross-encoder is set. If so, a further row shows its ranking.
    k, b : float
        Parameters of the BM25 baseline.
    """
    without_adapter = False if has_adapter else None
    methods: list[RetrievalConfig | Baseline] = [Baseline("tf-idf"), Baseline("bm25", k, b)]
    for retriever in retrievers:
        adapter = None if retriever.reads == "text" else without_adapter
        methods.append(RetrievalConfig(retriever.score.name, adapter=adapter))
    for order in ("rrf", "rerank", "named"):
        if order in ("rrf", default) and any(one.is_optional for one in retrievers):
            methods.append(RetrievalConfig(order, sparse=False, adapter=without_adapter))
        methods.append(RetrievalConfig(order, adapter=without_adapter))
    if has_adapter:
        methods.append(RetrievalConfig(default, adapter=True))
    if has_cross_encoder:
        methods.append(RetrievalConfig("cross_encoder", adapter=without_adapter))
    return methods


def tabulate(evaluations: Sequence[Evaluation], reference: Evaluation) -> tuple[MethodRow, ...]:
    """Return one row per evaluation, in the given order, with its differences from the reference."""
    return tuple(_build_row(one, reference) for one in evaluations)


def _build_row(evaluation: Evaluation, reference: Evaluation) -> MethodRow:
    is_reference = evaluation.evaluation_id == reference.evaluation_id
    differences = () if is_reference else compare(reference.outcomes, evaluation.outcomes, TABLE_METRICS)
    times = [one.search_ms for one in evaluation.outcomes if one.search_ms is not None]
    median, p95 = np.percentile(times, [50, 95]) if times else (None, None)
    return MethodRow(
        evaluation_id=evaluation.evaluation_id,
        configuration=evaluation.configuration,
        is_reference=is_reference,
        questions=len(evaluation.outcomes),
        metrics={one.metric: one for one in evaluation.figures},
        differences={one.metric: one for one in differences},
        median_ms=None if median is None else float(median),
        p95_ms=None if p95 is None else float(p95),
        index_bytes=evaluation.index_bytes,
    )
