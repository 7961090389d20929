"""What every store must do on a server as in the data folder, through the engine."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.errors import DatabaseInUse
from rag_core.types.documents import DocumentStatus
from tests.servers.conftest import ServerSettings
from tests.support.drawn_pdfs import PROSE, SALES, lines, make, rows
from tests.support.engines import (
    ASK_BUDGET,
    BUDGET,
    COPPER,
    PENGUINS,
    add_document,
    assert_found,
    assert_in_agreement,
    indexed,
    opened,
    rebuild_index,
)
from tests.support.pdfs import make_pdf


def test_documents_are_added_answered_deleted_and_added_again(stores: Engine) -> None:
    first = indexed(stores, "a.pdf", BUDGET)
    indexed(stores, "b.pdf", PENGUINS)
    answer = stores.answer(ASK_BUDGET)
    assert "42 million" in answer.text
    assert not answer.notices
    assert_found(stores, budget=["a.pdf"], penguins=["b.pdf"], copper=[])
    assert add_document(stores, "twin.pdf", make_pdf(BUDGET)).result is DocumentStatus.DUPLICATE
    assert stores.documents.content(first) == make_pdf(BUDGET)
    assert stores.documents.render_page(first, 0).png.startswith(b"\x89PNG")
    (receipt,) = stores.documents.delete([first])
    assert not any(receipt.remaining.values())
    assert_found(stores, budget=[])
    assert indexed(stores, "a.pdf", BUDGET) != first
    assert_found(stores, budget=["a.pdf"])
    assert_in_agreement(stores)


def test_tables_are_read_by_page_and_deleted(stores: Engine, tmp_path: Path) -> None:
    data = make(tmp_path / "sales.pdf", lines(*PROSE), rows(*SALES)).read_bytes()
    document_id = add_document(stores, "sales.pdf", data).document_id or ""
    library = stores._stores.documents
    place = library.document(document_id).version_id, 1
    found = library.tables([place, ("other", 1)])
    assert found[place][0].to_grid() == [list(row) for row in SALES]
    assert found == {place: stores.documents.page(document_id, 1).tables}
    stores.documents.delete([document_id])
    assert library.tables([place]) == {}


def test_new_content_replaces_old_and_says_when_that_was_added(stores: Engine) -> None:
    indexed(stores, "a.pdf", BUDGET)
    job = add_document(stores, "a.pdf", make_pdf(COPPER))
    assert f"{datetime.now():%d %B %Y}" in job.reason
    assert any(f"{datetime.now() - timedelta(minutes=ago):%H:%M}" in job.reason for ago in (0, 1))
    assert_found(stores, copper=["a.pdf"], budget=[])
    assert_in_agreement(stores)


def test_reindexing_replaces_the_index(stores: Engine) -> None:
    indexed(stores, "a.pdf", BUDGET)
    indexed(stores, "b.pdf", PENGUINS)
    job = rebuild_index(stores, chunk_tokens=40)
    assert job.result is not DocumentStatus.FAILED, job
    assert_found(stores, budget=["a.pdf"], penguins=["b.pdf"])


def test_library_is_the_same_after_a_restart(on_servers: ServerSettings, tmp_path: Path) -> None:
    values = on_servers.values("postgres", "chroma", "s3")
    with opened(tmp_path / "data", **values) as engine:
        document_id = indexed(engine, "a.pdf", BUDGET)
        engine.preferences.set_top_k(7)
    with opened(tmp_path / "data", **values) as engine:
        assert [one.document_id for one in engine.documents.list()] == [document_id]
        assert engine.preferences.top_k == 7
        assert_found(engine, budget=["a.pdf"])
        assert_in_agreement(engine)


def test_conversations_feedback_labels_and_evaluations_are_stored(stores: Engine) -> None:
    indexed(stores, "a.pdf", BUDGET)
    conversation = stores.conversations.create()
    question = stores.conversations.add_message(conversation.conversation_id, "user", ASK_BUDGET)
    answer = stores.answer(ASK_BUDGET)
    reply = stores.conversations.add_message(conversation.conversation_id, "assistant", answer.text, answer)
    assert [one.text for one in stores.conversations.messages(conversation.conversation_id)] == [
        ASK_BUDGET,
        answer.text,
    ]
    assert question.created_at < reply.created_at <= datetime.now(UTC)
    (found,) = stores.conversations.list("ZANZIBAR")
    # A conversation is named by the subject of its first question.
    assert found.title == "Budget of the Zanzibar bridge"
    assert stores.conversations.list("100%_") == []
    stores.conversations.delete(conversation.conversation_id)
    assert stores.conversations.list() == []


def test_second_engine_on_a_database_is_refused_with_what_to_set(on_servers: ServerSettings, tmp_path: Path) -> None:
    values = on_servers.values("postgres")
    with opened(tmp_path / "one", **values), pytest.raises(DatabaseInUse, match="DATABASE_URL"):
        opened(tmp_path / "two", **values)
    opened(tmp_path / "two", **values).close()


def test_database_stays_locked_after_a_restart_of_its_server(on_servers: ServerSettings, tmp_path: Path) -> None:
    values, server = on_servers.values("postgres"), on_servers.servers["postgres"]
    with opened(tmp_path / "one", **values) as engine:
        server.kill()
        server.start()
        assert engine.documents.list() == []
        with pytest.raises(DatabaseInUse, match="DATABASE_URL"):
            opened(tmp_path / "two", **values)
    opened(tmp_path / "two", **values).close()


def test_libraries_share_a_chroma_server(on_servers: ServerSettings, tmp_path: Path) -> None:
    values = on_servers.values("chroma")
    with opened(tmp_path / "one", **values) as one, opened(tmp_path / "two", **values) as two:
        document_id = indexed(one, "a.pdf", BUDGET)
        indexed(two, "b.pdf", BUDGET)
        assert_found(one, budget=["a.pdf"])
        assert_found(two, budget=["b.pdf"])
        one.documents.delete([document_id])
        assert_found(one, budget=[])
        assert_found(two, budget=["b.pdf"])
        assert_in_agreement(one)
        assert_in_agreement(two)
