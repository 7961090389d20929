"""Conversations are found by any words in them, in any letters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.engine import Engine
from tests.support.engines import opened


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder: Path = tmp_path_factory.mktemp("conversations") / "data"
    with opened(folder) as made:
        for title, said in (("Élan vital", "Über die Brücke"), ("100% of it", "a_b"), ("МОСТ", "plain")):
            identity = made.conversations.create().conversation_id
            made.conversations.add_message(identity, "user", title)
            made.conversations.add_message(identity, "assistant", said)
        yield made


@pytest.mark.parametrize(
    ("query", "title"),
    [
        *(("élan", "Élan vital"), ("ÉLAN", "Élan vital"), ("brücke", "Élan vital"), ("ÜBER", "Élan vital")),
        *(("мост", "МОСТ"), ("100%", "100% of it"), ("A_B", "100% of it")),
    ],
)
def test_letter_case_makes_no_difference_in_any_script(library: Engine, query: str, title: str) -> None:
    assert [one.title for one in library.conversations.list(query)] == [title]


def test_signs_of_patterns_are_letters(library: Engine) -> None:
    assert library.conversations.list("aXb") == []
    assert library.conversations.list("%%") == []
