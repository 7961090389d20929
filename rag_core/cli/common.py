"""Code that all commands share: the global options, opening the engine, and the exit codes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from rag_core.engine import Engine
from rag_core.settings import load_settings

WRONG_USE, SOME_FAILED, FAILED = 2, 3, 1

options: dict[str, Any] = {}

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object per line on standard output.")]


@contextmanager
def open_engine() -> Iterator[Engine]:
    """Yield the engine for the data folder in ``options``, and close it at the end."""
    with Engine(load_settings(data_dir=options["data_dir"])) as engine:
        yield engine


def models_folder() -> Path:
    """Return the folder of the downloaded language models."""
    return load_settings(data_dir=options["data_dir"]).data_dir / "models"
