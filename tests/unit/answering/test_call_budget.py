"""Limits of model calls and tokens for one question."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rag_core.answering.call_budget import CallBudget
from rag_core.answering.trace import AnswerTrace
from rag_core.errors import CallLimit, GeneratorUnavailable
from rag_core.llm.generator import LanguageModel
from rag_core.settings import Settings
from tests.support.servers import Play, ScriptedEndpoint, complete

MESSAGES = [{"role": "user", "content": "Name three rivers."}]


@contextmanager
def budget_of(*script: Play, **values: int) -> Iterator[tuple[CallBudget, AnswerTrace, ScriptedEndpoint]]:
    with ScriptedEndpoint(*script) as endpoint:
        settings = Settings(
            _env_file=None,
            openai_base_url=endpoint.url,
            openai_model="m",
            openai_api_key="k",
            openai_retries=0,
            **values,
        )
        generator, trace = LanguageModel(settings), AnswerTrace()
        yield CallBudget(generator, trace), trace, endpoint
        generator.close()


def test_usage_of_calls_is_added() -> None:
    with budget_of(complete("Tell.", tokens=(20, 3)), complete("Ost.", tokens=(30, 4))) as (budget, trace, _):
        assert [budget.complete(MESSAGES), budget.complete(MESSAGES)] == ["Tell.", "Ost."]
        usage = trace.usage
        assert (usage.calls, usage.input_tokens, usage.output_tokens) == (2, 50, 7)


def test_call_limit_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CallBudget, "max_calls", 1)
    with budget_of(complete("Tell.")) as (budget, trace, endpoint):
        budget.complete(MESSAGES)
        with pytest.raises(CallLimit, match="the 1 call to the model"):
            budget.complete(MESSAGES)
        assert len(endpoint.requests) == trace.usage.calls == 1


def test_token_limit_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CallBudget, "max_tokens", 1000)
    with budget_of(complete("Tell.", tokens=(300, 200)), openai_answer_tokens=600) as (budget, _, endpoint):
        budget.complete(MESSAGES)
        with pytest.raises(CallLimit, match="more than the 1,000 tokens"):
            budget.complete(MESSAGES)
        assert len(endpoint.requests) == 1


def test_failed_call_counts_as_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CallBudget, "max_calls", 1)
    with budget_of(lambda exchange: exchange.error(500)) as (budget, trace, _):
        with pytest.raises(GeneratorUnavailable):
            budget.complete(MESSAGES)
        with pytest.raises(CallLimit):
            budget.complete(MESSAGES)
        assert trace.usage.calls == 0
