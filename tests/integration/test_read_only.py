"""A data folder without write access can be read, and refuses changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.errors import DataFolderUnwritable
from tests.support.engines import indexed, opened


def test_folder_without_write_access_is_read_and_not_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path) as engine:
        document_id = indexed(engine, "mill.pdf", "The mill of Arle was built in 1742 by Jan Voss.")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    # The tests may run as root, to whom every folder is writable.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with opened(tmp_path) as engine:
        assert [one.name for one in engine.documents.list()] == ["mill.pdf"]
        assert "Jan Voss" in engine.answer("Who built the mill of Arle?").text
        for change in (
            lambda: engine.documents.delete([document_id]),
            lambda: engine.snapshots.create("now"),
            lambda: _start_conversation(engine),
        ):
            with pytest.raises(DataFolderUnwritable, match=f"The data folder {tmp_path} cannot be written"):
                change()
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def _start_conversation(engine: Engine) -> None:
    engine.conversations.create()
