"""Synchronization of the library with watched folders."""

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
from rag_core.errors import SettingsError
from rag_core.indexing.removal import Removal
from rag_core.indexing.watches import Watches
from rag_core.store.watches import WatchStore
from tests.support.engines import (
    BUDGET,
    COPPER,
    PENGUINS,
    add_document,
    assert_in_agreement,
    failing,
    idle,
    indexed,
    opened,
    page_text,
)
from tests.support.pdfs import make_pdf


def sync(engine: Engine, folder: Path) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Synchronize a folder and wait for its jobs; return the names of added, changed and removed files."""
    report = engine.watches.sync(engine.watches.add(str(folder)).watch_id)
    assert report is not None
    idle(engine)
    return report.added, report.changed, report.removed


def write(folder: Path, **files: str) -> None:
    """Write PDFs, given as their texts by name."""
    for name, text in files.items():
        (folder / f"{name}.pdf").write_bytes(make_pdf(text))


def names(engine: Engine) -> list[str]:
    return sorted(document.name for document in engine.documents.list())


def library(engine: Engine) -> dict[str, str]:
    """Return the first sentence of each document by its name."""
    assert_in_agreement(engine)
    documents = engine.documents.list()
    return {document.name: first_sentence(page_text(engine, document.document_id, 0)) for document in documents}


def first_sentence(text: str) -> str:
    return text.split(".")[0]


@pytest.fixture(autouse=True)
def _remove_watches(engine: Engine) -> Iterator[None]:
    yield
    for watch in engine.watches.list():
        engine.watches.remove(watch.watch_id)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two PDFs and a file of another format."""
    path = tmp_path / "inbox"
    (path / "deeper").mkdir(parents=True)
    (path / "harbour.pdf").write_bytes(make_pdf("The harbour was dredged in 1931."))
    (path / "deeper" / "orchard.PDF").write_bytes(make_pdf("The orchard bears quinces."))
    (path / "notes.dat").write_text("no document")
    return path


def test_files_are_added_changed_and_removed(engine: Engine, folder: Path) -> None:
    assert sync(engine, folder) == (("deeper/orchard.PDF", "harbour.pdf"), (), ())
    assert sync(engine, folder) == ((), (), ())
    (folder / "harbour.pdf").write_bytes(make_pdf("The harbour was filled in during 1977, at great expense."))
    assert sync(engine, folder) == ((), ("harbour.pdf",), ())
    assert "1977" in engine.search("When was the harbour filled in?").passages[0].text
    assert len(engine.documents.list()) == 2
    (folder / "deeper" / "orchard.PDF").unlink()
    assert sync(engine, folder) == ((), (), ("deeper/orchard.PDF",))
    assert names(engine) == ["harbour.pdf"]


def test_unreachable_folder_removes_no_documents(engine: Engine, folder: Path) -> None:
    sync(engine, folder)
    shutil.move(folder, folder.with_name("elsewhere"))
    watch = engine.watches.list()[0]
    report = engine.watches.sync(watch.watch_id)
    assert report is not None
    assert not folder.exists()
    assert "cannot be reached" in report.problem
    assert engine.watches.list()[0].problem == report.problem
    assert len(engine.documents.list()) == 2


@pytest.mark.parametrize("unreadable", ["deeper", "deeper/still"])
def test_unreadable_subfolder_removes_no_documents(
    engine: Engine, folder: Path, unreadable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "deeper" / "still").mkdir()
    (folder / "deeper" / "still" / "bridge.pdf").write_bytes(make_pdf(BUDGET))
    sync(engine, folder)
    (folder / "harbour.pdf").unlink()
    (folder / "new.pdf").write_bytes(make_pdf(COPPER))
    scandir = os.scandir

    def refuse(path: str) -> object:
        if str(path) == str(folder / unreadable):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scandir(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", refuse)
        assert sync(engine, folder) == (("new.pdf",), (), ("harbour.pdf",))
        assert sorted(library(engine)) == ["bridge.pdf", "new.pdf", "orchard.PDF"]
        assert engine.watches.list()[0].problem == f"{unreadable} cannot be read (Permission denied)."
    assert sync(engine, folder) == ((), (), ())
    assert engine.watches.list()[0].problem == ""


def test_name_that_is_not_utf_8_is_synchronized(engine: Engine, inbox: Path) -> None:
    latin = inbox / os.fsdecode(b"caf\xe9") / os.fsdecode(b"caf\xe9.pdf")
    latin.parent.mkdir()
    latin.write_bytes(make_pdf(BUDGET))
    write(inbox, z=COPPER)
    assert sync(engine, inbox) == (("./caf%E9/caf%E9.pdf", "z.pdf"), (), ())
    assert library(engine) == {"caf\ufffd.pdf": first_sentence(BUDGET), "z.pdf": first_sentence(COPPER)}
    assert sync(engine, inbox) == ((), (), ())
    latin.write_bytes(make_pdf(PENGUINS))
    assert sync(engine, inbox) == ((), ("./caf%E9/caf%E9.pdf",), ())
    latin.unlink()
    assert sync(engine, inbox) == ((), (), ("./caf%E9/caf%E9.pdf",))
    assert library(engine) == {"z.pdf": first_sentence(COPPER)}
    with pytest.raises(SettingsError, match="cannot be watched"):
        engine.watches.add(str(latin.parent))


def test_error_in_one_folder_does_not_stop_the_others(
    tmp_path: Path, inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad").mkdir()
    files, calls, repeated = WatchStore.files, list[str](), threading.Event()

    def fail_for_bad(store: WatchStore, watch_id: str) -> object:
        if watch_id == bad.watch_id:
            raise KeyError("a bug")
        if calls:
            repeated.set()
        calls.append(watch_id)
        return files(store, watch_id)

    monkeypatch.setattr(Watches, "interval_s", 0.05)
    with opened(tmp_path / "data") as engine:
        bad = engine.watches.add(str(tmp_path / "bad"))
        engine.watches.add(str(inbox))
        monkeypatch.setattr(WatchStore, "files", fail_for_bad)
        engine.watches.start()
        assert repeated.wait(30)
        assert "An internal error" in engine.watches.list()[0].problem
        assert engine.watches.list()[1].problem == ""


def test_earlier_document_survives_removal_of_its_copy(engine: Engine, folder: Path) -> None:
    add_document(engine, "uploaded.pdf", (folder / "harbour.pdf").read_bytes())
    sync(engine, folder)
    assert names(engine) == ["orchard.PDF", "uploaded.pdf"]
    (folder / "harbour.pdf").unlink()
    sync(engine, folder)
    assert names(engine) == ["orchard.PDF", "uploaded.pdf"]


def test_files_of_one_name_in_two_folders_are_two_documents(engine: Engine, folder: Path) -> None:
    (folder / "deeper" / "harbour.pdf").write_bytes(make_pdf("Another harbour lies further north."))
    sync(engine, folder)
    assert names(engine) == sorted(["deeper/harbour.pdf", f"{folder.name}/harbour.pdf", "orchard.PDF"])


def test_deleted_document_is_not_added_again(engine: Engine, folder: Path) -> None:
    sync(engine, folder)
    engine.documents.delete(engine.documents.find_ids(["harbour.pdf"]))
    assert sync(engine, folder) == ((), (), ())
    assert names(engine) == ["orchard.PDF"]


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    """Return an empty folder."""
    path = tmp_path / "empty"
    path.mkdir()
    return path


def test_renamed_file_keeps_its_document(engine: Engine, inbox: Path) -> None:
    write(inbox, draft=BUDGET)
    sync(engine, inbox)
    (inbox / "draft.pdf").rename(inbox / "final.pdf")
    assert sync(engine, inbox) == (("final.pdf",), (), ("draft.pdf",))
    assert list(library(engine).values()) == [first_sentence(BUDGET)]
    write(inbox, final=PENGUINS)
    assert sync(engine, inbox) == ((), ("final.pdf",), ())
    assert list(library(engine).values()) == [first_sentence(PENGUINS)]
    (inbox / "final.pdf").unlink()
    sync(engine, inbox)
    assert library(engine) == {}


@pytest.mark.parametrize(
    ("uploaded", "steps"),
    [
        ([], [("a=B b=B c=B", "B"), ("a=", "B"), ("b= c=", "")]),
        ([], [("a=B b=P", "B P"), ("a=P", "b=P"), ("a= b=", "")]),
        ([], [("a=B b=B", "B"), ("a=P", "B P")]),
        (["B"], [("a=B", "uploaded=B"), ("a=P", "uploaded=B a=P")]),
    ],
    ids=["last of three copies", "file becomes a copy", "copy changes", "copy of an upload changes"],
)
def test_documents_follow_the_contents_of_files(
    engine: Engine, inbox: Path, uploaded: list[str], steps: list[tuple[str, str]]
) -> None:
    """Each step has changed files as name=content, and the expected documents as content or name=content."""
    texts = {"B": BUDGET, "P": PENGUINS}
    for content in uploaded:
        indexed(engine, "uploaded.pdf", texts[content])
    for changes, expected in steps:
        for change in changes.split():
            name, content = change.split("=")
            if content:
                write(inbox, **{name: texts[content]})
            else:
                (inbox / f"{name}.pdf").unlink()
        sync(engine, inbox)
        documents = [item.rpartition("=") for item in expected.split()]
        assert sorted(library(engine).values()) == sorted(first_sentence(texts[content]) for *_, content in documents)
        for name, _, content in documents:
            assert not name or library(engine)[f"{name}.pdf"] == first_sentence(texts[content])


def test_swapped_files_keep_both_documents(engine: Engine, inbox: Path) -> None:
    write(inbox, a=BUDGET, b=PENGUINS)
    sync(engine, inbox)
    before = sorted(document.document_id for document in engine.documents.list())
    write(inbox, a=PENGUINS, b=BUDGET)
    sync(engine, inbox)
    assert sorted(document.document_id for document in engine.documents.list()) == before
    (inbox / "a.pdf").unlink()
    sync(engine, inbox)
    assert list(library(engine).values()) == [first_sentence(BUDGET)]


def test_folder_watched_again_updates_its_documents(engine: Engine, inbox: Path) -> None:
    for place, text in (("x", BUDGET), ("y", PENGUINS)):
        (inbox / place).mkdir()
        (inbox / place / "a.pdf").write_bytes(make_pdf(text))
    sync(engine, inbox)
    engine.watches.remove(engine.watches.list()[0].watch_id)
    sync(engine, inbox)
    (inbox / "y" / "a.pdf").write_bytes(make_pdf(COPPER))
    sync(engine, inbox)
    assert library(engine) == {"x/a.pdf": first_sentence(BUDGET), "y/a.pdf": first_sentence(COPPER)}
    shutil.rmtree(inbox / "y")
    sync(engine, inbox)
    assert len(library(engine)) == 2, "documents stay after the watch that added them"


def test_document_in_two_folders_is_removed_with_both_files(engine: Engine, inbox: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for folder in (inbox, other):
        (folder / "a.pdf").write_bytes(make_pdf(BUDGET))
        sync(engine, folder)
    (inbox / "a.pdf").unlink()
    sync(engine, inbox)
    assert list(library(engine)) == ["a.pdf"]
    (other / "a.pdf").unlink()
    sync(engine, other)
    assert library(engine) == {}


def test_failed_removal_is_reported_and_repeated(engine: Engine, inbox: Path) -> None:
    write(inbox, a=BUDGET)
    sync(engine, inbox)
    (inbox / "a.pdf").unlink()
    with failing(Removal, "remove_document"):
        assert sync(engine, inbox) == ((), (), ())
        assert engine.watches.list()[0].problem == "The disk is on fire."
    assert sync(engine, inbox) == ((), (), ("a.pdf",))
    assert engine.watches.list()[0].problem == ""
    assert library(engine) == {}


def test_missing_folder_is_found_among_the_watches(engine: Engine, inbox: Path) -> None:
    sync(engine, inbox)
    watch = engine.watches.list()[0]
    inbox.rmdir()
    assert engine.watches.add(str(inbox)) == watch
    assert engine.watches.find(str(inbox)) == watch
    assert engine.watches.find(str(inbox / "deeper")) is None
    unknown = engine._stores.watches.add("nosuchkind://bucket/folder", "default")
    assert engine.watches.find(unknown.url) == unknown, "its driver may be missing as well"


@pytest.mark.parametrize("seed", [1, 2])
def test_library_matches_folder_after_random_changes(engine: Engine, inbox: Path, seed: int) -> None:
    generator = random.Random(seed)
    contents = {make_pdf(text): first_sentence(text) for text in (BUDGET, PENGUINS, COPPER)}
    (inbox / "deeper").mkdir()
    files = [inbox / name for name in ("a.pdf", "b.pdf", "deeper/a.pdf")]
    for _ in range(12):
        for _ in range(generator.randint(1, 3)):
            source, target = generator.sample(files, 2)
            action = generator.choice(["write", "copy", "move", "delete"])
            if action == "write":
                target.write_bytes(generator.choice(list(contents)))
            elif source.exists() and action == "copy":
                shutil.copyfile(source, target)
            elif source.exists() and action == "move":
                source.rename(target)
            elif source.exists():
                source.unlink()
        sync(engine, inbox)
        expected = {contents[file.read_bytes()] for file in files if file.exists()}
        assert sorted(library(engine).values()) == sorted(expected)


def test_invalid_folder_is_rejected(engine: Engine, folder: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be watched"):
        engine.watches.add(str(folder / "missing"))
    with pytest.raises(SettingsError, match="cannot be watched"):
        engine.watches.add("nosuchkind://bucket/folder")


@pytest.mark.parametrize("change", ["changed", "removed"])
def test_copy_of_a_watched_file_stays_if_the_file_changes(engine: Engine, inbox: Path, change: str) -> None:
    write(inbox, a=BUDGET)
    sync(engine, inbox)
    add_document(engine, "mine.pdf", make_pdf(BUDGET))
    if change == "changed":
        write(inbox, a=COPPER)
    else:
        (inbox / "a.pdf").unlink()
    sync(engine, inbox)
    expected = {"mine.pdf": first_sentence(BUDGET)}
    assert library(engine) == (expected | {"a.pdf": first_sentence(COPPER)} if change == "changed" else expected)
