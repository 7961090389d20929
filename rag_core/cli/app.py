"""The commands. Standard output contains only results; logs and errors go to standard error."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import TyperException

from rag_core.api import json_rows
from rag_core.api.client import RunningApp
from rag_core.cli import console
from rag_core.cli.add import add
from rag_core.cli.ask import ask, search
from rag_core.cli.check import check
from rag_core.cli.common import (
    FAILED,
    SOME_FAILED,
    WRONG_USE,
    DocumentNames,
    Json,
    exit_unless_done,
    open_engine,
    open_engine_or_app,
    options,
)
from rag_core.cli.contents import outline, pages
from rag_core.cli.evaluate import evaluate
from rag_core.cli.mcp import mcp
from rag_core.cli.model import model_app
from rag_core.cli.snapshot import snapshot_app
from rag_core.cli.themes import themes_app
from rag_core.cli.token import token_app
from rag_core.cli.train import pseudo_questions, train
from rag_core.cli.transfer import backup, export_library, import_library, restore
from rag_core.cli.watch import watch
from rag_core.errors import (
    BackupError,
    CollectionError,
    LabelError,
    ModelNotDownloaded,
    QuestionError,
    RagError,
    SettingsError,
    SnapshotError,
    TokenError,
    UnknownDocument,
    UnknownModel,
    UnknownTheme,
)
from rag_core.types.documents import DEFAULT_COLLECTION
from rag_core.types.formatting import format_count
from rag_core.types.usage import Usage

# Typer's return value for a command that was interrupted from the keyboard.
INTERRUPTED = 130
# 128 plus the number of the signal SIGPIPE: the exit status of programs such as cat when "head" closes the pipe, which
# scripts do not treat as an error. Python ignores the signal itself, which would also end the process in the middle of
# its work when a server closes a connection.
SIGPIPE_STATUS = 141
_USER_ERRORS = (
    *(BackupError, CollectionError, LabelError, ModelNotDownloaded, QuestionError),
    *(SettingsError, SnapshotError, TokenError, UnknownDocument, UnknownModel, UnknownTheme),
)

app = typer.Typer(
    help="Footnote: ask your documents, and see the page that each sentence comes from.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    # With rich markup, the help would show a flag as an option with a value: "--json <bool>".
    rich_markup_mode=None,
)


@app.callback()
def _set_options(
    data_dir: Annotated[Path | None, typer.Option(help="Data folder; the default is RAG_DATA_DIR.")] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks and debug logs.")] = False,
) -> None:
    options.update(data_dir=data_dir, debug=debug)
    logging.basicConfig(level=logging.DEBUG if debug else logging.ERROR, stream=sys.stderr)


app.command()(add)


@app.command("list")
def list_documents(as_json: Json = False) -> None:
    """List the documents."""
    with open_engine_or_app() as opened:
        if isinstance(opened, RunningApp):
            rows = list(opened.read_list("documents"))
        else:
            rows = [row for one in opened.documents.list() for row in json_rows.build_document_rows(one)]
    # Show the column only if there are other collections than the default one, which most libraries do not have.
    collection_column = ["collection"] if any(row["collection"] != DEFAULT_COLLECTION for row in rows) else []
    if not as_json:
        rows = [row | {"added_at": datetime.fromisoformat(row["added_at"])} for row in rows]
    columns = ("document", *collection_column, "pages", "chunks", "status", "added_at", "reason")
    empty = "The library is empty. Use the command add to add documents."
    console.print_rows(rows, columns, as_json, numeric=("pages", "chunks"), if_empty=empty)


app.command()(pages)
app.command()(outline)


@app.command()
def delete(documents: DocumentNames, as_json: Json = False) -> None:
    """Delete documents from every store. Prints how many chunks were removed, and how many remain."""
    with open_engine() as engine:
        # Print each receipt at once: if a store fails, the output shows which documents are deleted.
        for receipt in engine.documents.delete_named(documents):
            removed = format_count(receipt.chunks_removed, "chunk")
            kept = f"; the same content stays in the library as {receipt.kept_as}" if receipt.kept_as else ""
            line = f"{receipt.document}: {removed} removed, {receipt.chunks_remaining:,} remaining{kept}"
            console.print_row(json_rows.build_deletion_row(receipt), line, as_json)


@app.command()
def move(
    documents: DocumentNames,
    collection: Annotated[str, typer.Option(help="Collection to move them to.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Move documents to a collection."""
    with open_engine() as engine:
        moved = engine.documents.find_ids(documents)
        engine.collections.move_documents(moved, collection)
        for document_id in moved:
            document = engine.documents.get(document_id)
            row = json_rows.build_document_row(document)
            console.print_row(row, f"{document.name}: now in {document.collection}", as_json)


app.command()(search)
app.command()(ask)
app.command()(check)


@app.command()
def reindex(
    documents: Annotated[list[str] | None, typer.Argument(help="Names or ids; all by default.")] = None,
    embedder: Annotated[str | None, typer.Option(help="Embedding model to use.")] = None,
    chunk_tokens: Annotated[int | None, typer.Option(min=32, max=8192, help="Tokens per chunk.")] = None,
    as_json: Json = False,
) -> None:
    """Re-index documents. Searches use the old index until the new one is complete."""
    with open_engine() as engine, console.job_bars() as bars:
        chosen = engine.documents.find_ids(documents) if documents else None
        job = engine.index.rebuild(chosen, embedder=embedder, chunk_tokens=chunk_tokens)
        ended = engine.jobs.wait([job.job_id], bars.show)[0]
    done = ended.details.get("documents", [])
    summary = {
        "documents": len(done),
        **{name: ended.details.get(name, 0) for name in ("chunks", "embeddings_reused", "embeddings_computed")},
        "seconds": round(ended.seconds, 3),
    }
    console.print_rows(done, ("document", "status", "chunks", "reason"), as_json, numeric=("chunks",))
    console.print_rows([summary], tuple(summary), as_json, numeric=tuple(summary))
    exit_unless_done(ended, SOME_FAILED if done else FAILED)


app.command()(backup)
app.command()(restore)
app.command("export")(export_library)
app.command("import")(import_library)
app.command()(watch)
app.command()(mcp)
app.command()(evaluate)
app.command()(train)
app.command()(pseudo_questions)
app.add_typer(model_app, name="model")
app.add_typer(themes_app, name="themes")
app.add_typer(snapshot_app, name="snapshot")
app.add_typer(token_app, name="token")


@app.command()
def status(as_json: Json = False) -> None:
    """Show what is stored, how it was built, and any problems."""
    with open_engine_or_app() as opened:
        row = opened.request("GET", "status") if isinstance(opened, RunningApp) else asdict(opened.status())
    if as_json:
        console.print_json(row)
    else:
        for problem in row["problems"]:
            console.print_problem(problem)
        for notice in row["notices"]:
            console.print_note(notice)
        values = {name: value for name, value in row.items() if name not in ("problems", "notices", "healthy", "usage")}
        flat = [{"what": name.replace("_", " "), "value": value} for name, value in values.items()]
        usages = [(one["generator"], Usage(**one["usage"])) for one in row["usage"]]
        flat += [{"what": f"usage of {generator}", "value": usage.label} for generator, usage in usages]
        flat = [{"what": "healthy", "value": row["healthy"]}, *flat]
        console.print_table(flat, ("what", "value"))
    if not row["healthy"]:
        raise typer.Exit(FAILED)


def main() -> None:
    """Run a command; print every expected error as one line on standard error."""
    # Warnings of libraries are for developers; a user cannot act on them.
    warnings.filterwarnings("ignore")
    for stream in (sys.stdout, sys.stderr):
        # A file name may contain characters that are not valid Unicode, or that the terminal cannot show.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr] # Python opens text streams
    try:
        code = _run()
    except SystemExit:
        # Typer and Rich raise this exception if the program that reads the output has ended. The status of a command is
        # a return value instead.
        _detach_streams()
        code = SIGPIPE_STATUS
    sys.exit(code)


def _run() -> int:
    """Run the command, report any error, and return the exit status."""
    try:
        code = app(standalone_mode=False)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        return code or 0
    except TyperException as error:
        return _report_error(error, WRONG_USE, error.format_message())
    except RagError as error:
        return _report_error(error, WRONG_USE if isinstance(error, _USER_ERRORS) else FAILED, str(error))
    except KeyboardInterrupt as error:
        return _report_error(error, FAILED, "Stopped. Unfinished jobs continue at the next start.")
    except Exception as error:  # noqa: BLE001 - a user gets a traceback only with --debug
        message = f"An internal error: {type(error).__name__}: {error}. Run with --debug for details."
        return _report_error(error, FAILED, message)


def _report_error(error: BaseException, code: int, message: str) -> int:
    """Print a message and return the exit status ``code``; with ``--debug``, raise the error instead."""
    if options.get("debug"):
        raise error
    console.print_problem(message)
    return code


def _detach_streams() -> None:
    """Redirect broken output streams to the null device, so that Python can flush them at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())
            os.close(null)
