"""A function that runs commands, and a library for them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from rag_core.cli import app as cli
from tests.support.cli import HARBOUR, ORCHARD, Run


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command with ``--json``; return exit code, rows of standard output, and standard error."""

    def command(*words: str, as_json: bool = True) -> tuple[int, list[dict[str, Any]], str]:
        arguments = ["--data-dir", str(tmp_path / "data"), *words, *(["--json"] if as_json else [])]
        monkeypatch.setattr(sys, "argv", ["rag_core", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        shown = capsys.readouterr()
        rows = [json.loads(line) for line in shown.out.splitlines()] if as_json else [{"shown": shown.out}]
        return int(ended.value.code or 0), rows, shown.err

    return command


@pytest.fixture
def library(tmp_path: Path, run: Run) -> Path:
    """Index two documents; return the folder that contains their files."""
    folder = tmp_path / "papers"
    (folder / "deeper").mkdir(parents=True)
    (folder / "harbour.pdf").write_bytes(HARBOUR)
    (folder / "deeper" / "orchard.pdf").write_bytes(ORCHARD)
    code, rows, _ = run("add", str(folder))
    assert code == 0
    statuses = {Path(row["file"]).name: row["status"] for row in rows}
    assert statuses == {"harbour.pdf": "indexed", "orchard.pdf": "indexed"}
    return folder
