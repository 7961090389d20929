"""Joining an interrupted text and its continuation."""

from __future__ import annotations

import pytest

from rag_core.answering.continuation import join_continuation

PASSAGES = ["It is 412 metres long."]


@pytest.mark.parametrize(
    ("written", "pieces", "expected"),
    [
        ("It is 412", ["metres", " long."], "It is 412 metres long."),
        ("It is 412", [" metres", " long."], "It is 412 metres long."),
        ("It is 412 met", ["res", " long."], "It is 412 metres long."),
        ("It is 41", ["2", " metres."], "It is 412 metres."),
        ("It opened. It", ["It", " carries trains."], "It opened. It carries trains."),
        ("It opened. It", ["It opened.", " It", " carries trains."], "It opened. It carries trains."),
        ("It is long", [".", " It opened."], "It is long. It opened."),
        ("It is long.", ["It", " opened."], "It is long. It opened."),
        ("It is long.", ["It is", " long."], "It is long."),
        ("It is long.", [], "It is long."),
    ],
)
def test_continuation_is_joined(written: str, pieces: list[str], expected: str) -> None:
    assert written + "".join(join_continuation(written, pieces, PASSAGES)) == expected


def test_rest_of_the_continuation_is_streamed() -> None:
    assert list(join_continuation("It is", ["long", " and", " wide", "."])) == [" long and", " wide", "."]
