"""``backup``, ``restore``, ``export`` and ``import``: save a whole library, or move its content to another one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from rag_core.api import json_rows
from rag_core.api.client import RunningApp
from rag_core.cli import console
from rag_core.cli.common import SOME_FAILED, Json, open_engine_or_app, read_settings
from rag_core.engine import Engine
from rag_core.errors import BackupError
from rag_core.indexing.restoring import restore_library
from rag_core.indexing.transfers import split_export
from rag_core.store.backups import BackupManifest, write_backup
from rag_core.types.documents import DocumentStatus
from rag_core.types.formatting import format_count


def backup(
    folder: Annotated[Path, typer.Argument(help="New folder for the backup.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Back up the library, also while it is in use."""
    manifest = write_backup(read_settings(), folder)
    _print_manifest(manifest, folder, as_json)
    if manifest.missing:
        console.print_note(f"{format_count(len(manifest.missing), 'file')} of documents were not stored.")


def restore(
    source: Annotated[Path, typer.Argument(help="Folder or zip file of a backup.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Restore a backup into a new data folder (--data-dir)."""
    settings = read_settings()
    with console.counter("index") as count:
        manifest = restore_library(settings, source, count)
    _print_manifest(manifest, settings.data_dir, as_json)


def _print_manifest(manifest: BackupManifest, folder: Path, as_json: bool) -> None:
    row = {"folder": str(folder), "files": len(manifest.files), "bytes": manifest.size, "missing": manifest.missing}
    line = f"{folder}: {format_count(len(manifest.files), 'file')}, {manifest.size / 1e6:,.1f} MB, verified"
    console.print_row(row | {"created_at": manifest.created_at}, line, as_json)


def export_library(
    file: Annotated[Path, typer.Argument(help="New zip file.", show_default=False)], as_json: Json = False
) -> None:
    """Export the library as one file, for another library.

    The file has the documents, the conversations and the settings for answers.
    """
    with _create_file(file) as target, open_engine_or_app() as opened:
        if isinstance(opened, RunningApp):
            opened.download("export", target)
        else:
            for data in opened.transfers.export_library():
                target.write(data)
    size = file.stat().st_size
    console.print_row({"file": str(file), "bytes": size}, f"{file}: {size / 1e6:,.1f} MB", as_json)


@contextmanager
def _create_file(file: Path) -> Iterator[BinaryIO]:
    """Yield a new file that only its owner can read; delete the file if an error is raised."""
    try:
        with file.open("xb") as target:
            file.chmod(0o600)
            yield target
    except FileExistsError:
        raise BackupError(f"{file} exists already. Name a new file.") from None
    except OSError as error:
        file.unlink(missing_ok=True)
        raise BackupError(f"{file} cannot be written ({error.strerror or error}). Name another file.") from None
    except BaseException:
        file.unlink(missing_ok=True)
        raise


def import_library(
    file: Annotated[Path, typer.Argument(help="File that export wrote.", show_default=False)], as_json: Json = False
) -> None:
    """Import what a library exported; wait until done.

    Known content is not added twice, and settings of this library stay.
    """
    try:
        with file.open("rb") as source, open_engine_or_app() as opened:
            if isinstance(opened, RunningApp):
                row, ended = _import_into_app(opened, source)
            else:
                row, ended = _import_into_engine(opened, source)
    except OSError as error:
        raise BackupError(f"{file} cannot be read ({error.strerror or error}). Name a file of export.") from None
    for one in row["documents"]:
        status, reason = ended.get(one["job_id"], (DocumentStatus.DUPLICATE.value, ""))
        line = f"{status:9}  {one['file']}  {reason}".rstrip()
        console.print_row({**one, "status": status, "reason": reason}, line, as_json)
    rest = {name: row[name] for name in ("conversations", "settings")}
    said = f"{format_count(row['conversations'], 'new conversation')}; settings: {', '.join(row['settings']) or 'none'}"
    console.print_row(rest, said, as_json)
    if {DocumentStatus.FAILED.value, DocumentStatus.REJECTED.value} & {status for status, _ in ended.values()}:
        raise typer.Exit(SOME_FAILED)


Ended = dict[str, tuple[str, str]]


def _import_into_engine(engine: Engine, source: BinaryIO) -> tuple[dict[str, Any], Ended]:
    """Return the row of an import, and the status and the reason of each job by its id."""
    imported = engine.transfers.import_library(source)
    with console.job_bars() as bars:
        jobs = engine.jobs.wait([one.job_id for one in imported.documents if one.job_id], bars.show)
        engine.jobs.wait([one.job_id for one in engine.jobs.list(active=True, limit=None)], bars.show)
    ended = {one.job_id: ((one.result or DocumentStatus.FAILED).value, one.reason) for one in jobs}
    return json_rows.build_import_row(imported), ended


def _import_into_app(app: RunningApp, source: BinaryIO) -> tuple[dict[str, Any], Ended]:
    """Import an export in parts, because the whole may exceed the limit on uploads; see `_import_into_engine`."""
    jobs: dict[str, str] = {}
    for part in split_export(source):
        row: dict[str, Any] = app.request("POST", "import", files={"file": ("export.zip", part)})
        for one in row["documents"]:
            one["job_id"] = jobs.setdefault(one["document_id"], one["job_id"])
    ended = {}
    for job_id in filter(None, jobs.values()):
        addition = app.wait(job_id)["addition"]
        ended[job_id] = addition["status"], addition["reason"]
    return row, ended
