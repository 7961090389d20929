"""The contract of all metrics of an evaluation."""

from __future__ import annotations

import json
from pathlib import Path

from pages.evaluate.metric_words import DESCRIPTIONS
from rag_core.evaluation.context_value import BUDGETS, name_context_tokens
from rag_core.evaluation.metrics import METRICS, compute_metrics
from rag_core.evaluation.ranking_metrics import RECALL_LEVELS, name_interpolated_precision
from rag_core.types.evaluation import TABLE_METRICS, Evaluation, LabelKind, QuestionResult
from tests.support.engines import ASK_BUDGET, ASK_PENGUINS, open_library

ROWS = [
    {"question": ASK_BUDGET, "document": "bridge.pdf", "page_index": 0, "answers": ["42 million"]},
    {"question": ASK_PENGUINS, "document": "birds.pdf", "page_index": 0, "answers": ["none"]},
    {"question": "Who won the chess match in Reykjavik in 1972?", "kind": "off-corpus"},
]


def test_every_value_is_listed_and_between_0_and_1(tmp_path: Path) -> None:
    with open_library(tmp_path / "data") as engine:
        labels = engine.labels.parse_file("l.jsonl", "\n".join(map(json.dumps, ROWS)).encode())
        *_, evaluation = engine.evaluations.run(labels, with_context=True)
    assert isinstance(evaluation, Evaluation)
    values = {name: value for one in evaluation.outcomes for name, value in one.values.items()}
    assert values
    # Counts of tokens and points of a curve are reported in tables and charts of their own.
    others = {*map(name_context_tokens, BUDGETS), *map(name_interpolated_precision, RECALL_LEVELS)}
    assert {*values} <= {*METRICS, *others}
    assert all(0 <= value <= 1 for name, value in values.items() if name in METRICS)
    # The figures come in the order of the list, before those that compare questions with each other.
    listed = [figure.metric for figure in evaluation.figures if figure.metric in METRICS]
    assert listed == [metric for metric in METRICS if metric in values]
    assert evaluation.figures[: len(listed)] == tuple(one for one in evaluation.figures if one.metric in listed)


def test_metrics_are_reported_as_means_in_the_order_of_the_list() -> None:
    outcomes = [
        QuestionResult(str(value), "?", LabelKind.ANSWERABLE, (), None, dict.fromkeys(reversed(METRICS), value))
        for value in (0.0, 1.0)
    ]
    figures = compute_metrics(outcomes)
    assert [(one.metric, one.interval.value, one.n) for one in figures] == [(name, 0.5, 2) for name in METRICS]


def test_names_and_descriptions_are_unique_and_belong_to_metrics() -> None:
    assert len({*METRICS}) == len(METRICS)
    assert {*TABLE_METRICS} <= {*METRICS}
    assert {one for one in DESCRIPTIONS if not one.startswith("auroc")} <= {*METRICS}
    assert len({*DESCRIPTIONS.values()}) == len(DESCRIPTIONS)
