"""Code that all commands share: the global options, opening the engine, and the exit codes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from rag_core.engine import Engine
from rag_core.settings import Settings, load_settings

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
