"""A data folder without write access can be read, and refuses changes."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from rag_core.errors import DataFolderInUse, DataFolderUnwritable
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
        ):
            with pytest.raises(DataFolderUnwritable, match=f"The data folder {tmp_path} cannot be written"):
                change()
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_folder_that_another_process_has_open_is_copied_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as writer:
        indexed(writer, "mill.pdf", "The mill of Arle was built in 1742 by Jan Voss.")
        monkeypatch.setattr(os, "access", lambda *_: False)
        with opened(tmp_path) as reader:
            assert "Jan Voss" in reader.answer("Who built the mill of Arle?").text
        stopped = threading.Event()

        def write() -> None:
            while not stopped.is_set():
                writer.conversations.create()

        thread = threading.Thread(target=write)
        thread.start()
        try:
            with pytest.raises(DataFolderInUse, match="another process is changing it"):
                opened(tmp_path)
        finally:
            stopped.set()
            thread.join()
