"""Choice of the language model, and its usage."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.errors import SettingsError
from rag_core.store.usage import UsageStore
from rag_core.types.answers import AnswerState
from tests.support.engines import ASK_BUDGET, BUDGET, failing, indexed, opened, scripted_engine
from tests.support.servers import complete


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with scripted_engine(tmp_path / "data", complete("It is 42 million euros [1]."), openai_model="small") as (
        engine,
        _,
    ):
        yield engine


def test_generator_is_created_once_per_model(engine: Engine) -> None:
    first = engine.models.active()
    assert first is engine.models.active() is engine.models.get("small")
    assert first is not engine.models.get("large")


def test_selected_model_survives_restart(engine: Engine) -> None:
    engine.models.select("large")
    assert engine.models.current == "large"
    assert engine.models.generator == engine.status().generator == "openai:large"
    settings = engine.settings
    engine.close()
    with Engine(settings) as reopened:
        assert reopened.models.current == "large"
        reopened.models.select(None)
        assert reopened.models.current == "small"


def test_missing_model_cannot_be_tested(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        assert (engine.models.active(), engine.models.generator, engine.models.endpoint) == (None, "extractive", "")
        with pytest.raises(SettingsError, match=r"A test of the connection needs a language model.*RAG_OPENAI_MODEL"):
            engine.models.test()


def test_answer_succeeds_if_usage_cannot_be_stored(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    with failing(UsageStore, "add"):
        answer = engine.answer(ASK_BUDGET)
    assert answer.state is AnswerState.ANSWERED
    assert answer.usage.calls == 1
    assert "the usage could not be stored: The disk is on fire." in caplog.text
