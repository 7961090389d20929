"""What the commands share: the global options, the engine opened as they say, and the exit codes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from rag_core.engine import Engine
from rag_core.settings import load_settings

WRONG_USE, SOME_FAILED, FAILED = 2, 3, 1

options: dict[str, Any] = {}

Json = Annotated[bool, typer.Option("--json", help="One JSON object a line on standard output.")]


@contextmanager
def open_engine() -> Iterator[Engine]:
    """The engine over the data folder that was named, closed in the end."""
    with Engine(load_settings(data_dir=options["data_dir"])) as engine:
        yield engine
