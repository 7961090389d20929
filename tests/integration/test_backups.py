"""Backups of a library that is in use, and exports into another library."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_core.api.json_rows import pick
from rag_core.engine import Engine
from rag_core.errors import BackupError
from rag_core.indexing.restoring import restore_library
from rag_core.store.backups import stream_backup, write_backup
from rag_core.store.files import compute_sha256
from rag_core.types.conversations import Scope
from rag_core.types.documents import DocumentStatus
from tests.support.engines import (
    ASK_BUDGET,
    ASK_COPPER,
    COPPER,
    QUESTIONS,
    EmbeddingBarrier,
    add_document,
    assert_in_agreement,
    idle,
    open_library,
    opened,
    settings_in,
)
from tests.support.pdfs import make_pdf


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """Open a library with three documents, a snapshot, a conversation and a setting."""
    with open_library(tmp_path / "data") as engine:
        engine.documents.set_tags({engine.documents.list()[0].document_id: ["metal"]})
        engine.snapshots.create("first")
        scope = Scope.of([engine.documents.find_ids(["bridge.pdf"])[0]])
        conversation = engine.conversations.create(scope).conversation_id
        engine.conversations.add_message(conversation, "user", ASK_BUDGET)
        engine.conversations.add_message(conversation, "assistant", "42", engine.answer(ASK_BUDGET))
        engine.preferences.set_top_k(4)
        yield engine


def describe(engine: Engine) -> dict[str, Any]:
    """Return what a user sees of a library."""
    idle(engine)
    status = engine.status()
    answers = [engine.answer(question) for question in QUESTIONS.values()]
    return {
        "answers": [
            (one.text, [pick(cited, "document_id", "page_index", "quote") for cited in one.citations], one.gate)
            for one in answers
        ],
        "scores": [[(passage.text, dict(passage.scores)) for passage in one.passages] for one in answers],
        "status": (status.healthy, status.counts, status.stores, status.built_with, status.threshold),
        "documents": engine.documents.list(),
        "conversations": [
            (one, engine.conversations.messages(one.conversation_id)) for one in engine.conversations.list()
        ],
        "snapshots": engine.snapshots.list(),
    }


def test_library_restored_from_a_backup_made_while_indexing_is_the_same(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    barrier = EmbeddingBarrier(monkeypatch)
    barrier.submit(engine, "second_mine.pdf", f"{COPPER} Its second shaft has a depth of 800 metres.")
    engine.documents.submit("waiting.pdf", make_pdf("The waiting file has 17 words about salt."))
    manifest = write_backup(engine.settings, tmp_path / "backup")
    (tmp_path / "backup.zip").write_bytes(b"".join(stream_backup(engine.settings)))
    barrier.release()
    expected = describe(engine)
    assert (len(manifest.files), manifest.missing) == (5, [])
    engine.close()
    for number, source in enumerate(("backup", "backup.zip")):
        folder = tmp_path / f"restored-{number}"
        restore_library(settings_in(folder), tmp_path / source)
        with opened(folder) as restored:
            assert describe(restored) == expected
            assert_in_agreement(restored)
        assert [one.name for one in folder.glob(".backup*")] == []


def _damage_file(folder: Path) -> None:
    file = next(path for path in folder.glob("files/*/*"))
    data = file.read_bytes()
    file.unlink()  # it may be a link to the file of the library
    file.write_bytes(data[:-1] + b"!")


def _edit_manifest(**values: Any) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        file = folder / "backup.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | values))

    return edit


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_damage_file, "has changed"),
        (lambda folder: next(folder.glob("files/*/*")).unlink(), "is missing"),
        (lambda folder: (folder / "footnote.sqlite").write_bytes(b"SQLite format 3\0"), "has changed"),
        (lambda folder: (folder / "backup.json").write_text("{}"), "no backup of Footnote"),
        (lambda folder: (folder / "backup.json").unlink(), "cannot be read"),
        (_edit_manifest(version=2), "newer version"),
        (_edit_manifest(schema_revision="9999"), "newer version"),
        (_edit_manifest(files={"../../outside": 3}), "damaged"),
        (_edit_manifest(database_bytes=10**15), "has changed"),
    ],
)
def test_damaged_backup_is_refused_and_leaves_no_library(
    backed_up: Path, tmp_path: Path, damage: Callable[[Path], None], words: str
) -> None:
    folder = tmp_path / "backup"
    for path in backed_up.rglob("*"):
        if path.is_file():
            target = folder / path.relative_to(backed_up)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    damage(folder)
    with pytest.raises(BackupError, match=words):
        restore_library(settings_in(tmp_path / "data"), folder)
    assert not (tmp_path / "data" / "footnote.sqlite").exists()


@pytest.fixture(scope="module")
def backed_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("backed-up")
    with open_library(folder / "data", {"mine.pdf": [COPPER]}) as engine:
        write_backup(engine.settings, folder / "backup")
    return folder / "backup"


def test_zip_file_of_a_backup_unpacks_only_what_its_list_names(backed_up: Path, tmp_path: Path) -> None:
    database = (backed_up / "footnote.sqlite").read_bytes()
    for more, larger, fits in ((True, b"", True), (False, b"x" * 1000, False)):
        source = tmp_path / "backup.zip"
        with zipfile.ZipFile(source, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in backed_up.rglob("*"):
                if path.is_file() and path.name != "footnote.sqlite":
                    archive.write(path, path.relative_to(backed_up))
            archive.writestr("footnote.sqlite", database + larger)
            if more:
                archive.writestr("../../outside.txt", "x")
                archive.writestr("/outside.txt", "x")
        folder = tmp_path / f"data-{more}"
        if fits:
            assert len(restore_library(settings_in(folder), source).files) == 1
        else:
            with pytest.raises(BackupError, match="has changed"):
                restore_library(settings_in(folder), source)
    assert list(tmp_path.rglob("outside.txt")) == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"database_url": "postgresql+psycopg://localhost/x"}, "pg_dump"),
        ({}, "contains a library already"),
    ],
)
def test_library_that_cannot_be_replaced_is_left_as_it_is(
    backed_up: Path, tmp_path: Path, values: dict[str, Any], words: str
) -> None:
    (tmp_path / "footnote.sqlite").write_bytes(b"")
    with pytest.raises(BackupError, match=words):
        restore_library(settings_in(tmp_path, **values), backed_up)


def test_export_adds_to_another_library_what_it_lacks(engine: Engine, tmp_path: Path) -> None:
    add_document(engine, "copy_of_birds.pdf", engine.documents.content(engine.documents.find_ids(["birds.pdf"])[0]))
    exported = b"".join(engine.transfers.export_library())
    (asked,) = engine.conversations.list()
    with opened(tmp_path / "other") as other:
        mine = engine.documents.content(engine.documents.find_ids(["mine.pdf"])[0])
        assert add_document(other, "copper.pdf", mine).result is DocumentStatus.INDEXED
        add_document(other, "bridge.pdf", make_pdf("The bridge of Lunde is made of oak."))
        other.preferences.set_instructions("Answer in Danish.")
        imported = other.transfers.import_library(io.BytesIO(exported))
        idle(other)
        assert (imported.conversations, imported.settings) == (1, ("top_k",))
        listed = {one.name: (one.aliases, one.tags) for one in other.documents.list()}
        assert listed == {
            "copper.pdf": (("mine.pdf",), ("metal",)),
            "bridge.pdf": ((), ()),
            "bridge (2).pdf": ((), ()),
            "birds.pdf": (("copy_of_birds.pdf",), ()),
        }
        (conversation,) = other.conversations.list()
        new_id = other.documents.find_ids(["bridge (2).pdf"])[0]
        assert (conversation.title, conversation.created_at) == (asked.title, asked.created_at)
        assert conversation.scope.documents == (new_id,)
        question, answer = other.conversations.messages(conversation.conversation_id)
        assert (question.text, answer.answer and answer.answer.citations[0].document_id) == (ASK_BUDGET, new_id)
        assert other.preferences.instructions == "Answer in Danish."
        # A second import changes nothing.
        again = other.transfers.import_library(io.BytesIO(exported))
        assert (again.conversations, again.settings) == (0, ())
        assert {one.name: (one.aliases, one.tags) for one in other.documents.list()} == listed
        assert other.answer(ASK_COPPER).citations
        assert_in_agreement(other)


def _write_export(manifest: dict[str, Any], **parts: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("footnote.json", json.dumps(manifest))
        for name, data in parts.items():
            archive.writestr(name.replace("__", "/"), data)
    return file.getvalue()


_PDF = make_pdf("The vault has three keys.")
_ENTRY = {
    "document_id": "a" * 32,
    "sha256": compute_sha256(_PDF),
    "names": [{"name": "../../vault.pdf", "collection": "default", "folder": ""}],
}
_NAMELESS = _ENTRY | {"names": [{"name": "vault.pdf", "collection": "\u200b", "folder": ""}]}
_MANIFEST: dict[str, Any] = {
    "format": "footnote-export",
    "version": 1,
    "created_at": "2026-01-01T00:00:00Z",
    "documents": [_ENTRY],
    "conversations": [],
    "settings": {},
}
_PART = f"files__{compute_sha256(_PDF)}"
_CHAT = {
    **{"conversation_id": "b" * 32, "title": "x", "created_at": "2026-01-01T00:00:00Z", "pinned": False},
    **{"updated_at": "2026-01-01T00:00:00Z", "documents": [], "collections": [], "as_of": "", "model": None},
    **{"instructions": "", "tags": [], "messages": []},
}
_DEEP: dict[str, Any] = {}
for _ in range(400):
    _DEEP = {"deep": _DEEP}
_MESSAGE = {"role": "assistant", "text": "x", "created_at": "2026-01-01T00:00:00Z", "answer": {"state": "odd"}}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"no zip", "cut off or damaged"),
        (_write_export(_MANIFEST), "lacks the file of"),
        (_write_export(_MANIFEST, **{_PART: b"other"}), "is damaged"),
        (_write_export(_MANIFEST, **{_PART: b"0" * 30_000_000}), "archive bomb"),
        (_write_export(_MANIFEST | {"version": 2}, **{_PART: _PDF}), "newer version"),
        (_write_export(_MANIFEST | {"format": "other"}, **{_PART: _PDF}), "damaged at format"),
        (_write_export(_MANIFEST | {"documents": [_ENTRY | {"sha256": "../x"}]}), "damaged at documents.0.sha256"),
        (_write_export(_MANIFEST | {"settings": {"top_k": 10**9}}, **{_PART: _PDF}), "damaged at settings.top_k"),
        (_write_export(_MANIFEST | {"conversations": [_CHAT | {"messages": [_MESSAGE]}]}, **{_PART: _PDF}), "damaged"),
        (
            _write_export(_MANIFEST | {"conversations": [_CHAT | {"messages": [_MESSAGE | {"answer": _DEEP}]}]}),
            "damaged",
        ),
        (_write_export(_MANIFEST | {"settings": {"threshold": float("nan")}}, **{_PART: _PDF}), "settings.threshold"),
        (_write_export(_MANIFEST | {"documents": [_NAMELESS]}, **{_PART: _PDF}), "A collection needs a name"),
    ],
    ids=range(12),
)
def test_export_that_is_damaged_or_hostile_changes_nothing(shared: Engine, data: bytes, words: str) -> None:
    with pytest.raises(BackupError, match=words):
        shared.transfers.import_library(io.BytesIO(data))
    assert (shared.documents.list(), shared.conversations.list()) == ([], [])


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with opened(tmp_path_factory.mktemp("importing") / "data") as engine:
        yield engine
