"""The same question with and without passages."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.errors import SettingsError
from tests.support.engines import ASK_BUDGET, BUDGET, indexed, opened, scripted_engine
from tests.support.servers import complete


def test_answer_without_passages_is_beside_the_grounded_one(tmp_path: Path) -> None:
    script = complete("The budget is 42 million euros [1]."), complete("It was 90 million dollars.", tokens=(30, 6))
    with scripted_engine(tmp_path, *script) as (engine, endpoint):
        indexed(engine, "bridge.pdf", BUDGET)
        answer = engine.closed_book.answer(ASK_BUDGET)
    grounded, closed = endpoint.requests
    assert BUDGET.split(".")[0] in str(grounded["messages"])
    assert "42 million" not in str(closed["messages"])
    assert closed["messages"][-1]["content"] == f"Question: {ASK_BUDGET}"
    assert answer.text == "It was 90 million dollars."
    assert (answer.usage.input_tokens, answer.generator) == (30, "openai:scripted")
    assert answer.grounded.citations[0].document == "bridge.pdf"


def test_model_is_needed(tmp_path: Path) -> None:
    with (
        opened(tmp_path) as engine,
        pytest.raises(SettingsError, match="An answer without passages needs a language model"),
    ):
        engine.closed_book.answer(ASK_BUDGET)
