"""Answers as they are stored."""

from __future__ import annotations

import pytest

from rag_core.store.serialization import answer_from_json, answer_to_json
from rag_core.types.answers import Answer, AnswerState
from rag_core.types.retrieval import Gate


@pytest.mark.parametrize("strategy", ["plain", "long-context", "rag-token"])
def test_stored_answer_is_read(strategy: str) -> None:
    gate = Gate("answerable", 0.9, 0.5, True)
    answer = Answer("How tall?", AnswerState.ANSWERED, "88 m", (), (), gate, "extractive", {}, strategy=strategy)
    assert answer_from_json(answer_to_json(answer)) == answer
