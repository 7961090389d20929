"""Output for a terminal: tables, progress bars, and answers with their sources."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Table
from rich.text import Text

from rag_core.types.answer_markup import Run, TextTable, parse_answer_text
from rag_core.types.answers import Answer
from rag_core.types.formatting import count_decimals
from rag_core.types.jobs import Job, JobState
from rag_core.types.local_time import to_local_time
from rag_core.types.usage import Usage

err = Console(stderr=True)
# Characters in a line if the output is not a terminal.
UNLIMITED_WIDTH = 100_000
# Most characters that are shown of a passage.
PREVIEW = 300


def print_json(row: dict[str, Any]) -> None:
    """Write a JSON object as one line to standard output, and flush."""
    sys.stdout.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
    sys.stdout.flush()


def print_wide(renderable: RenderableType) -> None:
    """Print to standard output; lines for a file or a pipe are neither wrapped nor cut."""
    console = Console(width=None if sys.stdout.isatty() else UNLIMITED_WIDTH)
    console.print(renderable)


def print_line(text: str) -> None:
    """Print one line to standard output, without wrapping."""
    Console().print(Text(text.replace("\n", " ")), soft_wrap=True)


def print_note(text: str) -> None:
    """Print one line of information to standard error."""
    err.print(Text(text), soft_wrap=True)


def print_problem(text: str) -> None:
    """Print a problem as one line to standard error."""
    err.print(Text(" ".join(text.split()), "red"), soft_wrap=True)


def print_table(rows: Sequence[dict[str, Any]], columns: Sequence[str], *, numeric: Sequence[str] = ()) -> None:
    """Print rows as a table. Text from documents is not parsed as markup."""
    shown = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        # Fold long cells instead of cutting them: users need whole names of documents for other commands.
        shown.add_column(column.replace("_", " "), justify="right" if column in numeric else "left", overflow="fold")
    for row in rows:
        shown.add_row(*(Text(_format_cell(row.get(column))) for column in columns))
    print_wide(shown)


def print_rows(
    rows: Sequence[dict[str, Any]],
    columns: Sequence[str],
    as_json: bool,
    *,
    numeric: Sequence[str] = (),
    if_empty: str = "",
) -> None:
    """Print each row as a JSON object, or all rows as a table; if there are no rows, print the note ``if_empty``."""
    if as_json:
        for row in rows:
            print_json(row)
    elif if_empty and not rows:
        print_note(if_empty)
    else:
        print_table(rows, columns, numeric=numeric)


def print_row(row: dict[str, Any], line: str, as_json: bool) -> None:
    """Print a JSON object or, if ``as_json`` is false, a line with the same content."""
    if as_json:
        print_json(row)
    else:
        print_line(line)


def print_passages(row: dict[str, Any]) -> None:
    """Print the passages of a question, best first, and the steps that found them."""
    print_steps(row)
    print_ranking(row)


def print_steps(row: dict[str, Any]) -> None:
    """Print the steps of the search strategy, and the tokens that the model used."""
    for step in row["steps"]:
        print_wide(Text(step, "dim"))
    if row["usage"]["calls"]:
        print_wide(Text(f"The model used {Usage(**row['usage']).label}", "dim"))


def print_ranking(row: dict[str, Any]) -> None:
    """Print the gate's decision on a question, and its passages."""
    gate = row["gate"]
    refused = "below the threshold" if gate["score"] < gate["threshold"] else "no answer in the passages"
    verdict = "answerable" if gate["answerable"] else refused
    best, needed = (f"{gate[name]:.{count_decimals(gate['threshold'])}f}" for name in ("score", "threshold"))
    print_wide(Text(f"{gate['score_name']} {best}, needs {needed}: {verdict}", "dim"))
    for passage in row["passages"]:
        # Adding 0.0 to the rounded score turns "-0.00" into "0.00".
        scores = "  ".join(
            f"{name} {round(value, 2) + 0.0:.2f}" for name, value in passage["scores"].items() if value is not None
        )
        head = Text(f"[{passage['rank']}] {passage['document']} p. {passage['page_label']}  ", "bold")
        print_wide(head.append(scores, "not bold"))
        text = " ".join(passage["text"].split())
        cut = f"{text[:PREVIEW]}…" if len(text) > PREVIEW else text
        print_wide(Padding(Text(cut), (0, 0, 0, 4), expand=False))


def print_answer(row: dict[str, Any], answer: Answer) -> None:
    """Print an answer and its citations. Cited rows of tables are printed below the headers of their columns."""
    if answer.as_of:
        print_wide(Text(f"As of {answer.as_of}", "dim"))
    if answer.short and not answer.opens_with_short:
        print_wide(Text(answer.short, style="bold"))
    _print_text(answer.text, [one.quote for one in answer.citations])
    _print_marks(row)
    for table in () if answer.consists_of_excerpts else answer.tables:
        print_wide(Padding(_format_table(table.to_text_table(), table.table.unit_above), (0, 0, 0, 4), expand=False))
    sources: dict[str, None] = {}
    for citation in answer.citations:
        is_row = answer.find_cited_spans(citation) != [(citation.start, citation.end)]
        quote = "" if is_row or answer.consists_of_excerpts else citation.quote
        sources[_format_citation(citation.marker, citation.document, citation.cells, citation.page_label, quote)] = None
    _print_sources(row, sources)


def print_answer_row(row: dict[str, Any]) -> None:
    """Print an answer of the running application, which sends only its JSON object."""
    _print_text(row["text"], [one["quote"] for one in row["citations"]])
    _print_marks(row)
    sources = []
    for one in row["citations"]:
        quote = "" if row["generator"] == "extractive" else one["quote"]
        sources.append(_format_citation(one["marker"], one["document"], one.get("cells"), one["page_label"], quote))
    _print_sources(row, sources)


def _print_text(text: str, quotes: Sequence[str]) -> None:
    """Print the paragraphs and tables of the text of an answer."""
    for block in parse_answer_text(text, quotes):
        print_wide(_format_table(block) if isinstance(block, TextTable) else _format_runs(block.runs))


def _print_sources(row: dict[str, Any], sources: Iterable[str]) -> None:
    """Print the lines of the citations and the steps of an answer, and the closest passages of a refusal."""
    for source in sources:
        print_wide(Text(source, "dim"))
    print_steps(row)
    if row["state"] == "abstained":
        print_ranking(row)


def _format_citation(marker: int, document: str, cells: str | None, page_label: str, quote: str) -> str:
    """Return the line of a citation: its marker, document, cells or page, and its quote unless it is empty."""
    shown = f": “{' '.join(quote.split())}”" if quote else ""
    return f"[{marker}] {document} {cells or f'p. {page_label}'}{shown}"


def _print_marks(row: dict[str, Any]) -> None:
    """Print the marked statements of an answer and its notices."""
    for statement in row["statements"]:
        if statement["mark"]:
            print_wide(Text(f"“{statement['text']}” {statement['mark_text']}", "yellow"))
    for notice in row["notices"]:
        print_wide(Text(notice, "yellow"))


def _format_table(table: TextTable, title: str = "") -> Table:
    shown = Table(box=None, header_style="bold", pad_edge=False, title=Text(title, "dim") if title else None)
    for number, header in enumerate(table.rows[0]):
        shown.add_column(_format_runs(header), justify="right" if number else "left", overflow="fold")
    for row in table.rows[1:]:
        shown.add_row(*map(_format_runs, row))
    return shown


def _format_runs(runs: Sequence[Run]) -> Text:
    return Text.assemble(*((run.text, "bold" if run.bold else "") for run in runs))


class JobBars:
    """A progress bar for each running job."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def show(self, job: Job) -> None:
        """Add or update the bar of a job; remove the bar if the job has ended."""
        if job.state not in (JobState.QUEUED, JobState.RUNNING):
            if job.job_id in self._tasks:
                self._progress.remove_task(self._tasks.pop(job.job_id))
            return
        if job.job_id not in self._tasks:
            self._tasks[job.job_id] = self._progress.add_task(job.name, total=None, stage="")
        self._progress.update(
            self._tasks[job.job_id],
            completed=job.done,
            total=job.total or None,
            stage=job.reason or f"{job.stage} {job.done}/{job.total}",
        )


@contextmanager
def job_bars() -> Iterator[JobBars]:
    """Yield progress bars, which are shown only if standard error is a terminal."""
    with _create_progress(TextColumn("{task.fields[stage]}")) as progress:
        yield JobBars(progress)


@contextmanager
def counter(name: str, *columns: ProgressColumn) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that updates a progress bar, given the number of finished items and the total number.

    The bar shows these numbers, or other ``columns``. It is shown only if standard error is a terminal.
    """
    with _create_progress(*(columns or (TextColumn("{task.completed}/{task.total}"),))) as progress:
        task = progress.add_task(name, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def download_bar(name: str) -> AbstractContextManager[Callable[[int, int], None]]:
    """Return a `counter` of downloaded bytes."""
    return counter(name, DownloadColumn(), TransferSpeedColumn())


def _create_progress(*columns: ProgressColumn) -> Progress:
    name = TextColumn("{task.description}", markup=False)
    shown = err.is_terminal
    return Progress(name, BarColumn(), *columns, TimeRemainingColumn(), console=err, transient=True, disable=not shown)


def _format_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return to_local_time(value).strftime("%Y-%m-%d %H:%M")
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_format_cell(one)}" for name, one in value.items())
    return f"{value:,}" if isinstance(value, int) else str(value)
