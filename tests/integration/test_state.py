"""Data folder, settings, status and conversations of an engine, also after a restart."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.errors import (
    DataFolderInUse,
    DataFolderUnwritable,
    EmbedderMissing,
    SettingsError,
    UnknownConversation,
)
from rag_core.types.conversations import Scope
from rag_core.types.documents import DocumentStatus
from rag_core.types.jobs import JobState
from tests.support.engines import (
    ASK_BUDGET,
    BUDGET,
    PENGUINS,
    add_document,
    assert_found,
    assert_in_agreement,
    indexed,
    opened,
    rebuild_index,
    run_in_threads,
)
from tests.support.pdfs import make_pdf

ROOT = Path(__file__).parents[2]


def test_data_folder_can_be_opened_only_once(tmp_path: Path) -> None:
    with opened(tmp_path / "data"):
        for _ in range(2):
            with pytest.raises(DataFolderInUse, match=f"process {os.getpid()}"):
                opened(tmp_path / "data")
        process = subprocess.run(
            [sys.executable, "-m", "rag_core", "--data-dir", str(tmp_path / "data"), "list"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    assert process.returncode == 1
    assert f"process {os.getpid()}" in process.stderr
    assert process.stdout == ""
    opened(tmp_path / "data").close()


@pytest.mark.parametrize("name", ["a b ü 50%", "what?", "a::b#c", "[x]&b=~"])
def test_data_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name / "data"
    with opened(folder) as engine:
        indexed(engine, "a.pdf", BUDGET)
    with opened(folder) as engine:
        assert_found(engine, budget=["a.pdf"])
        assert_in_agreement(engine)
    assert sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")) >= ["chroma", "files"]
    assert (folder / "footnote.sqlite").is_file()
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["footnote.sqlite", "words.sqlite", "sparse.sqlite", "files"])
def test_unusable_part_of_data_folder_releases_the_lock(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataFolderUnwritable, match="/proc/footnote"):
        opened(Path("/proc/footnote"))
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(DataFolderUnwritable, match="RAG_DATA_DIR"):
        opened(tmp_path / "file")
    data = tmp_path / "data"
    data.mkdir()
    blocker = data / name
    blocker.write_text("x") if name == "files" else blocker.mkdir()
    for _ in range(2):
        with pytest.raises(DataFolderUnwritable):
            opened(data)
    blocker.unlink() if name == "files" else blocker.rmdir()
    with opened(data) as engine:
        assert engine.documents.list() == []


@pytest.mark.parametrize(
    ("setting", "value", "named"),
    [
        ("database_url", "nonsense", "DATABASE_URL"),
        ("database_url", "postgresql://user:hunter2@host:port/db", "DATABASE_URL"),
        ("database_url", "nosuch+driver://user:hunter2@host/db", "DATABASE_URL"),
        ("database_url", "://", "DATABASE_URL"),
        ("database_url", "sqlite:", "DATABASE_URL"),
        ("files_url", "nosuch://bucket", "RAG_FILES_URL"),
    ],
)
def test_invalid_url_is_reported_without_its_password(tmp_path: Path, setting: str, value: str, named: str) -> None:
    with pytest.raises(SettingsError, match=named) as error:
        opened(tmp_path / "data", **{setting: value})
    assert "hunter2" not in str(error.value)


def test_database_and_files_can_be_stored_elsewhere(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'elsewhere.sqlite'}"
    with opened(tmp_path / "data", database_url=url, files_url=f"file://{tmp_path / 'kept'}") as engine:
        document_id = indexed(engine, "a.pdf", BUDGET)
        assert engine.documents.content(document_id) == make_pdf(BUDGET)
        assert_in_agreement(engine)
    assert (tmp_path / "elsewhere.sqlite").exists()
    assert any((tmp_path / "kept").rglob("*"))


def test_unusable_embedder_is_reported_and_documents_are_listed(tmp_path: Path) -> None:
    with opened(tmp_path / "data", embedder="nobody/no-model") as engine:
        with pytest.raises(EmbedderMissing, match="nobody/no-model"):
            engine.search("anything")
        job = add_document(engine, "a.pdf", make_pdf(BUDGET))
        assert (job.state, job.result) == (JobState.FAILED, DocumentStatus.FAILED)
        assert "nobody/no-model" in job.reason
        status = engine.status()
        assert any("nobody/no-model" in problem for problem in status.problems)
        engine.warm_up()
        engine._warm_up.join()
        assert "nobody/no-model" in engine.readiness().error
        engine.load_search()
        assert "nobody/no-model" in engine.readiness().error
        assert len(engine.documents.list()) == 1
    with opened(tmp_path / "other", chunk_tokens=250) as engine:
        with pytest.raises(SettingsError, match=r"RAG_CHUNK_TOKENS is 250.*Set it to 214 or less"):
            engine.search("anything")
        assert any("RAG_CHUNK_TOKENS" in problem for problem in engine.status().problems)


def test_models_warm_up_in_the_background(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with opened(tmp_path / "data") as engine:
        assert not engine.readiness().ready
        engine.warm_up()
        engine.warm_up()
        engine._warm_up.join()
        assert engine.readiness().ready
        assert engine.readiness().error == ""
        engine.load_search()
        assert not [record for record in caplog.records if "warm-up" in record.message]


def test_preferences_survive_restart(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        engine.preferences.set_threshold(0.0)
        engine.preferences.set_top_k(3)
    with opened(tmp_path / "data", threshold=0.9, top_k=9) as engine:
        assert (engine.preferences.threshold, engine.preferences.top_k) == (0.0, 3)
        assert engine.status().threshold == 0.0
        engine.preferences.set_threshold(None)
        engine.preferences.set_top_k(None)
        assert (engine.preferences.threshold, engine.preferences.top_k) == (0.9, 9)


def test_index_with_other_settings_is_reported_and_answers(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        assert engine.index.differences() == {}
    with opened(tmp_path / "data", chunk_tokens=64) as engine:
        assert engine.index.differences() == {"chunk_tokens": (200, 64)}
        status = engine.status()
        assert status.healthy
        assert any("chunk_tokens" in notice for notice in status.notices)
        assert_found(engine, budget=["a.pdf"])
        indexed(engine, "b.pdf", PENGUINS)
        assert rebuild_index(engine).state is JobState.DONE
        assert engine.index.differences() == {}
        assert_in_agreement(engine)


def test_status_counts_documents_and_disk_space_and_reports_stores_that_disagree(engine: Engine) -> None:
    status = engine.status()
    assert status.healthy
    assert list(status.problems) == []
    assert status.counts["documents"] == status.counts["chunks"] == 0
    assert all(status.reachable.values())
    indexed(engine, "a.pdf", BUDGET, PENGUINS)
    add_document(engine, "b.pdf", b"no pdf")
    status = engine.status()
    assert (status.counts["documents"], status.counts["searchable"]) == (2, 1)
    assert (status.counts["pages"], status.counts["chunks"]) == (2, 2)
    assert status.disk_bytes["database"] > 0
    assert status.disk_bytes["files"] >= len(make_pdf(BUDGET, PENGUINS))
    assert not [part for part in status.disk_bytes if part.startswith(".") or part.endswith("-shm")]
    assert status.generator == "extractive"
    assert status.built_with == status.configured
    assert status.versions["streamlit"]
    engine._stores.word_index.delete(list(engine._stores.word_index.ids()))
    status = engine.status()
    assert not status.healthy
    assert any("disagree" in problem and "Re-index" in problem for problem in status.problems)


def test_questions_during_indexing_and_deletion(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET)
    results: list[object] = []

    def ask() -> None:
        for _ in range(6):
            try:
                results.append(engine.answer(ASK_BUDGET).citations[0].document)
            except Exception as error:  # noqa: BLE001 - any error is a failure of the test
                results.append(error)

    def add_and_delete() -> None:
        for number in range(3):
            engine.documents.delete([indexed(engine, "b.pdf", f"{PENGUINS} {number}")])
        results.append("done")

    run_in_threads(ask, ask, ask, ask, add_and_delete)
    assert sorted(map(str, results)) == ["a.pdf"] * 24 + ["done"]
    assert_in_agreement(engine)


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("  What is the\nbudget?  ", "Budget"),
        ("When was the bridge opened?", "Bridge opened"),
        ("How long is the bridge?", "How long is the bridge?"),
        ("What is it?", "What is it?"),
        ("Was ist die Miete?", "Was ist die Miete?"),
    ],
)
def test_subject_of_the_first_question_becomes_the_title(engine: Engine, question: str, title: str) -> None:
    conversation_id = engine.conversations.create().conversation_id
    assert engine.conversations.get(conversation_id).title == "New chat"
    turns = [("assistant", "Hello."), ("user", question), ("user", "And the next?")]
    for role, text in turns:
        engine.conversations.add_message(conversation_id, role, text)
    conversation = engine.conversations.get(conversation_id)
    assert conversation.title == title
    messages = engine.conversations.messages(conversation_id)
    assert [(message.role, message.text) for message in messages] == turns
    assert conversation.updated_at >= conversation.created_at


def test_stored_answer_is_equal_after_restart(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        document_id = indexed(engine, "a.pdf", BUDGET)
        answer = engine.answer(ASK_BUDGET)
        conversation_id = engine.conversations.create(Scope((document_id,))).conversation_id
        engine.conversations.add_message(conversation_id, "assistant", answer.text, answer)
    with opened(tmp_path / "data") as engine:
        conversation = engine.conversations.get(conversation_id)
        (message,) = engine.conversations.messages(conversation_id)
        assert message.answer == answer
        assert conversation.scope.documents == (document_id,)


@pytest.fixture
def conversations(engine: Engine) -> list[str]:
    """Create three conversations; return their ids."""
    conversation_ids = []
    for text in ("Growth of 50% in Q3", "A snake_case name", "Über die \\Pfade zum МОСТ"):
        conversation_ids.append(engine.conversations.create().conversation_id)
        engine.conversations.add_message(conversation_ids[-1], "user", text)
        engine.conversations.add_message(conversation_ids[-1], "assistant", f"You asked: {text}. It's 'quoted'.")
    return conversation_ids


def listed(engine: Engine, conversations: list[str], query: str = "") -> list[int]:
    """Return the positions of the listed conversations."""
    return [conversations.index(conversation.conversation_id) for conversation in engine.conversations.list(query)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", [2, 1, 0]),
        ("  ", [2, 1, 0]),
        ("growth", [0]),
        ("50%", [0]),
        ("%", [0]),
        ("_", [1]),
        ("snake_", [1]),
        ("\\", [2]),
        ("\\Pfade", [2]),
        ("quoted", [2, 1, 0]),
        ("'", [2, 1, 0]),
        ("you asked: a", [1]),
        ("nothing of it", []),
        ("Über", [2]),
        ("ÜBER", [2]),
        ("мост", [2]),
        ("SNAKE_case", [1]),
        ("snakeXcase", []),
        ("%%", []),
    ],
)
def test_conversations_are_searched_for_literal_text(
    engine: Engine, conversations: list[str], query: str, expected: list[int]
) -> None:
    assert listed(engine, conversations, query) == expected


def test_conversations_can_be_pinned_renamed_and_removed(engine: Engine, conversations: list[str]) -> None:
    first, second, _ = conversations
    engine.conversations.set_pinned(first, True)
    assert listed(engine, conversations) == [0, 2, 1]
    engine.conversations.add_message(second, "user", "more")
    assert listed(engine, conversations) == [0, 1, 2]
    engine.conversations.set_pinned(first, False)
    assert listed(engine, conversations) == [1, 2, 0]
    for name in ("  Another\n title ", " \n"):
        engine.conversations.rename(first, name)
        assert engine.conversations.get(first).title == "Another title"
    engine.conversations.add_message(first, "user", "a question")
    assert engine.conversations.get(first).title == "Another title"
    for scope in (Scope(("d1", "d2")), Scope()):
        engine.conversations.set_scope(first, scope)
        assert engine.conversations.get(first).scope == scope
    messages = engine.conversations.messages(first)
    engine.conversations.remove_messages([one.message_id for one in messages[1:]])
    engine.conversations.remove_messages([])
    assert [message.role for message in engine.conversations.messages(first)] == ["user"]
    assert len(engine.conversations.messages(second)) == 3
    engine.conversations.delete(first)
    engine.conversations.delete(first)
    assert engine.conversations.list("growth") == []
    assert len(engine.conversations.list()) == 2
    for call in (
        lambda: engine.conversations.get(first),
        lambda: engine.conversations.add_message(first, "user", "text"),
        lambda: engine.conversations.rename(first, "title"),
        lambda: engine.conversations.set_pinned(first, True),
        lambda: engine.conversations.set_scope(first, Scope()),
    ):
        with pytest.raises(UnknownConversation):
            call()
