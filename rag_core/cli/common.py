"""Code that all commands share: the global options, opening the engine, and the exit codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from rag_core.engine import Engine
from rag_core.settings import Settings, load_settings
from rag_core.types import Label

WRONG_USE, SOME_FAILED, FAILED = 2, 3, 1

options: dict[str, Any] = {}

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object per line on standard output.")]


def read_settings() -> Settings:
    """Return the settings, with the data folder in ``options``."""
    return load_settings(data_dir=options["data_dir"])


@contextmanager
def open_engine() -> Iterator[Engine]:
    """Yield the engine for the data folder in ``options``, and close it at the end."""
    with Engine(read_settings()) as engine:
        yield engine


def read_labels(engine: Engine, path: Path) -> Sequence[Label]:
    """Return the labelled questions of a file; may raise `typer.BadParameter` or `LabelError`."""
    try:
        return engine.labels.parse_file(path.name, path.read_bytes())
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be read ({error.strerror}).") from None
