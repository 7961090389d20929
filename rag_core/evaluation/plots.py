"""Charts of evaluations as Vega-Lite specifications, and as SVG for files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rag_core.evaluation.ranking_metrics import RECALL_LEVELS
from rag_core.types.evaluation import Evaluation, LabelKind

Spec = Mapping[str, Any]

_SHARE_SCALE = {"domain": [0, 1]}
_WIDTH, _HEIGHT = 520, 260


def build_plots(evaluations: Sequence[Evaluation]) -> dict[str, Spec]:
    """Return Vega-Lite specifications by the name of the chart. Charts without data are left out.

    - ``figures``: each metric with its interval.
    - ``precision-recall``: interpolated precision at 11 levels of recall.
    - ``risk-coverage``: the share of wrong answers at each share of answered questions.
    - ``scores``: the gate's scores of answerable and unanswerable questions in the first evaluation.
    """
    evaluations = distinguish_equal_names(evaluations)
    drawn = {
        "figures": _draw_figures(evaluations),
        "precision-recall": _draw_precision_recall(evaluations),
        "risk-coverage": _draw_risk_coverage(evaluations),
        "scores": _draw_scores(evaluations[0]),
    }
    return {name: spec for name, spec in drawn.items() if spec is not None}


def distinguish_equal_names(evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    """Return the evaluations; if there are two of the same configuration, add "(first)" and "(second)" to its name."""
    if len(evaluations) < 2 or len({one.configuration for one in evaluations}) > 1:
        return list(evaluations)
    return [
        replace(one, configuration=f"{one.configuration} ({place})")
        for one, place in zip(evaluations, ("first", "second"), strict=True)
    ]


def render_svg(spec: Spec) -> str:
    """Render a chart as SVG, without a browser or network."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg({**spec, "background": "white"}))


def _draw_figures(evaluations: Sequence[Evaluation]) -> Spec | None:
    rows = [
        {
            "metric": one.metric,
            "value": one.interval.value,
            "low": one.interval.low,
            "high": one.interval.high,
            "configuration": evaluation.configuration,
        }
        for evaluation in evaluations
        for one in evaluation.figures
    ]
    if not rows:
        return None
    encoding = {
        "y": {"field": "metric", "type": "nominal", "sort": None, "title": None, "axis": {"labelOverlap": False}},
        "yOffset": {"field": "configuration"},
        "color": _color_by_configuration(),
    }
    interval = {
        "x": {"field": "low", "type": "quantitative", "scale": _SHARE_SCALE, "title": "value, 95 % interval"},
        "x2": {"field": "high"},
    }
    value = {"x": {"field": "value", "type": "quantitative"}}
    layers = [{"mark": "rule", "encoding": interval}, {"mark": {"type": "point", "filled": True}, "encoding": value}]
    # The step is the height of a mark in pixels. A label on the axis needs 16 pixels, for one mark or for several.
    height = {"step": max(16 // len(evaluations), 9)}
    return {"data": {"values": rows}, "encoding": encoding, "layer": layers, "width": _WIDTH, "height": height}


def _draw_precision_recall(evaluations: Sequence[Evaluation]) -> Spec | None:
    rows = [
        {"recall": level, "precision": precision, "configuration": evaluation.configuration}
        for evaluation in evaluations
        for level, precision in zip(RECALL_LEVELS, evaluation.precision_recall, strict=False)
    ]
    names = [one.configuration for one in evaluations]
    return _draw_lines(rows, "recall", "precision", "linear", names if len(names) > 2 else ())


def _draw_risk_coverage(evaluations: Sequence[Evaluation]) -> Spec | None:
    rows = [
        {
            "share answered": point.coverage,
            "share of answers that are wrong": point.risk,
            "threshold": point.threshold,
            "configuration": evaluation.configuration,
        }
        for evaluation in evaluations
        for point in evaluation.risk_coverage
    ]
    return _draw_lines(rows, "share answered", "share of answers that are wrong", "step-before")


def _draw_scores(evaluation: Evaluation) -> Spec | None:
    rows = [
        {
            "score": one.gate_score,
            "questions": "with an answer" if one.kind is LabelKind.ANSWERABLE else "without an answer",
        }
        for one in evaluation.outcomes
        if one.gate_score is not None
    ]
    if not rows:
        return None
    bars = _draw_histogram(rows, {"maxbins": 40}, stack=None)
    bars["mark"] = {"type": "bar", "opacity": 0.6}
    bars["encoding"]["color"] = {**_color_by_configuration(), "field": "questions"}
    return {"layer": [bars, _draw_threshold(evaluation.threshold)], "width": _WIDTH, "height": _HEIGHT}


def build_gate_score_plot(scores: Sequence[float], threshold: float) -> Spec:
    """Return a histogram of gate scores in bins of 0.05, with a line at the threshold."""
    bars = _draw_histogram(
        [{"score": score} for score in scores], {"step": 0.05, "extent": [0, 1]}, axis={"tickMinStep": 1}
    )
    return {"layer": [bars, _draw_threshold(threshold)], "width": _WIDTH, "height": _HEIGHT * 2 // 3}


def _draw_histogram(rows: Sequence[Mapping[str, object]], bins: Spec, **counts: object) -> dict[str, Any]:
    """Return a histogram of the gate's scores; ``counts`` are further properties of the vertical encoding."""
    return {
        "data": {"values": rows},
        "mark": "bar",
        "encoding": {
            "x": {"field": "score", "bin": bins, "title": "the gate's score"},
            "y": {"aggregate": "count", "title": "questions", **counts},
        },
    }


def _draw_threshold(threshold: float) -> Spec:
    return {
        "data": {"values": [{"threshold": threshold}]},
        # Vega's default colour is black, which is invisible on a dark page.
        "mark": {"type": "rule", "strokeDash": [4, 3], "color": "#808080"},
        "encoding": {"x": {"field": "threshold", "type": "quantitative"}},
    }


def _draw_lines(
    rows: Sequence[Mapping[str, object]], x: str, y: str, interpolate: str, names: Sequence[str] = ()
) -> Spec | None:
    """Return a chart with a line for each configuration; ``None`` without rows.

    ``names`` lists the configurations in order if there are more than two.
    """
    if not rows:
        return None
    colour = _color_by_configuration()
    if names:  # the theme has only two colours, and a legend in one line is too wide
        legend = {"orient": "bottom", "columns": 2, "labelLimit": 200, "symbolType": "stroke"}
        colour = {**colour, "scale": {"domain": list(names), "scheme": "tableau20"}, "legend": legend}
    return {
        "data": {"values": list(rows)},
        "mark": {"type": "line", "interpolate": interpolate, "point": len(rows) <= 100},
        "encoding": {
            "x": {"field": x, "type": "quantitative", "scale": _SHARE_SCALE},
            "y": {"field": y, "type": "quantitative", "scale": _SHARE_SCALE},
            "color": colour,
            "tooltip": [
                *([{"field": "configuration", "type": "nominal"}] if names else []),
                *(
                    {"field": name, "type": "quantitative", "format": ".2f"}
                    for name in rows[0]
                    if name != "configuration"
                ),
            ],
        },
        "width": _WIDTH,
        "height": _HEIGHT + 24 * len(names),
    }


def _color_by_configuration() -> Spec:
    return {"field": "configuration", "type": "nominal", "title": None, "legend": {"orient": "top"}}
