"""``watch``: synchronize the library with a folder."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated

import typer

from rag_core.api import json_rows
from rag_core.cli import console
from rag_core.cli.common import SOME_FAILED, Json, open_engine
from rag_core.engine import Engine
from rag_core.types.documents import DEFAULT_COLLECTION


def watch(
    folder: Annotated[
        str | None,
        typer.Argument(help="Folder, fsspec URL, imaps://USER@HOST/INBOX or sitemap+https://URL.", show_default=False),
    ] = None,
    collection: Annotated[str, typer.Option(help="Collection to add to.")] = DEFAULT_COLLECTION,
    remove: Annotated[bool, typer.Option("--remove", help="Stop watching the folder; its documents stay.")] = False,
    follow: Annotated[bool, typer.Option("--follow", help="Keep checking the folder until interrupted.")] = False,
    as_json: Json = False,
) -> None:
    """Sync the library with a folder, or list watched folders.

    The app checks watched folders while it runs.
    """
    with open_engine() as engine:
        if folder is None:
            rows = [asdict(one) for one in engine.watches.list()]
            columns = ("url", "collection", "files", "checked_at", "problem")
            empty = "No folder is watched. To watch one, give its path."
            console.print_rows(rows, columns, as_json, numeric=("files",), if_empty=empty)
            return
        if remove:
            watched = engine.watches.find(folder)
            if watched is None:
                raise typer.BadParameter(
                    f"{folder} is not watched. Run watch without a folder to list the watched folders."
                )
            engine.watches.remove(watched.watch_id)
            return
        one = engine.watches.add(folder, collection=collection)
        problem = _check_folder(engine, one.watch_id, follow, as_json)
    if problem:
        raise typer.Exit(SOME_FAILED)


def _check_folder(engine: Engine, watch_id: str, follow: bool, as_json: bool) -> bool:
    """Check a folder once, or with ``follow`` until interrupted.

    Return whether the check found a problem or a refused file; false if the folder is no longer watched.
    """
    while True:
        result = engine.watches.sync(watch_id)
        if result is None:
            return False
        waiting = [job.job_id for job in engine.jobs.list(active=True, limit=None)]
        row = json_rows.build_sync_row(result, engine.jobs.wait(list(dict.fromkeys([*result.job_ids, *waiting]))))
        if as_json:
            console.print_json(row)
        elif result.added or result.changed or result.removed or result.problem or not follow:
            counts = ", ".join(f"{len(row[name])} {name}" for name in ("added", "changed", "removed"))
            console.print_line(f"{counts}{'; ' + result.problem if result.problem else ''}")
            for one in row["refused"]:
                console.print_line(f"{one['status']:9}  {one['file']}  {one['reason']}")
        if not follow:
            return bool(result.problem or row["refused"])
        time.sleep(engine.watches.interval_s)
