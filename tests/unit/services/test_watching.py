"""A watched folder and the library stay in step."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.errors import SettingsError
from tests.conftest import make_pdf


def look(engine: Engine, folder: Path) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Look at a folder, wait for what it brings, and say what was added, changed and removed."""
    found = engine.sync_watch(engine.watch(str(folder)).watch_id)
    assert found is not None
    engine.wait([job.job_id for job in engine.jobs(active=True)])
    return found.added, found.changed, found.removed


@pytest.fixture(autouse=True)
def _nothing_is_watched_afterwards(engine: Engine) -> Iterator[None]:
    yield
    for watch in engine.watches():
        engine.unwatch(watch.watch_id)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "inbox"
    (path / "deeper").mkdir(parents=True)
    (path / "harbour.pdf").write_bytes(make_pdf("The harbour was dredged in 1931."))
    (path / "deeper" / "orchard.PDF").write_bytes(make_pdf("The orchard bears quinces."))
    (path / "notes.txt").write_text("not a PDF")
    return path


def test_files_are_added_changed_and_removed(engine: Engine, folder: Path) -> None:
    assert look(engine, folder) == (("deeper/orchard.PDF", "harbour.pdf"), (), ())
    assert look(engine, folder) == ((), (), ())
    (folder / "harbour.pdf").write_bytes(make_pdf("The harbour was filled in during 1977, at great expense."))
    assert look(engine, folder) == ((), ("harbour.pdf",), ())
    assert "1977" in engine.search("When was the harbour filled in?").passages[0].text
    assert len(engine.documents()) == 2
    (folder / "deeper" / "orchard.PDF").unlink()
    assert look(engine, folder) == ((), (), ("deeper/orchard.PDF",))
    assert [one.name for one in engine.documents()] == ["harbour.pdf"]


def test_a_folder_that_cannot_be_reached_removes_nothing(engine: Engine, folder: Path) -> None:
    look(engine, folder)
    shutil.move(folder, folder.with_name("elsewhere"))
    watch = engine.watches()[0]
    found = engine.sync_watch(watch.watch_id)
    assert found is not None
    assert not folder.exists()
    assert "cannot be reached" in found.problem
    assert engine.watches()[0].problem == found.problem
    assert len(engine.documents()) == 2


def test_a_document_that_was_there_before_outlives_the_folder_s_copy(engine: Engine, folder: Path) -> None:
    engine.add("uploaded.pdf", (folder / "harbour.pdf").read_bytes())
    look(engine, folder)
    assert sorted(one.name for one in engine.documents()) == ["orchard.PDF", "uploaded.pdf"]
    (folder / "harbour.pdf").unlink()
    look(engine, folder)
    assert sorted(one.name for one in engine.documents()) == ["orchard.PDF", "uploaded.pdf"]


def test_files_of_one_name_in_two_folders_are_two_documents(engine: Engine, folder: Path) -> None:
    (folder / "deeper" / "harbour.pdf").write_bytes(make_pdf("Another harbour lies further north."))
    look(engine, folder)
    assert sorted(one.name for one in engine.documents()) == ["harbour (2).pdf", "harbour.pdf", "orchard.PDF"]


def test_a_deleted_document_does_not_come_back_by_itself(engine: Engine, folder: Path) -> None:
    look(engine, folder)
    engine.delete(engine.resolve(["harbour.pdf"]))
    assert look(engine, folder) == ((), (), ())
    assert [one.name for one in engine.documents()] == ["orchard.PDF"]


def test_what_is_no_folder_is_refused(engine: Engine, folder: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be watched"):
        engine.watch(str(folder / "missing"))
    with pytest.raises(SettingsError, match="cannot be watched"):
        engine.watch("nosuchkind://bucket/folder")
