"""Search in conversations in any script."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core.engine import Engine
from tests.support.engines import opened


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with opened(tmp_path_factory.mktemp("conversations") / "data") as engine:
        for title, reply in (("Élan vital", "Über die Brücke"), ("100% of it", "a_b"), ("МОСТ", "plain")):
            conversation_id = engine.conversations.create().conversation_id
            engine.conversations.add_message(conversation_id, "user", title)
            engine.conversations.add_message(conversation_id, "assistant", reply)
        yield engine


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        *((query, ["Élan vital"]) for query in ("élan", "ÉLAN", "brücke", "ÜBER")),
        *(("мост", ["МОСТ"]), ("100%", ["100% of it"]), ("A_B", ["100% of it"]), ("aXb", []), ("%%", [])),
    ],
)
def test_search_ignores_case_and_has_no_wildcards(library: Engine, query: str, titles: list[str]) -> None:
    assert [conversation.title for conversation in library.conversations.list(query)] == titles
