"""Calls to a model for one question: counted, and limited before they are made."""

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

ASKED = [{"role": "user", "content": "Name three rivers."}]


@contextmanager
def spending(*script: Play, **values: int) -> Iterator[tuple[CallBudget, AnswerTrace, ScriptedEndpoint]]:
    with ScriptedEndpoint(*script) as endpoint:
        settings = Settings(
            _env_file=None,
            openai_base_url=endpoint.url,
            openai_model="m",
            openai_api_key="k",
            openai_retries=0,
            **values,
        )
        generator, gathered = LanguageModel(settings), AnswerTrace()
        yield CallBudget(settings, generator, gathered), gathered, endpoint
        generator.close()


def test_what_calls_take_is_summed_up() -> None:
    with spending(complete("Tell.", tokens=(20, 3)), complete("Ost.", tokens=(30, 4))) as (made, gathered, _):
        assert [made.complete(ASKED), made.complete(ASKED)] == ["Tell.", "Ost."]
        usage = gathered.usage
        assert (usage.calls, usage.input_tokens, usage.output_tokens) == (2, 50, 7)


def test_no_call_more_than_allowed_is_made() -> None:
    with spending(complete("Tell."), strategy_calls=1) as (made, gathered, endpoint):
        made.complete(ASKED)
        with pytest.raises(CallLimit, match="RAG_STRATEGY_CALLS"):
            made.complete(ASKED)
        assert len(endpoint.requests) == gathered.usage.calls == 1


def test_no_call_that_could_take_more_tokens_than_are_left_is_made() -> None:
    limits = {"strategy_tokens": 1000, "openai_answer_tokens": 600}
    with spending(complete("Tell.", tokens=(300, 200)), **limits) as (made, _, endpoint):
        made.complete(ASKED)
        with pytest.raises(CallLimit, match="RAG_STRATEGY_TOKENS"):
            made.complete(ASKED)
        assert len(endpoint.requests) == 1


def test_a_call_that_fails_counts_as_a_call() -> None:
    with spending(lambda exchange: exchange.error(500), strategy_calls=1) as (made, gathered, _):
        with pytest.raises(GeneratorUnavailable):
            made.complete(ASKED)
        with pytest.raises(CallLimit):
            made.complete(ASKED)
        assert gathered.usage.calls == 0
