"""A function that runs commands, and a library for them."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from rag_core.cli import app as cli
from tests.support.cli import HARBOUR, ORCHARD, PAGES, Run
from tests.support.engines import open_library


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


@pytest.fixture(scope="session")
def indexed_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder with two documents, which tests copy."""
    folder = tmp_path_factory.mktemp("library") / "data"
    with open_library(folder, PAGES):
        return folder


@pytest.fixture
def library(tmp_path: Path, indexed_data: Path) -> Path:
    """Fill the data folder with two documents; return the folder that contains their files."""
    shutil.copytree(indexed_data, tmp_path / "data")
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, data in zip(PAGES, (HARBOUR, ORCHARD), strict=True):
        (folder / name).write_bytes(data)
    return folder
