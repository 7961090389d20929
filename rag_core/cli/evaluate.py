"""``evaluate``: ask labelled questions, and compute metrics of the answers."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from rag_core.api import json_rows
from rag_core.cli import console
from rag_core.cli.common import Json, open_engine, read_labels, wait_for_result
from rag_core.engine import Engine
from rag_core.types.evaluation import SIGNIFICANCE_LEVEL, TABLE_METRICS, Baseline, Evaluation, MethodRow
from rag_core.types.judgements import JudgeConfig
from rag_core.types.retrieval import RetrievalConfig

Labels = Annotated[Path, typer.Argument(help="Labelled questions: JSON lines or CSV.", show_default=False)]
Configurations = Annotated[
    list[str] | None,
    typer.Option(
        "--configuration",
        help="Ranking stage, search strategy or baseline, such as rrf, compare or bm25-baseline; an unknown name lists "
        "all. By default as in the chat. Repeat it to compare two. Of themes, only the local search around the "
        "entities of a question is measured; build themes first.",
    ),
]
Out = Annotated[Path | None, typer.Option("--out", help="Folder for tables (CSV) and charts (SVG).")]
Most = Annotated[
    float,
    typer.Option(
        "--most", min=0, max=1, help="Largest share of unanswerable questions that the advised threshold may answer."
    ),
]
AskJudge = Annotated[
    bool, typer.Option("--judge", help="Let the language model judge answers and passages, as in RAGAS.")
]
JudgeModel = Annotated[
    str | None, typer.Option("--judge-model", help="Model of the endpoint that judges; another one than the writer.")
]
AsTable = Annotated[
    bool, typer.Option("--table", help="Measure every retrieval method, and print one table that compares them.")
]
K = Annotated[float, typer.Option("--k", min=0, help="Saturation of the term frequency in the BM25 baseline.")]
B = Annotated[float, typer.Option("--b", min=0, max=1, help="Length normalization in the BM25 baseline.")]
NoAnswers = Annotated[bool, typer.Option("--no-answers", help="Measure only rankings, not answers.")]


def evaluate(
    labels: Labels,
    configuration: Configurations = None,
    out: Out = None,
    most: Most = 0.05,
    no_answers: NoAnswers = False,
    judge: AskJudge = False,
    judge_model: JudgeModel = None,
    as_table: AsTable = False,
    k: K = 1.2,
    b: B = 0.75,
    as_json: Json = False,
) -> None:
    """Measure passages and answers on labelled questions."""
    if as_table and configuration:
        raise typer.BadParameter("--table measures every method. Leave out --configuration, or --table.")
    names = list(dict.fromkeys(configuration or ["as-set"]))
    if len(names) > 2:
        raise typer.BadParameter("Give --configuration at most twice, or use --table to compare all methods.")
    judge_config = JudgeConfig(judge_model) if judge or judge_model else None
    if judge_config and (no_answers or as_table):
        raise typer.BadParameter("--judge needs answers. Leave out --no-answers and --table.")
    with open_engine() as engine:
        choices = _find_configurations(engine, names, k, b)
        if judge_config and all(isinstance(one, Baseline) for one in choices):
            raise typer.BadParameter("--judge needs answers, but baselines only rank pages. Leave out --judge.")
        parsed_labels = read_labels(engine, labels)
        if out:  # fail before the long evaluation
            _check_writable(out)
        chosen = engine.evaluations.list_methods(k, b) if as_table else choices
        engine.evaluations.check(chosen)
        evaluations = [
            wait_for_result(
                engine.evaluations.run(
                    parsed_labels,
                    one,
                    name=labels.name,
                    answers=not no_answers,
                    judge=judge_config,
                    with_context=not as_table,
                ),
                Evaluation,
                one.label,
                "This evaluation is not stored.",
            )
            for one in chosen
        ]
        methods = engine.evaluations.tabulate(evaluations) if as_table else ()
        pseudo = evaluations[0].pseudo_questions
        rows = list(_list_method_rows(methods, pseudo) if as_table else _list_metric_rows(engine, evaluations, most))
        is_pair = len(evaluations) == 2 and not as_table
        check = engine.evaluations.check_release(*evaluations) if is_pair else None
        if as_json:
            for row in rows:
                console.print_json(row)
            if check:
                first, second = (one.configuration for one in evaluations)
                row = {"configuration": f"{second} minus {first}", "release": check.verdict, "reason": check.reason}
                console.print_json(row)
        if pseudo:
            console.print_note(f"{pseudo:,} of the questions are pseudo-questions from sentences of the documents.")
        if as_table and not as_json:
            _print_methods(methods)
        elif not as_json:
            columns = ("configuration", "metric", "value", "interval", "p", "n")
            console.print_table([_format_row(row) for row in rows], columns, numeric=("value", "p", "n"))
            for one in evaluations:
                if advice := engine.evaluations.advise_threshold(one, most):
                    console.print_note(f"The advised threshold of {one.configuration}: {advice.confidence_text}")
                for note in one.judge_report.notes if one.judge_report else ():
                    console.print_note(f"{one.configuration}: {note}")
            if check:
                (console.print_problem if check.verdict == "refused" else console.print_note)(check.reason)
        # Write the report last, so that the metrics are printed even if the folder cannot be written.
        written = engine.evaluations.write_report(evaluations, out) if out else []
    if written and not as_json:
        console.print_line(f"{len(written)} tables and charts are in {out}.")


def _find_configurations(engine: Engine, names: Sequence[str], k: float, b: float) -> list[RetrievalConfig | Baseline]:
    """Return the configurations with these names; ``k`` and ``b`` are the parameters of the BM25 baseline."""
    known = {one.name: one.configuration for one in engine.evaluations.list_choices(k, b)}
    if unknown := [name for name in names if name not in known]:
        raise typer.BadParameter(f"There is no configuration “{unknown[0]}”. Use one of: {', '.join(known)}.")
    return [known[name] for name in names]


def _check_writable(folder: Path) -> None:
    """Raise `typer.BadParameter` if a folder cannot be created or written."""
    try:
        nearest = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
        tempfile.TemporaryFile(dir=nearest).close()
    except OSError as error:
        raise typer.BadParameter(f"{folder} cannot be written ({error.strerror}). Name another folder.") from None


def _list_metric_rows(engine: Engine, evaluations: Sequence[Evaluation], most: float) -> Iterator[dict[str, Any]]:
    """Yield the rows of each evaluation, then those of the differences between two evaluations.

    The rows of an evaluation are its metrics, the tokens of the pages in prompts and, if there are any, the advised
    threshold and the results of the judge.
    """
    for one in evaluations:
        for figure in one.figures:
            yield json_rows.build_metric_row(figure, one.configuration, one.pseudo_questions)
        for found in engine.evaluations.summarize_context(one):
            yield json_rows.build_context_row(found, one.configuration, one.pseudo_questions)
        if advice := engine.evaluations.advise_threshold(one, most):
            yield json_rows.build_advice_row(advice, one.configuration)
        if one.judge_report:
            yield from json_rows.build_judge_rows(one.judge_report, one.configuration)
    if len(evaluations) == 2:
        first, second = evaluations
        for comparison in engine.evaluations.compare(first, second):
            yield json_rows.build_comparison_row(comparison, f"{second.configuration} minus {first.configuration}")


def _list_method_rows(methods: Sequence[MethodRow], pseudo_questions: int) -> Iterator[dict[str, Any]]:
    reference = next(one.configuration for one in methods if one.is_reference)
    return (row for one in methods for row in json_rows.build_method_rows(one, reference, pseudo_questions))


def _format_row(row: dict[str, Any]) -> dict[str, Any]:
    interval = f"{row['low']:.3f} to {row['high']:.3f}" if "low" in row else ""
    p_value = f"{row['p_value']:.3f}" if "p_value" in row else ""
    value = "undefined" if row["value"] is None else f"{row['value']:.3f}"
    return {**row, "value": value, "interval": interval, "p": p_value}


def _print_methods(methods: Sequence[MethodRow]) -> None:
    """Print one row per method; a star marks a significant difference from the default."""
    metrics = [name for name in TABLE_METRICS if any(name in one.metrics for one in methods)]
    costs = ("median_ms", "p95_ms", "index_mb")
    rows = [
        {
            "configuration": f"{one.configuration}{' (default)' if one.is_reference else ''}",
            **{name: _format_metric(one, name) for name in metrics},
            "median_ms": _format_number(one.median_ms, 1),
            "p95_ms": _format_number(one.p95_ms, 1),
            "index_mb": _format_number(None if one.index_bytes is None else one.index_bytes / 1e6, 2),
        }
        for one in methods
    ]
    console.print_table(rows, ("configuration", *metrics, *costs), numeric=(*metrics, *costs))
    console.print_note(f"* p < {SIGNIFICANCE_LEVEL:g} against the default (paired bootstrap). Intervals are 95 %.")


def _format_metric(row: MethodRow, name: str) -> str:
    if name not in row.metrics:
        return "–"
    interval = row.metrics[name].interval
    star = "*" if row.is_significant(name) else ""
    return f"{interval.value:.3f}{star} ({interval.low:.2f}–{interval.high:.2f})"


def _format_number(value: float | None, decimals: int) -> str:
    return "–" if value is None else f"{value:.{decimals}f}"
