"""The context of a language model, and its capability: what it can be asked to do."""

from __future__ import annotations

import threading
import time

from rag_core.errors import SettingsError
from rag_core.llm.addresses import find_known_context
from rag_core.llm.context_length import (
    DEFAULT_CONTEXT_TOKENS,
    MAX_FILLED_TOKENS,
    MAX_REPORTED_TOKENS,
    ReportedContext,
    ask_context_length,
    describe_ollama_remedy,
)
from rag_core.llm.model_catalogue import load_catalogue
from rag_core.llm.pricing import estimate_usage
from rag_core.llm.request import DEFAULT_BASE_URL
from rag_core.settings import Settings
from rag_core.types.status import Capability
from rag_core.types.usage import Usage

# A model with this context can read whole pages.
CAPABLE_TOKENS = 16_384
# Default limit on the answer of a capable model, which writes more than the two sentences of a small one.
CAPABLE_ANSWER_TOKENS = 1600
# Seconds to wait for each reply about the context. The first question waits for these replies.
_TIMEOUT_S = 3.0
# Seconds after which the endpoint is asked again if it did not answer or had not loaded the model.
_ASK_AGAIN_S = 60.0


class ModelProfile:
    """The context and the capability of a model. The endpoint is asked when they are first needed. Thread-safe.

    Parameters
    ----------
    settings : Settings
    reported : int, optional
        Context length that the endpoint reported in an earlier process, for the case that it does not answer.
    tested : Capability, optional
        The capability that a test of the connection found.
    """

    def __init__(self, settings: Settings, reported: int | None = None, tested: Capability | None = None) -> None:
        self._settings = settings
        self._reported_before = ReportedContext(tokens=reported or 0)
        self._tested = tested
        self._lock = threading.Lock()
        self._reported: ReportedContext | None = None
        self._asked_at = 0.0

    @property
    def context_tokens(self) -> int:
        """Maximum tokens of prompt and answer together; see the setting ``openai_context_tokens``."""
        settings = self._settings
        if settings.openai_context_tokens:
            return settings.openai_context_tokens
        known = self._find_known_context()
        if settings.gguf or known:
            return known or DEFAULT_CONTEXT_TOKENS
        return min(self.reported.limit(DEFAULT_CONTEXT_TOKENS) or DEFAULT_CONTEXT_TOKENS, MAX_REPORTED_TOKENS)

    @property
    def filled_tokens(self) -> int:
        """Limit on the tokens of a prompt whose content would fill any context, such as that of a summary."""
        return self._settings.openai_context_tokens or min(self.context_tokens, MAX_FILLED_TOKENS)

    @property
    def capability(self) -> Capability:
        """What the model can be asked to do; see the setting ``model_capability``."""
        settings = self._settings
        if settings.model_capability != "auto":
            return settings.model_capability
        if settings.gguf:
            return self._find_catalogued_capability()
        return self._tested or ("capable" if self.context_tokens >= CAPABLE_TOKENS else "small")

    @property
    def is_tested(self) -> bool:
        """Whether a test of the connection has found the capability."""
        settings = self._settings
        return settings.model_capability == "auto" and not settings.gguf and self._tested is not None

    @property
    def answer_tokens(self) -> int:
        """Maximum length of an answer; see the setting ``openai_answer_tokens``."""
        settings = self._settings
        is_set = "openai_answer_tokens" in settings.model_fields_set
        return settings.openai_answer_tokens if is_set or self.capability == "small" else CAPABLE_ANSWER_TOKENS

    @property
    def advice(self) -> str:
        """How to raise the context if the server runs the model with a small one; empty if there is no advice."""
        return "" if self._settings.openai_context_tokens else describe_ollama_remedy(self.reported)

    def estimate_question_usage(self, budget: int) -> Usage:
        """Return the usage of a question with ``budget`` tokens of pages and an answer of the maximum length."""
        return estimate_usage(self._settings.token_price, (), "", (budget, self.answer_tokens))

    @property
    def reported(self) -> ReportedContext:
        """What the endpoint reports about the context; empty for a GGUF file and for a host of `find_known_context`.

        The first access asks the endpoint. While the report is not final, an access after `_ASK_AGAIN_S` seconds asks
        again.
        """
        settings = self._settings
        if settings.gguf or self._find_known_context():
            return ReportedContext(is_final=True)
        with self._lock:
            found = self._reported
            if found is None or (not found.is_final and time.monotonic() > self._asked_at + _ASK_AGAIN_S):
                key = settings.openai_api_key
                found = ask_context_length(
                    settings.openai_base_url or DEFAULT_BASE_URL,
                    settings.model,
                    key.get_secret_value().strip() if key else "",
                    timeout_s=_TIMEOUT_S,
                )
                self._asked_at = time.monotonic()
                self._reported = found = found if found.tokens or found.is_final else self._reported_before
            return found

    def refresh(self) -> None:
        """Forget the report, so that the next access asks the endpoint again."""
        with self._lock:
            self._reported = None

    def _find_known_context(self) -> int | None:
        settings = self._settings
        return None if settings.gguf else find_known_context(settings.openai_base_url or DEFAULT_BASE_URL)

    def _find_catalogued_capability(self) -> Capability:
        try:
            catalogue = load_catalogue(self._settings.model_catalogue)
        except SettingsError:
            # The Settings page and the command line report an invalid catalogue.
            return "small"
        name = self._settings.gguf.name if self._settings.gguf else ""
        return next((model.capability for model in catalogue if model.file == name), "small")
