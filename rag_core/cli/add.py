"""``add``: index files, and print a row for each file as soon as it is done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from rag_core.cli import console, json_rows
from rag_core.cli.common import SOME_FAILED, Json, open_engine
from rag_core.cli.sources import Source, read_sources
from rag_core.engine import Engine
from rag_core.errors import UnknownDocument
from rag_core.types import DEFAULT_COLLECTION, DocumentStatus, Job, format_count

# Maximum number of files that wait in the engine: enough to keep the engine busy, few enough to fit in memory.
MAX_PENDING = 64


def add(
    paths: Annotated[list[Path], typer.Argument(help="PDFs, folders or zip archives.", show_default=False)],
    collection: Annotated[str, typer.Option(help="Collection to add to.")] = DEFAULT_COLLECTION,
    keep: Annotated[bool, typer.Option("--keep", help="Keep an older document of the same name too.")] = False,
    password: Annotated[str | None, typer.Option(help="Password of encrypted PDFs; never stored.")] = None,
    as_json: Json = False,
) -> None:
    """Index PDFs, folders and zip archives; wait until done.

    Subfolders are searched too.
    """
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise typer.BadParameter(f"No such file or folder: {', '.join(missing)}.")
    statuses: list[str] = []
    with open_engine() as engine, console.job_bars() as bars:
        options = {
            "collection": collection,
            "on_same_name": "keep" if keep else "replace",
            "password": password,
        }
        for row in _index_files(engine, read_sources(paths, engine.settings.max_file_mb * 1_000_000), options, bars):
            statuses.append(row["status"])
            console.print_row(row, _format_row(row), as_json)
    if not statuses:
        console.print_problem("No PDF was found in these paths.")
    bad = {DocumentStatus.FAILED.value, DocumentStatus.REJECTED.value}
    if bad & set(statuses):
        raise typer.Exit(SOME_FAILED)


def _index_files(
    engine: Engine, sources: Iterator[Source], shared_options: dict[str, Any], bars: console.JobBars
) -> Iterator[dict[str, Any]]:
    """Submit the files; yield the row of each file as soon as its job ends."""
    pending: dict[str, str] = {}
    for source in sources:
        if source.problem:
            yield json_rows.build_refusal_row(source.shown, source.problem)
            continue
        job = engine.documents.submit(source.name, source.data, folder=source.folder, **shared_options)
        pending[job.job_id] = source.shown
        if len(pending) >= MAX_PENDING:
            yield from _wait_for_jobs(engine, pending, MAX_PENDING - 1, bars)
    yield from _wait_for_jobs(engine, pending, 0, bars)


def _wait_for_jobs(
    engine: Engine, pending: dict[str, str], most: int, bars: console.JobBars
) -> Iterator[dict[str, Any]]:
    """Yield rows of files whose jobs end, until at most ``most`` jobs remain."""
    while len(pending) > most:
        for job in engine.jobs.as_completed(list(pending), bars.show):
            shown = pending.pop(job.job_id)
            yield json_rows.build_addition_row(shown, job, _find_document(engine, job))
            attached = job.details.get("attached", {})
            pending |= {job_id: f"{shown}/{name}" for job_id, name in attached.items()}
            if len(pending) <= most:
                return


def _find_document(engine: Engine, job: Job) -> Any:
    if job.document_id is None:
        return None
    try:
        return engine.documents.get(job.document_id)
    except UnknownDocument:  # the document was deleted in the meantime
        return None


def _format_row(row: dict[str, Any]) -> str:
    counts = ""
    if row["chunks"]:
        pages, chunks = format_count(row["pages"], "page"), format_count(row["chunks"], "chunk")
        counts = f"{pages}, {chunks}, {row['seconds']:.1f} s"
    return "  ".join(part for part in (f"{row['status']:9}", row["file"], counts, row["reason"]) if part)
