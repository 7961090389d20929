"""The commands. Standard output holds results and nothing else; logs and errors go to standard error."""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from rag_core.cli import console, rows
from rag_core.cli.evaluate import evaluate
from rag_core.cli.opening import Json, open_engine, options
from rag_core.cli.sources import Source, sources
from rag_core.engine import Engine
from rag_core.errors import LabelError, QuestionError, RagError, SettingsError, UnknownDocument
from rag_core.types import Configuration, DocumentStatus, Job, JobState, Strategy

WRONG_USE, SOME_FAILED, FAILED = 2, 3, 1
# How Typer says that a command was interrupted from the keyboard.
INTERRUPTED = 130
# Files handed to the engine ahead of those that have ended: enough to keep it busy.
AHEAD = 64

app = typer.Typer(
    help="Footnote: ask your PDFs, and see the page each sentence comes from.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
Documents = Annotated[
    list[str] | None, typer.Option("--document", help="Name of a document to search in; may be given again.")
]
TopK = Annotated[int | None, typer.Option("--top-k", min=1, max=1000, help="How many passages.")]
Questions = Annotated[
    Path | None,
    typer.Option("--questions", help='JSON lines {"id", "question", "documents"?} in place of QUESTION.'),
]
HowToSearch = Annotated[
    Strategy,
    typer.Option("--strategy", help="How passages are looked for; all but plain need a language model."),
]
Question = Annotated[str | None, typer.Argument(show_default=False)]


@app.callback()
def _global(
    data_dir: Annotated[Path | None, typer.Option(help="Folder that holds everything; default RAG_DATA_DIR.")] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks and debug logs.")] = False,
) -> None:
    options.update(data_dir=data_dir, debug=debug)
    logging.basicConfig(level=logging.DEBUG if debug else logging.ERROR, stream=sys.stderr)


@app.command()
def add(
    paths: Annotated[list[Path], typer.Argument(help="PDFs, folders, zip archives.", show_default=False)],
    collection: Annotated[str, typer.Option(help="Collection to add to.")] = "default",
    keep: Annotated[bool, typer.Option("--keep", help="Keep a document of the same name beside the new one.")] = False,
    password: Annotated[str | None, typer.Option(help="Password of encrypted PDFs; never stored.")] = None,
    as_json: Json = False,
) -> None:
    """Index PDFs, folders (recursively) and zip archives, and wait until that is done."""
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise typer.BadParameter(f"No such file or folder: {', '.join(missing)}.")
    statuses: list[str] = []
    with open_engine() as engine, console.job_bars() as bars:
        given = {
            "collection": collection,
            "on_same_name": "keep" if keep else "replace",
            "password": password,
        }
        for row in _added(engine, sources(paths, engine.settings.max_file_mb * 1_000_000), given, bars):
            statuses.append(row["status"])
            if as_json:
                console.emit(row)
            else:
                console.line(_line(row))
    if not statuses:
        console.problem("No PDF was found there.")
    bad = {DocumentStatus.FAILED.value, DocumentStatus.REJECTED.value}
    if bad & set(statuses):
        raise typer.Exit(SOME_FAILED)


@app.command("list")
def list_documents(as_json: Json = False) -> None:
    """List the documents."""
    with open_engine() as engine:
        found = [rows.listed(document) for document in engine.documents()]
    if as_json:
        for row in found:
            console.emit(row)
    else:
        columns = ("document", "pages", "chunks", "status", "added_at", "reason")
        console.table(found, columns, numeric=("pages", "chunks"))


@app.command()
def delete(
    documents: Annotated[list[str], typer.Argument(help="Names or ids.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Remove documents from every store, and count what is left of them."""
    with open_engine() as engine:
        for receipt in engine.delete(engine.resolve(documents)):
            row = rows.deleted(receipt)
            if as_json:
                console.emit(row)
            else:
                console.line(
                    f"{receipt.document}: {receipt.chunks_removed} chunks removed, {receipt.chunks_remaining} remain"
                )


@app.command()
def search(
    question: Question = None,
    document: Documents = None,
    top_k: TopK = None,
    strategy: HowToSearch = "plain",
    questions: Questions = None,
    as_json: Json = False,
) -> None:
    """Find passages for a question, without an answer."""

    def run(engine: Engine, text: str, names: list[str] | None, question_id: str | None) -> dict[str, Any]:
        how = Configuration(strategy=strategy)
        found = engine.search(text, documents=names, top_k=top_k, configuration=how)
        return rows.searched(found, question_id)

    _each_question(run, console.passages, question, questions, document, as_json)


@app.command()
def ask(
    question: Question = None,
    document: Documents = None,
    top_k: TopK = None,
    strategy: HowToSearch = "plain",
    questions: Questions = None,
    as_json: Json = False,
) -> None:
    """Answer a question from the documents, with citations, or say that they do not tell."""

    def run(engine: Engine, text: str, names: list[str] | None, question_id: str | None) -> dict[str, Any]:
        how = Configuration(strategy=strategy)
        answer = engine.answer(text, documents=names, top_k=top_k, configuration=how)
        return rows.answered(answer, question_id)

    _each_question(run, console.answer, question, questions, document, as_json)


@app.command()
def reindex(
    documents: Annotated[list[str] | None, typer.Argument(help="Names or ids; all by default.")] = None,
    embedder: Annotated[str | None, typer.Option(help="Embedding model to build with.")] = None,
    chunk_tokens: Annotated[int | None, typer.Option(min=32, max=8192, help="Tokens a chunk.")] = None,
    as_json: Json = False,
) -> None:
    """Re-index documents; the present index answers until the new one is complete."""
    with open_engine() as engine, console.job_bars() as bars:
        chosen = engine.resolve(documents) if documents else None
        job = engine.reindex(chosen, embedder=embedder, chunk_tokens=chunk_tokens)
        ended = engine.wait([job.job_id], bars.show)[0]
    done = ended.details.get("documents", [])
    summary = {
        "documents": len(done),
        **{name: ended.details.get(name, 0) for name in ("chunks", "embeddings_reused", "embeddings_computed")},
        "seconds": round(ended.seconds, 3),
    }
    if as_json:
        for row in done:
            console.emit(row)
        console.emit(summary)
    else:
        console.table(done, ("document", "status", "chunks", "reason"), numeric=("chunks",))
        console.table([summary], tuple(summary), numeric=tuple(summary))
    if ended.state is not JobState.DONE:
        console.problem(ended.reason)
        raise typer.Exit(SOME_FAILED if done else FAILED)


@app.command()
def watch(
    folder: Annotated[str | None, typer.Argument(help="Folder or fsspec URL.", show_default=False)] = None,
    collection: Annotated[str, typer.Option(help="Collection to add to.")] = "default",
    remove: Annotated[bool, typer.Option("--remove", help="Watch it no longer; its documents stay.")] = False,
    follow: Annotated[bool, typer.Option("--follow", help="Go on looking until stopped.")] = False,
    as_json: Json = False,
) -> None:
    """Keep the library in step with a folder, or list the folders that are watched.

    The app goes on looking at watched folders while it runs.
    """
    with open_engine() as engine:
        if folder is None:
            found = [rows.watched(one) for one in engine.watches()]
            for row in found if as_json else []:
                console.emit(row)
            if not as_json:
                console.table(found, ("url", "collection", "files", "checked_at", "problem"), numeric=("files",))
            return
        one = engine.watch(folder, collection=collection)
        if remove:
            engine.unwatch(one.watch_id)
            return
        problem = _follow(engine, one.watch_id, follow, as_json)
    if problem:
        raise typer.Exit(SOME_FAILED)


def _follow(engine: Engine, watch_id: str, follow: bool, as_json: bool) -> bool:
    """Look once, or again and again; returns whether the last look met a problem."""
    while True:
        found = engine.sync_watch(watch_id)
        engine.wait([job.job_id for job in engine.jobs(active=True, limit=100_000)])
        if found is None:
            return False
        row = rows.synced(found)
        if as_json:
            console.emit(row)
        elif found.added or found.changed or found.removed or found.problem or not follow:
            counts = ", ".join(f"{len(row[name])} {name}" for name in ("added", "changed", "removed"))
            console.line(f"{counts}{'; ' + found.problem if found.problem else ''}")
        if not follow:
            return bool(found.problem)
        time.sleep(engine.settings.watch_interval_s)


app.command()(evaluate)


@app.command()
def status(as_json: Json = False) -> None:
    """Show counts, what the index was built with, and whether all is well."""
    with open_engine() as engine:
        found = engine.status()
    row = rows.status(found)
    if as_json:
        console.emit(row)
    else:
        for problem in found.problems:
            console.problem(problem)
        told = ("problems", "healthy", "usage")
        flat = [{"what": name, "value": value} for name, value in row.items() if name not in told]
        flat += [{"what": f"usage of {one.generator}", "value": one.usage.label} for one in found.usage]
        console.table([{"what": "healthy", "value": found.healthy}, *flat], ("what", "value"))
    if not found.healthy:
        raise typer.Exit(FAILED)


def _added(
    engine: Engine, given: Iterator[Source], how: dict[str, Any], bars: console.JobBars
) -> Iterator[dict[str, Any]]:
    """A row a file, as soon as it ends."""
    waiting: dict[str, str] = {}
    for source in given:
        if source.problem:
            yield rows.refused(source.shown, source.problem)
            continue
        waiting[engine.submit(source.name, source.data, **how).job_id] = source.shown
        if len(waiting) >= AHEAD:
            yield from _ended(engine, waiting, AHEAD - 1, bars)
    yield from _ended(engine, waiting, 0, bars)


def _ended(engine: Engine, waiting: dict[str, str], most: int, bars: console.JobBars) -> Iterator[dict[str, Any]]:
    """Rows of files that end, until at most ``most`` are waiting."""
    while len(waiting) > most:
        for job in engine.as_ended(list(waiting), bars.show):
            yield rows.added(waiting.pop(job.job_id), job, _document(engine, job))
            if len(waiting) <= most:
                return


def _document(engine: Engine, job: Job) -> Any:
    if job.document_id is None:
        return None
    try:
        return engine.document(job.document_id)
    except UnknownDocument:  # deleted since
        return None


def _line(row: dict[str, Any]) -> str:
    counts = f"{row['pages']} pages, {row['chunks']} chunks, {row['seconds']:.1f} s" if row["chunks"] else ""
    return "  ".join(part for part in (f"{row['status']:9}", row["file"], counts, row["reason"]) if part)


def _each_question(
    run: Any, show: Any, question: str | None, file: Path | None, documents: list[str] | None, as_json: bool
) -> None:
    if (question is None) == (file is None):
        raise typer.BadParameter("Give either QUESTION or --questions FILE.")
    asked: list[dict[str, Any]] = [{"id": None, "question": question}] if file is None else _read_questions(file)
    failed = False
    with open_engine() as engine:
        for one in asked:
            try:
                row = run(engine, one["question"], one.get("documents") or documents, one["id"])
            except (QuestionError, UnknownDocument) as error:
                if file is None:
                    raise
                failed = True
                row = {"id": one["id"], "question": one["question"], "error": str(error)}
            if as_json:
                console.emit(row)
            elif "error" in row:
                console.problem(row["error"])
            else:
                show(row)
    if failed:
        raise typer.Exit(SOME_FAILED)


def _read_questions(file: Path) -> list[dict[str, Any]]:
    found = []
    try:
        # Split at line feeds alone: JSON may hold other line ends as they are.
        lines = file.read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{file} cannot be read ({error}).") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            found.append({"id": row["id"], "question": row["question"], "documents": row.get("documents")})
            names = found[-1]["documents"] or []
            if not isinstance(row["question"], str) or not isinstance(names, list):
                raise TypeError
            if not all(isinstance(name, str) for name in names):
                raise TypeError
        except (ValueError, KeyError, TypeError, AttributeError):
            raise typer.BadParameter(
                f'Line {number} of {file} is not a JSON object with "id", "question" and maybe a list "documents".'
            ) from None
    return found


def main() -> None:
    """Run a command; every error that is foreseen is one line on standard error."""
    # What libraries warn of is for developers; a person can do nothing about it.
    warnings.filterwarnings("ignore")
    for stream in (sys.stdout, sys.stderr):
        # A file's name need not be Unicode, nor a terminal able to show all of it.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code = app(standalone_mode=False)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        sys.exit(code)
    except TyperException as error:
        _say(RagError(error.format_message()), WRONG_USE)
    except (LabelError, QuestionError, UnknownDocument, SettingsError) as error:
        _say(error, WRONG_USE)
    except RagError as error:
        _say(error, FAILED)
    except KeyboardInterrupt:
        _say(RagError("Stopped; what was not finished goes on at the next start."), FAILED)
    except Exception as error:  # the last line of defence: never a traceback without --debug
        if options.get("debug"):
            raise
        _say(
            RagError(f"An internal error: {type(error).__name__}: {error}. Run with --debug for details."),
            FAILED,
        )


def _say(error: Exception, code: int) -> None:
    if options.get("debug"):
        raise error
    console.problem(str(error))
    sys.exit(code)
