"""What the engine keeps between starts, who may open it, and what it says of its health."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
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
from rag_core.types import DocumentStatus, JobState, Scope
from tests.support.engines import (
    ASK_BUDGET,
    BUDGET,
    PENGUINS,
    add_document,
    assert_in_agreement,
    indexed,
    names_found,
    opened,
)
from tests.support.pdfs import make_pdf

ROOT = Path(__file__).parents[2]


def test_a_data_folder_is_open_once(tmp_path: Path) -> None:
    with opened(tmp_path / "data"):
        with pytest.raises(DataFolderInUse, match=f"process {os.getpid()}"):
            opened(tmp_path / "data")
        with pytest.raises(DataFolderInUse):
            opened(tmp_path / "data")
    with opened(tmp_path / "data"):
        pass


def test_another_process_is_kept_out_and_told_by_whom(tmp_path: Path) -> None:
    with opened(tmp_path / "data"):
        done = subprocess.run(
            [sys.executable, "-m", "rag_core", "--data-dir", str(tmp_path / "data"), "list"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert f"process {os.getpid()}" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("name", ["a b ü 50%", "what?", "a::b#c", "[x]&b=~"])
def test_any_folder_can_hold_the_data(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name / "data"
    with opened(folder) as engine:
        indexed(engine, "a.pdf", BUDGET)
    with opened(folder) as engine:
        assert_found(engine, budget=["a.pdf"])
        assert_in_agreement(engine)
    assert sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")) >= ["chroma", "files"]
    assert (folder / "footnote.sqlite").is_file()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("not a folder")
    with pytest.raises(DataFolderUnwritable, match="RAG_DATA_DIR"):
        opened(tmp_path / "data")


def test_a_folder_that_cannot_be_written_is_told() -> None:
    with pytest.raises(DataFolderUnwritable, match="/proc/footnote"):
        opened(Path("/proc/footnote"))


@pytest.mark.parametrize("name", ["footnote.sqlite", "words.sqlite", "files"])
def test_a_part_of_the_folder_that_cannot_be_opened_is_told_and_the_lock_given_back(tmp_path: Path, name: str) -> None:
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
    "url",
    ["nonsense", "postgresql://user:hunter2@host:port/db", "nosuch+driver://user:hunter2@host/db", "://", "sqlite:"],
)
def test_a_database_url_that_cannot_be_used_is_refused_without_its_password(tmp_path: Path, url: str) -> None:
    with pytest.raises(SettingsError, match="DATABASE_URL") as refused:
        opened(tmp_path / "data", database_url=url)
    assert "hunter2" not in str(refused.value)


def test_a_files_url_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="RAG_FILES_URL"):
        opened(tmp_path / "data", files_url="nosuch://bucket")


def test_database_and_files_can_lie_elsewhere(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'elsewhere.sqlite'}"
    with opened(tmp_path / "data", database_url=url, files_url=f"file://{tmp_path / 'kept'}") as engine:
        document_id = indexed(engine, "a.pdf", BUDGET)
        assert engine.documents.content(document_id) == make_pdf(BUDGET)
        assert_in_agreement(engine)
    assert (tmp_path / "elsewhere.sqlite").exists()
    assert any((tmp_path / "kept").rglob("*"))


def test_an_embedder_that_is_not_here_is_told_and_the_rest_works(tmp_path: Path) -> None:
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
        assert len(engine.documents.list()) == 1


def test_chunks_too_long_for_the_embedder_are_refused_by_the_setting(tmp_path: Path) -> None:
    with opened(tmp_path / "data", chunk_tokens=250) as engine:
        with pytest.raises(SettingsError, match="RAG_CHUNK_TOKENS is 250") as refused:
            engine.search("anything")
        assert "Set it to 214 or less" in str(refused.value)
        assert any("RAG_CHUNK_TOKENS" in problem for problem in engine.status().problems)


def test_models_warm_up_in_the_background(engine: Engine) -> None:
    engine.warm_up()
    engine.warm_up()
    engine._warm_up.join()
    assert engine.readiness().ready
    assert engine.readiness().error == ""


def test_models_warm_up_however_short_questions_must_be(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with opened(tmp_path / "data", max_question_chars=1) as engine:
        engine.warm_up()
        engine._warm_up.join()
        assert engine.readiness().ready
        assert not [record for record in caplog.records if "warm-up" in record.message]


def test_models_warm_up_before_many_questions(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        assert not engine.readiness().ready
        engine.load_search()
        assert engine.readiness().ready
    with opened(tmp_path / "other", embedder="nobody/no-model") as engine:
        engine.load_search()
        assert "nobody/no-model" in engine.readiness().error
        with pytest.raises(EmbedderMissing, match="nobody/no-model"):
            engine.search("anything")


def test_overrides_outlive_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        engine.preferences.set_threshold(0.0)
        engine.preferences.set_top_k(3)
    with opened(tmp_path / "data", threshold=0.9, top_k=9) as engine:
        assert (engine.preferences.threshold, engine.preferences.top_k) == (0.0, 3)
        assert engine.status().threshold == 0.0
        engine.preferences.set_threshold(None)
        engine.preferences.set_top_k(None)
        assert (engine.preferences.threshold, engine.preferences.top_k) == (0.9, 9)


def test_settings_that_differ_from_the_index_are_told_and_the_index_answers(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET)
        assert engine.index.differences() == {}
    with opened(tmp_path / "data", chunk_tokens=64, chunk_overlap=0.1) as engine:
        assert engine.index.differences() == {"chunk_tokens": (200, 64), "chunk_overlap": (0.18, 0.1)}
        status = engine.status()
        assert not status.healthy
        assert any("chunk_tokens" in problem for problem in status.problems)
        assert_found(engine, budget=["a.pdf"])
        indexed(engine, "b.pdf", PENGUINS)
        assert rebuild_index(engine).state is JobState.DONE
        assert engine.index.differences() == {}
        assert_in_agreement(engine)


def test_status_of_an_empty_engine_is_healthy(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        status = engine.status()
        assert status.healthy
        assert list(status.problems) == []
        assert status.counts["documents"] == status.counts["chunks"] == 0
        assert all(status.reachable.values())


def test_status_counts_and_weighs_what_there_is(engine: Engine) -> None:
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


def test_stores_that_disagree_are_told(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET)
    engine._stores.words.delete(list(engine._stores.words.ids()))
    status = engine.status()
    assert not status.healthy
    assert any("disagree" in problem and "Re-index" in problem for problem in status.problems)


def test_many_threads_may_ask_while_documents_come_and_go(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET)
    wrong: list[object] = []

    def ask() -> None:
        for _ in range(6):
            try:
                if engine.answer(ASK_BUDGET).citations[0].document != "a.pdf":
                    wrong.append("another document")
            except Exception as error:  # noqa: BLE001 - whatever it is, it is shown
                wrong.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(3):
        engine.documents.delete([indexed(engine, "b.pdf", f"{PENGUINS} {number}")])
    for thread in threads:
        thread.join()
    assert wrong == []
    assert_in_agreement(engine)


# conversations


def test_the_first_question_is_the_title(engine: Engine) -> None:
    one = engine.conversations.create().conversation_id
    assert engine.conversations.get(one).title == "New chat"
    engine.conversations.add_message(one, "assistant", "Hello.")
    engine.conversations.add_message(one, "user", "  What is the\nbudget?  ")
    engine.conversations.add_message(one, "user", "And the next?")
    conversation = engine.conversations.get(one)
    messages = engine.conversations.messages(one)
    assert conversation.title == "What is the budget?"
    assert [(message.role, message.text) for message in messages] == [
        ("assistant", "Hello."),
        ("user", "  What is the\nbudget?  "),
        ("user", "And the next?"),
    ]
    assert conversation.updated_at >= conversation.created_at


def test_an_answer_comes_back_as_it_was_given_after_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        document_id = indexed(engine, "a.pdf", BUDGET)
        answer = engine.answer(ASK_BUDGET)
        one = engine.conversations.create(Scope((document_id,))).conversation_id
        engine.conversations.add_message(one, "assistant", answer.text, answer)
    with opened(tmp_path / "data") as engine:
        conversation = engine.conversations.get(one)
        (message,) = engine.conversations.messages(one)
        assert message.answer == answer
        assert conversation.scope.documents == (document_id,)


@pytest.fixture
def three(engine: Engine) -> list[str]:
    texts = ["Growth of 50% in Q3", "A snake_case name", "Über die \\Pfade"]
    made = []
    for text in texts:
        made.append(engine.conversations.create().conversation_id)
        engine.conversations.add_message(made[-1], "user", text)
        engine.conversations.add_message(made[-1], "assistant", f"You asked: {text}. It's 'quoted'.")
    return made


@pytest.mark.parametrize(
    ("query", "found"),
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
    ],
)
def test_conversations_are_searched_for_what_was_typed(
    engine: Engine, three: list[str], query: str, found: list[int]
) -> None:
    assert [one.conversation_id for one in engine.conversations.list(query)] == [three[number] for number in found]


def test_the_pinned_come_first_then_the_latest(engine: Engine, three: list[str]) -> None:
    engine.conversations.set_pinned(three[0], True)
    assert [one.conversation_id for one in engine.conversations.list()] == [three[0], three[2], three[1]]
    engine.conversations.add_message(three[1], "user", "more")
    assert [one.conversation_id for one in engine.conversations.list()] == [three[0], three[1], three[2]]
    engine.conversations.set_pinned(three[0], False)
    assert [one.conversation_id for one in engine.conversations.list()] == [three[1], three[2], three[0]]


def test_a_conversation_can_be_renamed_but_not_to_nothing(engine: Engine, three: list[str]) -> None:
    engine.conversations.rename(three[0], "  Another\n title ")
    assert engine.conversations.get(three[0]).title == "Another title"
    engine.conversations.rename(three[0], " \n")
    assert engine.conversations.get(three[0]).title == "Another title"
    engine.conversations.add_message(three[0], "user", "a question")
    assert engine.conversations.get(three[0]).title == "Another title"


def test_a_conversation_can_be_deleted_with_its_messages(engine: Engine, three: list[str]) -> None:
    engine.conversations.delete(three[0])
    with pytest.raises(UnknownConversation):
        engine.conversations.get(three[0])
    assert engine.conversations.list("growth") == []
    assert len(engine.conversations.list()) == 2
    engine.conversations.delete(three[0])


def test_turns_can_be_taken_out(engine: Engine, three: list[str]) -> None:
    messages = engine.conversations.messages(three[0])
    engine.conversations.remove_messages([messages[1].message_id])
    assert [message.role for message in engine.conversations.messages(three[0])] == ["user"]
    engine.conversations.remove_messages([])
    assert len(engine.conversations.messages(three[1])) == 2


def test_a_scope_is_kept_and_taken_back(engine: Engine, three: list[str]) -> None:
    engine.conversations.set_scope(three[0], Scope(("d1", "d2")))
    assert engine.conversations.get(three[0]).scope.documents == ("d1", "d2")
    engine.conversations.set_scope(three[0], Scope())
    assert engine.conversations.get(three[0]).scope.documents == ()


def test_a_conversation_that_is_not_stored_is_an_error_of_its_own(engine: Engine) -> None:
    for call in (
        lambda: engine.conversations.get("nothing"),
        lambda: engine.conversations.add_message("nothing", "user", "text"),
        lambda: engine.conversations.rename("nothing", "title"),
        lambda: engine.conversations.set_pinned("nothing", True),
        lambda: engine.conversations.set_scope("nothing", Scope()),
    ):
        with pytest.raises(UnknownConversation):
            call()
