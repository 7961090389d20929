"""NUL and halves of surrogate pairs, which PostgreSQL refuses: stored in a clean form wherever users can enter them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.errors import UnknownConversation, UnknownDocument
from tests.servers.conftest import ServerSettings
from tests.support.engines import ASK_BUDGET, BUDGET, assert_found, assert_in_agreement, indexed, opened

BAD = "\0 \ud800 \udfff"


@pytest.fixture(params=[(), ("postgres",)], ids=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest, on_servers: ServerSettings, tmp_path: Path) -> Iterator[Engine]:
    with opened(tmp_path / "data", **on_servers.values(*request.param)) as engine:
        yield engine


def test_names_folders_and_collections_are_cleaned(engine: Engine) -> None:
    document_id = indexed(engine, f"a{BAD}.pdf", BUDGET, folder=f"/x{BAD}", collection=f"c{BAD}")
    (document,) = engine.documents.list()
    (document.name + document.collection).encode()
    assert "\0" not in document.name + document.collection
    assert engine.documents.find_ids([f"a{BAD}.pdf"]) == [document_id]
    assert_found(engine, budget=[document.name])
    assert "42 million" in engine.answer(ASK_BUDGET, collections=[document.collection]).text
    assert_in_agreement(engine)


def test_questions_and_conversations_are_cleaned(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET)
    answer = engine.answer(f"{ASK_BUDGET} {BAD}")
    assert "42 million" in answer.text
    conversation = engine.conversations.create().conversation_id
    engine.conversations.add_message(conversation, "user", f"{ASK_BUDGET} {BAD}")
    engine.conversations.add_message(conversation, "assistant", answer.text + BAD, answer)
    engine.conversations.rename(conversation, f"title{BAD}")
    question, reply = engine.conversations.messages(conversation)
    (question.text + reply.text + engine.conversations.get(conversation).title).encode()
    assert "\0" not in question.text + reply.text
    assert reply.text.startswith(answer.text)
    assert len(engine.conversations.list("zanzibar")) == 1
    assert len(engine.conversations.list(BAD)) == 1
    assert engine.conversations.export_markdown(conversation)


def test_unknown_ids_are_reported(engine: Engine) -> None:
    with pytest.raises(UnknownConversation):
        engine.conversations.get(BAD)
    with pytest.raises(UnknownDocument):
        engine.documents.get(BAD)


def test_preferences_with_bad_characters_are_stored(engine: Engine) -> None:
    preferences = engine._stores.preferences
    preferences.set("test", {"key": [BAD]})
    preferences._cache.clear()
    assert preferences.get("test") == {"key": ["\ufffd \ufffd \ufffd"]}
