"""What people see in a terminal: tables, a progress line, answers with their sources."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from rag_core.types import Job, JobState, Usage, decimals

out = Console()
err = Console(stderr=True)


def emit(row: dict[str, Any]) -> None:
    """One JSON object on a line of standard output, at once."""
    sys.stdout.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
    sys.stdout.flush()


def line(text: str) -> None:
    """One line of standard output, however long."""
    out.print(Text(text.replace("\n", " ")), soft_wrap=True)


def problem(text: str) -> None:
    """One line on standard error, however long."""
    err.print(Text(" ".join(text.split()), "red"), soft_wrap=True)


def table(rows: Sequence[dict[str, Any]], columns: Sequence[str], *, numeric: Sequence[str] = ()) -> None:
    """Rows as a table; text from documents is never read as markup."""
    shown = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        shown.add_column(column.replace("_", " "), justify="right" if column in numeric else "left")
    for row in rows:
        shown.add_row(*(Text(_cell(row.get(column))) for column in columns))
    out.print(shown)


def passages(row: dict[str, Any]) -> None:
    """The passages of one question, best first, and what it took to find them."""
    steps(row)
    listed(row)


def steps(row: dict[str, Any]) -> None:
    """What a strategy did, and what the model took for it."""
    for step in row["steps"]:
        out.print(Text(step, "dim"))
    if row["usage"]["calls"]:
        out.print(Text(f"The model took {Usage(**row['usage']).label}", "dim"))


def listed(row: dict[str, Any]) -> None:
    """The passages of one question and the gate's verdict on them."""
    gate = row["gate"]
    refused = "below the threshold" if gate["score"] < gate["threshold"] else "no answer in the passages"
    verdict = "answerable" if gate["answerable"] else refused
    best, needed = (f"{gate[name]:.{decimals(gate['threshold'])}f}" for name in ("score", "threshold"))
    out.print(Text(f"{gate['score_name']} {best}, needs {needed}: {verdict}", "dim"))
    for passage in row["passages"]:
        scores = "  ".join(f"{name} {value:.2f}" for name, value in passage["scores"].items() if value is not None)
        out.print(
            Text(f"[{passage['rank']}] {passage['document']} p. {passage['page_label']}  ", "bold"),
            Text(scores),
        )
        out.print(Text("    " + " ".join(passage["text"].split())[:300]))


def answer(row: dict[str, Any]) -> None:
    """An answer and what it cites."""
    if row["short"]:
        out.print(Text(row["short"], style="bold"))
    out.print(Text(row["text"]))
    for statement in row["statements"]:
        if not statement["supported"]:
            out.print(Text(f"Not found in the source: “{statement['text']}” {statement['reason']}", "yellow"))
    for notice in row["notices"]:
        out.print(Text(notice, "yellow"))
    for citation in row["citations"]:
        quote = " ".join(citation["quote"].split())
        out.print(Text(f"[{citation['marker']}] {citation['document']} p. {citation['page_label']}: “{quote}”", "dim"))
    steps(row)
    if row["state"] == "abstained":
        listed(row)


class JobBars:
    """A bar for each job that runs; nothing where the output is not a terminal."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def show(self, job: Job) -> None:
        """Bring a job's bar up to date, or take it away when the job has ended."""
        if self._progress is None:
            return
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
            stage=f"{job.stage} {job.done}/{job.total}",
        )


@contextmanager
def job_bars() -> Iterator[JobBars]:
    """Bars on standard error, if that is a terminal."""
    if not err.is_terminal:
        yield JobBars(None)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[stage]}"),
    )
    with Progress(*columns, TimeRemainingColumn(), console=err, transient=True) as progress:
        yield JobBars(progress)


@contextmanager
def counter(name: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error, if that is a terminal; called with how many of how many are done."""
    if not err.is_terminal:
        yield lambda done, total: None
        return
    columns = TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.completed}/{task.total}")
    with Progress(*columns, TimeRemainingColumn(), console=err, transient=True) as progress:
        task = progress.add_task(name, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
