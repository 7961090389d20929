"""Code that all commands share: the global options, opening the engine, and the exit codes."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel

from rag_core.api.client import RunningApp
from rag_core.cli import console
from rag_core.engine import Engine
from rag_core.errors import DataFolderInUse, RagError
from rag_core.settings import Settings, load_settings
from rag_core.types.evaluation import Label
from rag_core.types.jobs import Job, JobState

T = TypeVar("T")
Line = TypeVar("Line", bound=BaseModel)
# Exit codes: wrong arguments, some files or questions failed, and the command failed.
WRONG_USE, SOME_FAILED, FAILED = 2, 3, 1

# The global options of the command line, by name.
options: dict[str, Any] = {}

DocumentNames = Annotated[list[str], typer.Argument(help="Names or ids.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object per line on standard output.")]


def read_settings() -> Settings:
    """Return the settings, with the data folder in ``options``."""
    return load_settings(data_dir=options["data_dir"])


@contextmanager
def open_engine() -> Iterator[Engine]:
    """Yield the engine for the data folder in ``options``, and close it at the end."""
    with Engine(read_settings()) as engine:
        yield engine


@contextmanager
def open_engine_or_app() -> Iterator[Engine | RunningApp]:
    """Yield the engine for the data folder in ``options``, or the running application that has the folder open."""
    try:
        engine = Engine(read_settings())
    except DataFolderInUse as error:
        if not error.address:
            raise
        with RunningApp(error.address) as running:
            yield running
    else:
        with engine:
            yield engine


def exit_unless_done(job: Job, code: int = FAILED) -> None:
    """If a job has failed or was cancelled, print why and end the command with an exit code."""
    if job.state is not JobState.DONE:
        console.print_problem(job.reason)
        raise typer.Exit(code)


def wait_for_result(events: Generator[Any, None, None], result: type[T], name: str, if_stopped: str) -> T:
    """Return the event of the type ``result`` from a long run; show the progress that the other events report.

    Raises
    ------
    RagError
        The run was interrupted from the keyboard, and the message contains ``if_stopped``, the consequence; or the run
        ended without a result.
    """
    stage = ""
    try:
        with closing(events), console.counter(name) as count:
            for event in events:
                if isinstance(event, result):
                    return event
                if getattr(event, "stage", stage) != stage:
                    stage = event.stage
                    console.print_note(f"{stage} …")
                count(event.done, event.total)
    except KeyboardInterrupt:
        raise RagError(f"Stopped before the end. {if_stopped}") from None
    raise RagError(f"The run of {name} ended without a result.")


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8; raise `typer.BadParameter` if it cannot be read."""
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{path} cannot be read as text in UTF-8 ({error}). Name another file.") from None


def read_json_lines(path: Path, model: type[Line], content: str) -> list[Line]:
    """Return the objects of a file with one JSON object per line.

    Raises
    ------
    typer.BadParameter
        The file cannot be read, or a line is not a JSON object with the fields of ``model``. The message names these
        fields with ``content``.
    """
    rows = []
    # Split only at line feeds: a JSON string may contain other line separators, such as U+2028.
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            try:
                rows.append(model.model_validate(json.loads(line)))
            except (ValueError, RecursionError):
                raise typer.BadParameter(f"Line {number} of {path} is not a JSON object with {content}.") from None
    return rows


def read_labels(engine: Engine, path: Path) -> Sequence[Label]:
    """Return the labelled questions of a file; may raise `typer.BadParameter` or `LabelError`."""
    try:
        return engine.labels.parse_file(path.name, path.read_bytes())
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be read ({error.strerror}).") from None
