"""``snapshot``: create, list and delete snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Annotated

import typer

from rag_core.api import json_rows
from rag_core.cli import console
from rag_core.cli.common import Json, exit_unless_done, open_engine
from rag_core.types.snapshots import Snapshot

snapshot_app = typer.Typer(
    help="Keep what documents say now, to ask about it later.", no_args_is_help=True, rich_markup_mode=None
)
_COLUMNS = ("name", "collection", "as_of", "documents", "searchable", "superseded")
Name = Annotated[str, typer.Argument(help="Name of the snapshot.", show_default=False)]


@snapshot_app.command("create")
def create_snapshot(
    name: Name,
    collection: Annotated[str, typer.Option(help="Collection; the whole library by default.")] = "",
    as_of: Annotated[
        str, typer.Option("--date", help="Past date (YYYY-MM-DD): what had been added until then; today by default.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Create a snapshot; index its content again if necessary."""
    day = _parse_date(as_of)
    with open_engine() as engine, console.job_bars() as bars:
        created, job = engine.snapshots.create(name, collection=collection, as_of=day)
        ended = engine.jobs.wait([job.job_id], bars.show)[0] if job else None
        shown = next(one for one in engine.snapshots.list() if one.snapshot_id == created.snapshot_id)
    _show([shown], as_json)
    if ended is not None:
        exit_unless_done(ended)


@snapshot_app.command("list")
def list_snapshots(as_json: Json = False) -> None:
    """List the snapshots, newest date first."""
    with open_engine() as engine:
        snapshots = engine.snapshots.list()
    _show(snapshots, as_json)


@snapshot_app.command("delete")
def delete_snapshot(name: Name, as_json: Json = False) -> None:
    """Delete a snapshot; the documents and their files stay."""
    with open_engine() as engine:
        engine.snapshots.delete(name)
    console.print_row({"deleted": name}, f"{name}: deleted", as_json)


def _show(snapshots: Sequence[Snapshot], as_json: bool) -> None:
    rows = [json_rows.build_snapshot_row(one) for one in snapshots]
    if not as_json:
        rows = [row | {"collection": row["collection"] or "whole library"} for row in rows]
    empty = "There are no snapshots. Use the command snapshot create to create one."
    console.print_rows(rows, _COLUMNS, as_json, numeric=_COLUMNS[3:], if_empty=empty)


def _parse_date(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no date. Write it as YYYY-MM-DD, such as 2026-03-31.") from None
