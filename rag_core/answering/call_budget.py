"""Limit the calls to a language model, and their tokens, for one question."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.answering.trace import AnswerTrace
from rag_core.errors import CallLimit
from rag_core.llm.context_budget import PER_MESSAGE, count_tokens
from rag_core.llm.generator import LanguageModel
from rag_core.settings import Settings


class CallBudget:
    """Calls a language model for one question, within the limits of the settings.

    Parameters
    ----------
    settings : Settings
    generator : LanguageModel
    trace : AnswerTrace
        The usage of each call is added to ``trace.usage``.
    """

    def __init__(self, settings: Settings, generator: LanguageModel, trace: AnswerTrace) -> None:
        self._settings = settings
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
        """
        settings = self._settings
        prompt = sum(count_tokens(message["content"]) + PER_MESSAGE for message in messages)
        if self._calls >= settings.strategy_calls:
            raise CallLimit(
                f"RAG_STRATEGY_CALLS={settings.strategy_calls} allows no further call to the model. Raise it to let "
                "the strategy continue."
            )
        if self._tokens + prompt + settings.openai_answer_tokens > settings.strategy_tokens:
            raise CallLimit(
                f"Another call to the model may use more than the {settings.strategy_tokens:,} tokens that "
                "RAG_STRATEGY_TOKENS allows. Raise it to let the strategy continue."
            )
        self._calls += 1
        reply = self._generator.complete(messages)
        self._trace.usage += reply.usage
        self._tokens += reply.usage.input_tokens + reply.usage.output_tokens
        return reply.text
