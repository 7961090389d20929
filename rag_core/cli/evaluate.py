"""``evaluate``: ask labelled questions, and compute metrics of the answers."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from rag_core.cli import console, json_rows
from rag_core.cli.common import Json, open_engine
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.types import Baseline, Evaluation, Label, RetrievalConfig


class Choice(str, Enum):
    """A configuration to evaluate, by its name on the command line."""

    AS_SET = "as-set"
    CROSS_ENCODER = "cross_encoder"
    FINANCIALS = "financials"
    NAMED = "named"
    RERANK = "rerank"
    RRF = "rrf"
    BM25 = "bm25"
    DENSE = "dense"
    QUERIES = "queries"
    HYDE = "hyde"
    ITERATIVE = "iterative"
    COMPARE = "compare"
    TF_IDF_BASELINE = "tf-idf-baseline"
    BM25_BASELINE = "bm25-baseline"

    def configuration(self) -> RetrievalConfig | Baseline:
        """Return the configuration or the baseline that has this name."""
        if self is Choice.TF_IDF_BASELINE:
            return Baseline("tf-idf")
        if self is Choice.BM25_BASELINE:
            return Baseline("bm25")
        if self in (Choice.QUERIES, Choice.HYDE, Choice.ITERATIVE, Choice.COMPARE):
            return RetrievalConfig(strategy=self.value)
        return RetrievalConfig() if self is Choice.AS_SET else RetrievalConfig(self.value)


Labels = Annotated[Path, typer.Argument(help="Labelled questions: JSON lines or CSV.", show_default=False)]
Configurations = Annotated[
    list[Choice] | None,
    typer.Option(
        "--configuration",
        help="Ranking stage or search strategy; by default as in the chat. Repeat it to compare two.",
    ),
]
Out = Annotated[Path | None, typer.Option("--out", help="Folder for tables (CSV) and charts (SVG).")]
Most = Annotated[
    float,
    typer.Option(
        "--most", min=0, max=1, help="Largest share of unanswerable questions that the advised threshold may answer."
    ),
]
NoAnswers = Annotated[bool, typer.Option("--no-answers", help="Measure only rankings, not answers.")]


def evaluate(
    labels: Labels,
    configuration: Configurations = None,
    out: Out = None,
    most: Most = 0.05,
    no_answers: NoAnswers = False,
    as_json: Json = False,
) -> None:
    """Measure passages, answers and refusals on labelled questions."""
    chosen = list(dict.fromkeys(configuration or [Choice.AS_SET]))
    if len(chosen) > 2:
        raise typer.BadParameter("Give --configuration at most twice: only two can be compared.")
    with open_engine() as engine:
        parsed_labels = engine.labels.parse_file(labels.name, _read(labels))
        if out:
            _check_writable(out)
        evaluations = [_run(engine, parsed_labels, one, labels.name, not no_answers) for one in chosen]
        rows = list(_metric_rows(engine, evaluations, most))
        check = engine.evaluations.check_release(*evaluations) if len(evaluations) == 2 else None
        for row in rows if as_json else []:
            console.print_json(row)
        if as_json and check:
            console.print_json({"release": check.verdict, "reason": check.reason})
        if not as_json:
            columns = ("configuration", "metric", "value", "interval", "p", "n")
            console.print_table([_format_row(row) for row in rows], columns, numeric=("value", "p", "n"))
            for one in evaluations:
                if advice := engine.evaluations.advise_threshold(one, most):
                    console.print_note(f"The advised threshold of {one.configuration}: {advice.confidence_text}")
            if check:
                (console.print_problem if check.verdict == "refused" else console.print_note)(check.reason)
        # The report is written last, so that the metrics are printed even if the folder cannot be written.
        written = engine.evaluations.write_report(evaluations, out) if out else []
    if written and not as_json:
        console.print_line(f"{len(written)} tables and charts are in {out}.")


def _check_writable(folder: Path) -> None:
    """Raise an error if a folder cannot be created or written, before a long evaluation starts."""
    try:
        nearest = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
        tempfile.TemporaryFile(dir=nearest).close()
    except OSError as error:
        raise typer.BadParameter(f"{folder} cannot be written ({error.strerror}). Name another folder.") from None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be read ({error.strerror}).") from None


def _run(engine: Engine, labels: Sequence[Label], choice: Choice, name: str, answers: bool) -> Evaluation:
    configuration = choice.configuration()
    stream = engine.evaluations.run(labels, configuration, name=name, answers=answers)
    try:
        with closing(stream) as events, console.counter(configuration.label) as count:
            for event in events:
                if isinstance(event, Evaluation):
                    return event
                count(event.done, event.total)
    except KeyboardInterrupt:
        raise RagError("Stopped before the end. This evaluation is not stored.") from None
    raise RagError("The evaluation ended without a result.")


def _metric_rows(engine: Engine, evaluations: Sequence[Evaluation], most: float) -> Iterator[dict[str, Any]]:
    """Yield the metrics and the advised threshold of each evaluation, then the differences of two evaluations."""
    for one in evaluations:
        for figure in one.figures:
            yield json_rows.figure(figure, one.configuration)
        if advice := engine.evaluations.advise_threshold(one, most):
            yield json_rows.advice(advice, one.configuration)
    if len(evaluations) == 2:
        first, second = evaluations
        for comparison in engine.evaluations.compare(first, second):
            yield json_rows.comparison(comparison, f"{second.configuration} minus {first.configuration}")


def _format_row(row: dict[str, Any]) -> dict[str, Any]:
    interval = f"{row['low']:.3f} to {row['high']:.3f}" if "low" in row else ""
    p_value = f"{row['p_value']:.3f}" if "p_value" in row else ""
    return {**row, "value": f"{row['value']:.3f}", "interval": interval, "p": p_value}
