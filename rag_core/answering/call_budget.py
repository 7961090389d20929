"""Limit the calls to a language model, and their tokens, for one question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rag_core.answering.agent_prompt import count_messages
from rag_core.answering.trace import AnswerTrace
from rag_core.errors import CallLimit
from rag_core.llm.generator import Completion, LanguageModel
from rag_core.llm.tool_calls import Tool
from rag_core.runtime.language_models import LanguageModels
from rag_core.types.formatting import format_count
from rag_core.types.searches import Query


class CallBudget:
    """Calls a language model for one question, within limits, so that no question costs more than a few cents.

    The limits apply to the calls of a search strategy or a summary. The call that writes the answer is not counted.

    Parameters
    ----------
    generator : LanguageModel
    trace : AnswerTrace
        The usage of each call is added to ``trace.usage``.

    Attributes
    ----------
    max_calls : int
        Maximum number of calls.
    max_tokens : int
        Maximum number of input and output tokens of all calls together.
    max_seconds : float
        Number of seconds after the start of the trace after which `call_tools` fails.
    """

    max_calls = 12
    max_tokens = 60_000
    max_seconds = 180.0

    def __init__(self, generator: LanguageModel, trace: AnswerTrace) -> None:
        self._generator = generator
        self._trace = trace
        self._calls = 0
        self._tokens = 0

    def complete(self, messages: Sequence[dict[str, str]]) -> str:
        """Return the model's complete reply.

        Raises
        ------
        CallLimit
            The question has used all its calls, or this call may need more tokens than remain. No request is sent.
        GeneratorError
            The request failed.
        """
        self._begin_call(count_messages(messages))
        return self._record(self._generator.complete(messages)).text

    def call_tools(self, messages: Sequence[dict[str, Any]], tools: Sequence[Tool]) -> Completion:
        """Return the model's reply to a conversation in which it can call tools.

        Raises
        ------
        CallLimit
            As for `complete`, or the question has taken longer than `max_seconds`.
        GeneratorError
            The request failed.
        """
        if self._trace.elapsed_ms > 1000 * self.max_seconds:
            raise CallLimit(f"The strategy has taken the {self.max_seconds:g} seconds that a question may take.")
        self._begin_call(count_messages(messages))
        reply = self._record(self._generator.call_tools(messages, tools))
        problem = self._generator.tools_problem
        self._trace.notices += [problem] if problem and problem not in self._trace.notices else []
        return reply

    def _begin_call(self, prompt: int) -> None:
        """Count a call whose prompt has ``prompt`` tokens; raise `CallLimit` if the call may exceed a limit."""
        if self._calls >= self.max_calls:
            made = format_count(self.max_calls, "call")
            raise CallLimit(f"The strategy has made the {made} to the model that a question may take.")
        if self._tokens + prompt + self._generator.answer_tokens > self.max_tokens:
            raise CallLimit(
                f"Another call to the model may use more than the {self.max_tokens:,} tokens that a question may take."
            )
        self._calls += 1

    def _record(self, reply: Completion) -> Completion:
        self._trace.usage += reply.usage
        self._tokens += reply.usage.input_tokens + reply.usage.output_tokens
        return reply


def require_model(query: Query, models: LanguageModels) -> LanguageModel:
    """Return the language model of a query; raise `SettingsError` if the query has none."""
    purpose = f"The strategy “{query.configuration.strategy}”"
    return models.require(purpose, query.writer.model, "use the plain search")
