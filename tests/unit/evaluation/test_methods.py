"""The table of retrieval methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from rag_core.evaluation.methods import list_methods, tabulate
from rag_core.evaluation.metrics import compute_metrics
from rag_core.evaluation.plots import build_plots, render_svg
from rag_core.index import RETRIEVERS
from rag_core.index.dense import DenseRetriever
from rag_core.index.retriever import Retriever
from rag_core.index.sparse import SparseRetriever
from rag_core.index.words import WordRetriever
from rag_core.types.evaluation import Baseline, Evaluation, LabelKind, QuestionResult
from rag_core.types.retrieval import RetrievalConfig

USUAL = (WordRetriever, DenseRetriever)


def labels(retrievers: Sequence[type[Retriever]] = USUAL, **options: bool) -> list[str]:
    has = {"has_adapter": False, "has_cross_encoder": False} | options
    return [one.label for one in list_methods("named", retrievers=retrievers, k=1.5, b=0.5, **has)]


def evaluation(name: str, recalls: list[float], times: list[float | None], size: int | None = None) -> Evaluation:
    outcomes = tuple(
        QuestionResult(str(place), f"question {place}", LabelKind.ANSWERABLE, (), 1, {"recall@1": recall}, search_ms=ms)
        for place, (recall, ms) in enumerate(zip(recalls, times, strict=True))
    )
    figures = compute_metrics(outcomes)
    moment = datetime.now(UTC)
    return Evaluation(name, "set", name, "extractive", 0.8, moment, 1.0, figures, outcomes, (), (), index_bytes=size)


def test_methods_go_from_the_textbook_to_all_stages() -> None:
    plain = ["tf-idf baseline", "bm25 baseline, k 1.5, b 0.5", "bm25", "dense", "rrf", "rerank", "named"]
    assert labels() == plain
    assert labels(has_cross_encoder=True) == [*plain, "cross_encoder"]


def test_sparse_retrieval_is_compared_with_and_without() -> None:
    found = labels(retrievers=(*USUAL, SparseRetriever))
    assert found[4:] == ["sparse", "rrf, without sparse", "rrf", "rerank", "named, without sparse", "named"]


def test_default_is_compared_with_and_without_an_adapter() -> None:
    found = labels(has_adapter=True)
    assert found[-2:] == ["named, without adapter", "named, with adapter"]
    assert found[2:4] == ["bm25", "dense, without adapter"]


def test_configurations_are_distinct() -> None:
    methods = list_methods(
        "cross_encoder", retrievers=RETRIEVERS, has_adapter=True, has_cross_encoder=True, k=1.2, b=0.75
    )
    assert len({one.label for one in methods}) == len(methods)
    assert {type(one) for one in methods} == {Baseline, RetrievalConfig}


def test_rows_contain_differences_from_the_reference_and_costs() -> None:
    times: list[float | None] = [float(place) for place in range(1, 101)]
    reference = evaluation("named", [1.0] * 100, times, 2048)
    other = evaluation("dense", [0.0] * 50 + [1.0] * 50, [None] * 100)
    first, second = tabulate([other, reference], reference)
    assert (first.configuration, first.is_reference, second.is_reference) == ("dense", False, True)
    difference = first.differences["recall@1"]
    assert difference.difference.value == -0.5
    assert difference.p_value < 0.001
    assert first.is_significant("recall@1")
    assert not second.is_significant("recall@1")
    assert second.differences == {}
    few = [evaluation(name, [value] * 5, [None] * 5) for name, value in (("named", 1.0), ("dense", 0.0))]
    [row] = [one for one in tabulate(few, few[0]) if not one.is_reference]
    assert row.differences["recall@1"].p_value < 0.001
    assert not row.is_significant("recall@1")
    assert (second.median_ms, second.p95_ms, second.index_bytes) == (50.5, 95.05, 2048)
    assert (first.median_ms, first.p95_ms, first.index_bytes) == (None, None, None)
    assert first.metrics["recall@1"].interval.value == 0.5
    assert first.questions == 100


def test_questions_that_only_one_method_was_asked_are_not_compared() -> None:
    reference = evaluation("named", [1.0, 1.0], [1.0, 1.0])
    other = evaluation("dense", [0.0], [1.0])
    other = replace(other, outcomes=tuple(replace(one, question="another") for one in other.outcomes))
    (row,) = tabulate([other], reference)
    assert row.differences == {}


def test_curves_of_several_methods_have_distinct_colours() -> None:
    kept = [replace(evaluation(name, [1.0], [1.0]), precision_recall=(1.0,) * 11) for name in ("dense", "rrf", "named")]
    colour = build_plots(kept)["precision-recall"]["encoding"]["color"]
    assert colour["scale"] == {"domain": ["dense", "rrf", "named"], "scheme": "tableau20"}
    assert len(build_plots(kept)["precision-recall"]["data"]["values"]) == 3 * 11
    assert render_svg(build_plots(kept)["precision-recall"]).startswith("<svg")
