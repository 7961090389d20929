"""A watched folder and the library stay in step."""

from __future__ import annotations

import errno
import os
import random
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.errors import SettingsError, StoreUnavailable
from rag_core.indexing.removal import Removal
from rag_core.store.watches import WatchStore
from rag_core.types import DeleteReceipt
from tests.support.engines import (
    BUDGET,
    COPPER,
    PENGUINS,
    add_document,
    assert_in_agreement,
    indexed,
    opened,
    page_text,
)
from tests.support.pdfs import make_pdf


def look(engine: Engine, folder: Path) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Look at a folder, wait for what it brings, and say what was added, changed and removed."""
    found = engine.watches.sync(engine.watches.add(str(folder)).watch_id)
    assert found is not None
    engine.jobs.wait([job.job_id for job in engine.jobs.list(active=True)])
    return found.added, found.changed, found.removed


@pytest.fixture(autouse=True)
def _nothing_is_watched_afterwards(engine: Engine) -> Iterator[None]:
    yield
    for watch in engine.watches.list():
        engine.watches.remove(watch.watch_id)


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
    assert len(engine.documents.list()) == 2
    (folder / "deeper" / "orchard.PDF").unlink()
    assert look(engine, folder) == ((), (), ("deeper/orchard.PDF",))
    assert [one.name for one in engine.documents.list()] == ["harbour.pdf"]


def test_a_folder_that_cannot_be_reached_removes_nothing(engine: Engine, folder: Path) -> None:
    look(engine, folder)
    shutil.move(folder, folder.with_name("elsewhere"))
    watch = engine.watches.list()[0]
    found = engine.watches.sync(watch.watch_id)
    assert found is not None
    assert not folder.exists()
    assert "cannot be reached" in found.problem
    assert engine.watches.list()[0].problem == found.problem
    assert len(engine.documents.list()) == 2


@pytest.mark.parametrize("unreadable", ["deeper", "deeper/still"])
def test_a_folder_within_that_cannot_be_read_removes_nothing(
    engine: Engine, folder: Path, unreadable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "deeper" / "still").mkdir()
    (folder / "deeper" / "still" / "bridge.pdf").write_bytes(make_pdf(BUDGET))
    look(engine, folder)
    (folder / "harbour.pdf").unlink()
    (folder / "new.pdf").write_bytes(make_pdf(COPPER))
    real = os.scandir

    def scandir(path: str) -> object:
        if str(path) == str(folder / unreadable):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", scandir)
        assert look(engine, folder) == (("new.pdf",), (), ("harbour.pdf",))
        assert sorted(library(engine)) == ["bridge.pdf", "new.pdf", "orchard.PDF"]
        assert engine.watches.list()[0].problem == f"{unreadable} cannot be read (Permission denied)."
    assert look(engine, folder) == ((), (), ())
    assert engine.watches.list()[0].problem == ""


def test_a_name_that_is_not_utf_8_is_watched_like_any_other(engine: Engine, inbox: Path) -> None:
    latin = inbox / os.fsdecode(b"caf\xe9") / os.fsdecode(b"caf\xe9.pdf")
    latin.parent.mkdir()
    latin.write_bytes(make_pdf(BUDGET))
    (inbox / "z.pdf").write_bytes(make_pdf(COPPER))
    assert look(engine, inbox) == (("./caf%E9/caf%E9.pdf", "z.pdf"), (), ())
    assert library(engine) == {"caf\ufffd.pdf": first_words(BUDGET), "z.pdf": first_words(COPPER)}
    assert look(engine, inbox) == ((), (), ())
    latin.write_bytes(make_pdf(PENGUINS))
    assert look(engine, inbox) == ((), ("./caf%E9/caf%E9.pdf",), ())
    latin.unlink()
    assert look(engine, inbox) == ((), (), ("./caf%E9/caf%E9.pdf",))
    assert library(engine) == {"z.pdf": first_words(COPPER)}
    with pytest.raises(SettingsError, match="cannot be watched"):
        engine.watches.add(str(latin.parent))


def test_what_one_folder_brings_out_is_told_and_ends_no_watching(
    tmp_path: Path, inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = tmp_path / "bad"
    bad.mkdir()
    real, seen = WatchStore.files, threading.Event()

    def files(store: WatchStore, watch_id: str) -> object:
        if watch_id == broken:
            raise KeyError("a bug")
        if failed:
            seen.set()
        failed.append(True)
        return real(store, watch_id)

    with opened(tmp_path / "data", watch_interval_s=0.05) as engine:
        broken = engine.watches.add(str(bad)).watch_id
        engine.watches.add(str(inbox))
        failed: list[bool] = []
        monkeypatch.setattr(WatchStore, "files", files)
        engine.watches.start()
        assert seen.wait(30)
        assert "An internal error" in engine.watches.list()[0].problem
        assert engine.watches.list()[1].problem == ""


def test_a_document_that_was_there_before_outlives_the_folder_s_copy(engine: Engine, folder: Path) -> None:
    add_document(engine, "uploaded.pdf", (folder / "harbour.pdf").read_bytes())
    look(engine, folder)
    assert sorted(one.name for one in engine.documents.list()) == ["orchard.PDF", "uploaded.pdf"]
    (folder / "harbour.pdf").unlink()
    look(engine, folder)
    assert sorted(one.name for one in engine.documents.list()) == ["orchard.PDF", "uploaded.pdf"]


def test_files_of_one_name_in_two_folders_are_two_documents(engine: Engine, folder: Path) -> None:
    (folder / "deeper" / "harbour.pdf").write_bytes(make_pdf("Another harbour lies further north."))
    look(engine, folder)
    assert sorted(one.name for one in engine.documents.list()) == ["harbour (2).pdf", "harbour.pdf", "orchard.PDF"]


def test_a_deleted_document_does_not_come_back_by_itself(engine: Engine, folder: Path) -> None:
    look(engine, folder)
    engine.documents.delete(engine.documents.find_ids(["harbour.pdf"]))
    assert look(engine, folder) == ((), (), ())
    assert [one.name for one in engine.documents.list()] == ["orchard.PDF"]


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    """An empty folder."""
    path = tmp_path / "empty"
    path.mkdir()
    return path


def library(engine: Engine) -> dict[str, str]:
    """The first words of each document by its name."""
    assert_in_agreement(engine)
    return {one.name: page_text(engine, one.document_id, 0).split(".")[0] for one in engine.documents.list()}


def first_words(text: str) -> str:
    return text.split(".")[0]


def test_a_renamed_file_takes_its_document_along(engine: Engine, inbox: Path) -> None:
    (inbox / "draft.pdf").write_bytes(make_pdf(BUDGET))
    look(engine, inbox)
    (inbox / "draft.pdf").rename(inbox / "final.pdf")
    assert look(engine, inbox) == (("final.pdf",), (), ("draft.pdf",))
    assert list(library(engine).values()) == [first_words(BUDGET)]
    (inbox / "final.pdf").write_bytes(make_pdf(PENGUINS))
    assert look(engine, inbox) == ((), ("final.pdf",), ())
    assert list(library(engine).values()) == [first_words(PENGUINS)]
    (inbox / "final.pdf").unlink()
    look(engine, inbox)
    assert library(engine) == {}


def test_a_document_goes_with_the_last_of_its_files(engine: Engine, inbox: Path) -> None:
    for name in ("a.pdf", "b.pdf", "c.pdf"):
        (inbox / name).write_bytes(make_pdf(BUDGET))
    look(engine, inbox)
    (inbox / "a.pdf").unlink()
    look(engine, inbox)
    assert len(library(engine)) == 1
    (inbox / "b.pdf").unlink()
    (inbox / "c.pdf").unlink()
    assert look(engine, inbox) == ((), (), ("b.pdf", "c.pdf"))
    assert library(engine) == {}


def test_a_file_that_becomes_a_copy_of_another_leaves_its_own_document(engine: Engine, inbox: Path) -> None:
    (inbox / "a.pdf").write_bytes(make_pdf(BUDGET))
    (inbox / "b.pdf").write_bytes(make_pdf(PENGUINS))
    look(engine, inbox)
    (inbox / "a.pdf").write_bytes(make_pdf(PENGUINS))
    assert look(engine, inbox) == ((), ("a.pdf",), ())
    assert library(engine) == {"b.pdf": first_words(PENGUINS)}
    (inbox / "a.pdf").unlink()
    (inbox / "b.pdf").unlink()
    look(engine, inbox)
    assert library(engine) == {}


def test_files_that_change_places_keep_both_documents(engine: Engine, inbox: Path) -> None:
    (inbox / "a.pdf").write_bytes(make_pdf(BUDGET))
    (inbox / "b.pdf").write_bytes(make_pdf(PENGUINS))
    look(engine, inbox)
    before = sorted(one.document_id for one in engine.documents.list())
    (inbox / "a.pdf").write_bytes(make_pdf(PENGUINS))
    (inbox / "b.pdf").write_bytes(make_pdf(BUDGET))
    look(engine, inbox)
    assert sorted(one.document_id for one in engine.documents.list()) == before
    (inbox / "a.pdf").unlink()
    look(engine, inbox)
    assert list(library(engine).values()) == [first_words(BUDGET)]


def test_a_copy_that_is_changed_leaves_the_original_s_content(engine: Engine, inbox: Path) -> None:
    for name in ("a.pdf", "b.pdf"):
        (inbox / name).write_bytes(make_pdf(BUDGET))
    look(engine, inbox)
    (inbox / "a.pdf").write_bytes(make_pdf(PENGUINS))
    look(engine, inbox)
    assert sorted(library(engine).values()) == sorted([first_words(BUDGET), first_words(PENGUINS)])


def test_a_folder_that_is_watched_again_brings_its_documents_up_to_date(engine: Engine, inbox: Path) -> None:
    for place, text in (("x", BUDGET), ("y", PENGUINS)):
        (inbox / place).mkdir()
        (inbox / place / "a.pdf").write_bytes(make_pdf(text))
    look(engine, inbox)
    engine.watches.remove(engine.watches.list()[0].watch_id)
    look(engine, inbox)
    (inbox / "y" / "a.pdf").write_bytes(make_pdf(COPPER))
    look(engine, inbox)
    assert library(engine) == {"a.pdf": first_words(BUDGET), "a (2).pdf": first_words(COPPER)}
    shutil.rmtree(inbox / "y")
    look(engine, inbox)
    assert len(library(engine)) == 2, "documents outlive the watch that brought them"


def test_a_changed_file_leaves_what_was_uploaded_under_another_name(engine: Engine, inbox: Path) -> None:
    indexed(engine, "uploaded.pdf", BUDGET)
    (inbox / "a.pdf").write_bytes(make_pdf(BUDGET))
    look(engine, inbox)
    (inbox / "a.pdf").write_bytes(make_pdf(PENGUINS))
    look(engine, inbox)
    assert library(engine) == {"uploaded.pdf": first_words(BUDGET), "a.pdf": first_words(PENGUINS)}


def test_a_document_of_two_folders_goes_when_both_have_lost_it(engine: Engine, inbox: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for folder in (inbox, other):
        (folder / "a.pdf").write_bytes(make_pdf(BUDGET))
        look(engine, folder)
    (inbox / "a.pdf").unlink()
    look(engine, inbox)
    assert list(library(engine)) == ["a.pdf"]
    (other / "a.pdf").unlink()
    look(engine, other)
    assert library(engine) == {}


def test_a_removal_that_fails_is_told_and_made_up_for(
    engine: Engine, inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (inbox / "a.pdf").write_bytes(make_pdf(BUDGET))
    look(engine, inbox)
    (inbox / "a.pdf").unlink()

    def fails(_removal: Removal, _document_id: str) -> DeleteReceipt:
        raise StoreUnavailable("Chroma does not answer.")

    with monkeypatch.context() as patch:
        patch.setattr(Removal, "document", fails)
        assert look(engine, inbox) == ((), (), ())
        assert engine.watches.list()[0].problem == "Chroma does not answer."
    assert look(engine, inbox) == ((), (), ("a.pdf",))
    assert engine.watches.list()[0].problem == ""
    assert library(engine) == {}


def test_a_folder_that_is_gone_is_still_found_among_those_watched(engine: Engine, inbox: Path) -> None:
    look(engine, inbox)
    watch = engine.watches.list()[0]
    inbox.rmdir()
    assert engine.watches.add(str(inbox)) == watch
    found = engine.watches.find(str(inbox))
    assert found == watch
    assert engine.watches.find(str(inbox / "deeper")) is None
    gone = engine._stores.watches.add("nosuchkind://bucket/folder", "default")
    assert engine.watches.find(gone.url) == gone, "its driver may be gone as well"


@pytest.mark.parametrize("seed", [1, 2])
def test_the_library_holds_what_the_folder_holds_whatever_is_done_to_its_files(
    engine: Engine, inbox: Path, seed: int
) -> None:
    dice = random.Random(seed)
    contents = {make_pdf(text): first_words(text) for text in (BUDGET, PENGUINS, COPPER)}
    (inbox / "deeper").mkdir()
    files = [inbox / name for name in ("a.pdf", "b.pdf", "deeper/a.pdf")]
    for _ in range(12):
        for _ in range(dice.randint(1, 3)):
            source, target = dice.sample(files, 2)
            done = dice.choice(["write", "copy", "move", "delete"])
            if done == "write":
                target.write_bytes(dice.choice(list(contents)))
            elif source.exists() and done == "copy":
                shutil.copyfile(source, target)
            elif source.exists() and done == "move":
                source.rename(target)
            elif source.exists():
                source.unlink()
        look(engine, inbox)
        there = {contents[file.read_bytes()] for file in files if file.exists()}
        assert sorted(library(engine).values()) == sorted(there)


def test_what_is_no_folder_is_refused(engine: Engine, folder: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be watched"):
        engine.watches.add(str(folder / "missing"))
    with pytest.raises(SettingsError, match="cannot be watched"):
        engine.watches.add("nosuchkind://bucket/folder")
