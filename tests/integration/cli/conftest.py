"""A function that runs commands, and a library for them."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

from tests.support.cli import HARBOUR, ORCHARD, PAGES, Run, run_command
from tests.support.engines import open_library


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command with ``--json`` on the data folder of the test."""
    return partial(run_command, tmp_path / "data", monkeypatch, capsys)


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
