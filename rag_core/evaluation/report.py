"""Write evaluations to files: tables as CSV, charts as SVG."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from rag_core.errors import SettingsError
from rag_core.evaluation.plots import build_plots, distinguish_equal_names, render_svg
from rag_core.evaluation.ranking_metrics import RECALL_LEVELS
from rag_core.types.evaluation import Comparison, Evaluation, MethodRow
from rag_core.types.formatting import escape_formula

Row = Mapping[str, object]


def write_report(
    evaluations: Sequence[Evaluation],
    comparisons: Sequence[Comparison],
    folder: Path,
    methods: Sequence[MethodRow] = (),
) -> list[Path]:
    """Write tables and charts into a folder; create the folder if it is missing.

    Parameters
    ----------
    evaluations : sequence of Evaluation
    comparisons : sequence of Comparison
        Differences of the metrics, second evaluation minus first; only for two evaluations, otherwise empty.
    folder : Path
    methods : sequence of MethodRow
        The rows of the table that compares more than two evaluations; otherwise empty.

    Returns
    -------
    list of Path
        The files, in the order of writing.

    Raises
    ------
    SettingsError
        The folder cannot be written.
    """
    evaluations = distinguish_equal_names(evaluations)
    of_evaluations: dict[str, Callable[[Evaluation], Iterable[Row]]] = {
        "figures": _list_figures,
        "questions": _list_questions,
        "precision-recall": _list_precision_recall,
        "risk-coverage": lambda one: map(asdict, one.risk_coverage),
        "judge": _list_agreements,
        "judge-statements": _list_judged_statements,
    }
    tables: dict[str, Sequence[Row]] = {
        **{
            name: [{"configuration": one.configuration, **row} for one in evaluations for row in list_rows(one)]
            for name, list_rows in of_evaluations.items()
        },
        "comparison": [_build_comparison_row(one) for one in comparisons],
        "methods": [row for one in methods for row in _list_method_metrics(one)],
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = [_write_csv(folder / f"{name}.csv", rows) for name, rows in tables.items() if rows]
        for name, spec in build_plots(evaluations).items():
            path = folder / f"{name}.svg"
            path.write_text(render_svg(spec), "utf-8")
            written.append(path)
    except OSError as error:
        raise SettingsError(f"{folder} cannot be written ({error.strerror}). Name another folder (--out).") from None
    return written


def _write_csv(path: Path, rows: Sequence[Row]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({name: escape_formula(value) for name, value in row.items()} for row in rows)
    return path


def _list_figures(evaluation: Evaluation) -> Iterable[Row]:
    for one in evaluation.figures:
        yield {"metric": one.metric, **asdict(one.interval), "n": one.n}


def _list_questions(evaluation: Evaluation) -> Iterable[Row]:
    for one in evaluation.outcomes:
        yield {
            "id": one.label_id,
            "question": one.question,
            "kind": one.kind.value,
            "pseudo": one.is_pseudo,
            "evidence": "; ".join(one.evidence),
            **{name: getattr(one, name) for name in ("first_rank", "gate_score", "answered", "problem", "text")},
            "search_ms": one.search_ms,
        }


def _list_precision_recall(evaluation: Evaluation) -> Iterable[Row]:
    if evaluation.precision_recall:
        for level, precision in zip(RECALL_LEVELS, evaluation.precision_recall, strict=True):
            yield {"recall": level, "precision": precision}


def _list_agreements(evaluation: Evaluation) -> Iterable[Row]:
    report = evaluation.judge_report
    for one in report.agreements if report else ():
        counts = asdict(one)
        yield {"raters": counts.pop("raters"), "kappa": one.kappa, "agreement": one.share, **counts, "n": one.n}


def _list_judged_statements(evaluation: Evaluation) -> Iterable[Row]:
    report = evaluation.judge_report
    for one in report.statements if report else ():
        yield asdict(one) | {"judge": "not judged" if one.judge is None else one.judge}


def _build_comparison_row(one: Comparison) -> Row:
    interval = one.difference
    values = {"difference": interval.value, "low": interval.low, "high": interval.high}
    return {"metric": one.metric, **values, "p_value": one.p_value, "n": one.n}


def _list_method_metrics(row: MethodRow) -> Iterable[Row]:
    for metric in row.metrics.values():
        difference = row.differences.get(metric.metric)
        yield {
            "configuration": row.configuration,
            "metric": metric.metric,
            **asdict(metric.interval),
            "n": metric.n,
            "difference_from_default": difference.difference.value if difference else None,
            "difference_low": difference.difference.low if difference else None,
            "difference_high": difference.difference.high if difference else None,
            "p_value": difference.p_value if difference else None,
            "median_ms": row.median_ms,
            "p95_ms": row.p95_ms,
            "index_bytes": row.index_bytes,
        }
