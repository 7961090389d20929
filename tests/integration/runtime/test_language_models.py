"""One generator for all who ask, and a note of what they take."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.errors import SettingsError, StoreUnavailable
from rag_core.store.usage import UsageStore
from rag_core.types import AnswerState
from tests.support.engines import ASK_BUDGET, BUDGET, indexed, opened
from tests.support.servers import ScriptedEndpoint, complete


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with (
        ScriptedEndpoint(complete("It is 42 million euros [1].")) as endpoint,
        opened(tmp_path / "data", openai_base_url=endpoint.url, openai_model="small") as made,
    ):
        yield made


def test_one_serves_all_questions_about_a_model(engine: Engine) -> None:
    first = engine.models.active()
    assert first is engine.models.active() is engine.models.get("small")
    assert first is not engine.models.get("large")


def test_the_model_is_the_one_set_in_admin_and_outlives_a_restart(engine: Engine) -> None:
    engine.models.select("large")
    assert (engine.models.current, engine.models.generator, engine.status().generator) == (
        "large",
        *["openai:large"] * 2,
    )
    settings = engine.settings
    engine.close()
    with Engine(settings) as again:
        assert again.models.current == "large"
        again.models.select(None)
        assert again.models.current == "small"


def test_without_a_model_there_is_none_and_nothing_to_test(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as made:
        assert (made.models.active(), made.models.generator, made.models.endpoint) == (None, "extractive", "")
        with pytest.raises(SettingsError, match="RAG_OPENAI_MODEL is not set"):
            made.models.test()


def test_an_answer_does_not_fail_for_its_usage(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object) -> None:
        raise StoreUnavailable("The database does not answer.")

    monkeypatch.setattr(UsageStore, "add", refuse)
    indexed(engine, "bridge.pdf", BUDGET)
    answer = engine.answer(ASK_BUDGET)
    assert answer.state is AnswerState.ANSWERED
    assert answer.usage.calls == 1
    assert "the usage could not be stored: The database does not answer." in caplog.text
