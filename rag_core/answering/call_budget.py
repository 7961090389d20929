"""Limit the calls to a language model, and their tokens, for one question."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.answering.trace import AnswerTrace
from rag_core.errors import CallLimit, SettingsError
from rag_core.llm.context_budget import PER_MESSAGE, count_tokens
from rag_core.llm.generator import LanguageModel
from rag_core.runtime.language_models import LanguageModels
from rag_core.settings import Settings
from rag_core.types.searches import Query


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


def require_model(query: Query, generators: LanguageModels) -> LanguageModel:
    """Return the language model of a query; raise `SettingsError` if it has none."""
    generator = generators.active(query.writer.model)
    strategy = query.configuration.strategy
    if generator is None and query.writer.model == "":
        raise SettingsError(
            f"The strategy “{strategy}” needs a language model, but the question is asked with quotes only. Choose a "
            "model, or use the plain search."
        )
    if generator is None:
        raise SettingsError(
            f"The strategy “{strategy}” needs a language model, and none is set. Connect one on the page Admin, "
            "or set RAG_OPENAI_MODEL, and OPENAI_BASE_URL to the address of its endpoint, or RAG_GGUF; or use the "
            "plain search."
        )
    return generator
