"""Documents and names for the tests of the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_core.cli import app as cli
from tests.support.pdfs import make_pdf

ROOT = Path(__file__).parents[2]
PAGES = {
    "harbour.pdf": ["The harbour of Brennick was dredged in 1931 by forty men.", "Its lighthouse is painted red."],
    "orchard.pdf": ["The orchard of Tolm bears quinces, and its owner sells them in October."],
}
HARBOUR, ORCHARD = (make_pdf(*pages) for pages in PAGES.values())
QUESTION = "When was the harbour of Brennick dredged?"
Run = Callable[..., tuple[int, list[dict[str, Any]], str]]


def run_command(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str, as_json: bool = True
) -> tuple[int, list[dict[str, Any]], str]:
    """Run a command on a data folder; return exit code, rows of standard output, and standard error."""
    arguments = ["--data-dir", str(data), *words, *(["--json"] if as_json else [])]
    monkeypatch.setattr(sys, "argv", ["rag_core", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    shown = capsys.readouterr()
    rows = [json.loads(line) for line in shown.out.splitlines()] if as_json else [{"shown": shown.out}]
    return int(ended.value.code or 0), rows, shown.err
