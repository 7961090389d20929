"""``add``: index files, and print a row for each file as soon as it is done."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from rag_core.api import json_rows
from rag_core.api.client import RunningApp
from rag_core.api.visible_library import find_document
from rag_core.cli import console
from rag_core.cli.common import SOME_FAILED, Json, open_engine_or_app, read_settings
from rag_core.cli.sources import Source, read_sources
from rag_core.engine import Engine
from rag_core.types.documents import DEFAULT_COLLECTION, DocumentStatus
from rag_core.types.formatting import format_count
from rag_core.types.jobs import Job, JobState

# The reason in the row of a file that an interrupted command had queued.
CONTINUED = "Continued: an interrupted command had queued it."
# Most files that wait in the engine: enough to keep it busy, few enough for the memory.
MAX_PENDING = 64


def add(
    # A file that cannot be read has a row of its own, and the others are added.
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Documents, folders or zip archives.", exists=True, readable=False, show_default=False),
    ] = None,
    collection: Annotated[str, typer.Option(help="Collection to add to.")] = DEFAULT_COLLECTION,
    keep: Annotated[bool, typer.Option("--keep", help="Keep an older document of the same name too.")] = False,
    password: Annotated[str | None, typer.Option(help="Password of encrypted documents; never stored.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Also wait for the files of interrupted commands.")] = False,
    as_json: Json = False,
) -> None:
    """Index files, folders and zip archives; wait until done.

    Subfolders are searched too. Files that an interrupted command left in the queue are indexed as well.
    """
    if not paths and not resume:
        raise typer.BadParameter("Name files, folders or zip archives, or give --resume.")

    statuses: list[str] = []
    waiting = 0
    with open_engine_or_app() as opened, console.job_bars() as bars:
        options = {
            "collection": collection,
            "on_same_name": "keep" if keep else "replace",
            "password": password,
        }
        sources = read_sources(paths or [], read_settings().max_file_mb * 1_000_000)
        if isinstance(opened, RunningApp):
            rows = _add_to_app(opened, sources, options)
        else:
            additions = Additions(opened, options, bars)
            rows = additions.run(sources, resume=resume)
        for row in rows:
            statuses.append(row["status"])
            console.print_row(row, _format_row(row), as_json)
        if not isinstance(opened, RunningApp):
            waiting = additions.finish()
    if not statuses and not resume:
        console.print_problem("No document that can be read was found in these paths.")
    if waiting:
        console.print_note(
            f"{format_count(waiting, 'file')} of an interrupted command still {'waits' if waiting == 1 else 'wait'}. "
            "To index them: python -m rag_core add --resume"
        )
    bad = {DocumentStatus.FAILED.value, DocumentStatus.REJECTED.value}
    if bad & set(statuses):
        raise typer.Exit(SOME_FAILED)


class Additions:
    """Submits files, and yields the row of each file as soon as its job ends.

    Parameters
    ----------
    engine : Engine
    options : dict
        Arguments of `Documents.submit` for all files.
    bars : JobBars
    """

    def __init__(self, engine: Engine, options: dict[str, Any], bars: console.JobBars) -> None:
        self._engine = engine
        self._options = options
        self._bars = bars
        active = engine.jobs.list(active=True, limit=None)
        # Names of the active jobs of earlier commands, by job id.
        self._earlier = {job.job_id: job.name for job in reversed(active)}
        # Ids of the active jobs that index a file.
        self._files = {job.job_id for job in active if job.kind == "index"}
        # Displayed names of the files, by the id of the job to wait for.
        self._pending: dict[str, list[str]] = {}

    def run(self, sources: Iterator[Source], *, resume: bool) -> Iterator[dict[str, Any]]:
        """Yield the rows of the files; with ``resume``, also the rows of files that earlier commands queued."""
        if resume:
            self._pending = {job_id: [name] for job_id, name in self._earlier.items() if job_id in self._files}
        for source in sources:
            if source.problem:
                yield json_rows.build_refusal_row(source.shown, source.problem)
                continue
            job = self._engine.documents.submit(source.name, source.data, folder=source.folder, **self._options)
            self._pending.setdefault(job.job_id, []).append(source.shown)
            if len(self._pending) >= MAX_PENDING:
                yield from self._wait(MAX_PENDING - 1)
        yield from self._wait(0)

    def finish(self) -> int:
        """Wait for the jobs that follow from the files, such as a re-index after a change of names.

        Return the number of waiting files that earlier commands queued.
        """
        active = [job.job_id for job in self._engine.jobs.list(active=True, limit=None)]
        self._engine.jobs.wait([job_id for job_id in active if job_id not in self._earlier])
        return len(self._files.intersection(active))

    def _wait(self, most: int) -> Iterator[dict[str, Any]]:
        """Yield the rows of files as their jobs end, until at most ``most`` jobs remain."""
        while len(self._pending) > most:
            for job in self._engine.jobs.as_completed(list(self._pending), self._bars.show):
                shown = self._pending.pop(job.job_id)
                if continued := job.details.get("continues"):
                    self._pending.setdefault(continued, []).extend(shown)
                    break
                yield from self._build_rows(job, shown)
                attached = job.details.get("attached", {})
                self._pending |= {job_id: [f"{shown[0]}/{name}"] for job_id, name in attached.items()}
                if len(self._pending) <= most:
                    return

    def _build_rows(self, job: Job, shown: list[str]) -> Iterator[dict[str, Any]]:
        """Yield a row for each of the files ``shown``, which all have the content that a job indexed."""
        document = find_document(self._engine, job)
        row = json_rows.build_addition_row(shown[0], job, document)
        is_continued = job.job_id in self._earlier
        if is_continued:
            row["reason"] = f"{CONTINUED} {row['reason']}".rstrip()
        yield row
        for name in shown[1:]:
            if job.state is JobState.DONE and not is_continued:
                yield row | {"file": name} | _describe_duplicate(job.name)
            else:
                yield row | {"file": name}


def _add_to_app(app: RunningApp, sources: Iterator[Source], form: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Upload files to the running application, and yield a row with the result for each file.

    The rows are in the order of the files, with two exceptions that come later: attached files, and files with the same
    content as a file that was still being indexed.
    """
    # Displayed name of each file, id of its job, and whether the job was queued for another file with the same content.
    pending: deque[tuple[str, str, bool]] = deque()
    for source in sources:
        if source.problem:
            yield json_rows.build_refusal_row(source.shown, source.problem)
            continue
        pending.append((source.shown, app.add(source.name, source.data, folder=source.folder, **form), False))
        if len(pending) >= MAX_PENDING:
            yield from _wait_for_app(app, pending, MAX_PENDING - 1)
    yield from _wait_for_app(app, pending, 0)


def _wait_for_app(app: RunningApp, pending: deque[tuple[str, str, bool]], most: int) -> Iterator[dict[str, Any]]:
    while len(pending) > most:
        shown, job_id, is_same = pending.popleft()
        job = app.wait(job_id)
        if job["continues"]:
            pending.append((shown, job["continues"], True))
            continue
        row = job["addition"] | {"file": shown}
        if is_same and job["state"] == JobState.DONE.value:
            row |= _describe_duplicate(job["name"])
        yield row
        pending.extend((f"{shown}/{name}", attached, False) for attached, name in job["attached"].items())


def _describe_duplicate(name: str) -> dict[str, str]:
    return {
        "status": DocumentStatus.DUPLICATE.value,
        "reason": f"The same content is in the library as {name}.",
    }


def _format_row(row: dict[str, Any]) -> str:
    counts = ""
    if row["chunks"]:
        pages, chunks = format_count(row["pages"], "page"), format_count(row["chunks"], "chunk")
        counts = f"{pages}, {chunks}, {row['seconds']:.1f} s"
    return "  ".join(part for part in (f"{row['status']:9}", row["file"], counts, row["reason"]) if part)
