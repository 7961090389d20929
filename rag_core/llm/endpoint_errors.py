"""Convert an endpoint's errors into exceptions, whose messages name the setting to change.

A setting is an environment variable or a field of the form; see `SettingNames`. The module reads status codes and
texts, and imports no client library. Messages never contain a request header, and the API key is removed from quotes
of the server.
"""

from __future__ import annotations

import re

from rag_core.errors import (
    GeneratorAuthError,
    GeneratorError,
    GeneratorInterrupted,
    GeneratorRateLimited,
    GeneratorTimeout,
    GeneratorUnavailable,
    ModelListMissing,
)
from rag_core.llm.openai_apis import select_api
from rag_core.llm.request import DEFAULT_BASE_URL, REASONING_FACTOR, redact_url
from rag_core.llm.setting_names import ENVIRONMENT_NAMES, SettingNames, start_sentence
from rag_core.settings import Settings

# Seconds to wait for a connection to the endpoint.
CONNECT_TIMEOUT_S = 10.0

# Most characters of a quote from the server.
_LONGEST_QUOTE = 200
# How servers say that a prompt is too long, and that a filter rejects it.
_CONTEXT = re.compile(r"context.{0,20}(?:length|size|window)|(?:too|many) .{0,20}tokens|prompt is too long", re.I)
_FILTERED = re.compile(r"content[ _]?(?:filter|management|policy)|moderation|\bflagged\b", re.I)


class EndpointErrors:
    """Creates the exceptions for errors of the endpoint in the settings."""

    def __init__(self, settings: Settings, names: SettingNames = ENVIRONMENT_NAMES) -> None:
        self._settings = settings
        self._names = names
        self._key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else ""
        self._api = select_api(settings).name
        if settings.gguf:
            self._model = names.file_value.format(settings.gguf)
            self._endpoint = f"model in {self._model}"
        else:
            self._model = names.model_value.format(settings.openai_model)
            url = redact_url(settings.openai_base_url or DEFAULT_BASE_URL)
            self._endpoint = f"endpoint at {names.address_value.format(url)}"

    def status(self, status: int, code: str, message: str, retry_after_s: float = 0.0) -> GeneratorError:
        """Return the error for an HTTP status, or for an error event of a stream with an equivalent status.

        ``code`` is the ``code`` or ``type`` of the endpoint's error object; ``message`` is its message.
        """
        error = self._explain(status, code, message)
        error.status, error.reply, error.retry_after_s = status, message, retry_after_s
        may_pass = status >= 500 or (status == 429 and not _is_quota(code, message))
        # Do not retry if the endpoint demands a longer wait than the time-out of an answer.
        error.is_temporary = may_pass and retry_after_s <= self._settings.openai_timeout_s
        return error

    def _explain(self, status: int, code: str, message: str) -> GeneratorError:
        model = self._model
        quote = self._quote(message)
        if status in (400, 403, 422) and _FILTERED.search(f"{code} {message}"):
            return self.filtered(f"its content filter rejected the question or the passages (HTTP {status}){quote}")
        if status in (401, 403):
            name = self._names.key
            has_key = f"refused {name}" if self._key else f"requires a key and {name} is not set"
            may_use = f" that may use {model}" if self._settings.openai_model else ""
            return GeneratorAuthError(f"The {self._endpoint} {has_key} (HTTP {status}). Set a valid key{may_use}.")
        if status == 402 or (status == 429 and _is_quota(code, message)):
            return GeneratorRateLimited(
                f"The account behind {self._names.key} has used up its quota at the {self._endpoint} (HTTP {status}). "
                "Raise its limit or use another key."
            )
        if status == 429:
            return GeneratorRateLimited(
                f"The {self._endpoint} accepts no more requests at the moment (HTTP 429){quote}. "
                "Wait a little and ask again, or raise RAG_OPENAI_RETRIES."
            )
        if status in (408, 504):
            return self.timeout()
        if status == 404:
            other = f", or {self._names.use_chat}" if self._settings.openai_api == "responses" else ""
            return GeneratorUnavailable(
                f"The {self._endpoint} has no {model}, or no {self._api} at this address "
                f"(HTTP 404){quote}. Correct the model or the address{other}; most base URLs end in /v1."
            )
        if 300 <= status < 400:
            return GeneratorUnavailable(
                f"The {self._endpoint} redirects to another address (HTTP {status}), but documents are "
                f"only sent to the address that you set. Set {self._names.address} to the final address."
            )
        if status < 500 and _CONTEXT.search(f"{code} {message}".replace("_", " ")):
            entered = self._settings.openai_context_tokens
            change = f"Lower {self._names.context} (now {entered})" if entered else f"Set {self._names.context}"
            return GeneratorUnavailable(
                f"The prompt was too long for {model} (HTTP {status}){quote}. {change} to the model's context length."
            )
        return GeneratorUnavailable(
            f"The {self._endpoint} could not answer (HTTP {status}){quote}. Read its log, and check {model}."
        )

    def no_list(self, status: int) -> ModelListMissing:
        """Return the error for an endpoint without a list of models."""
        error = ModelListMissing(
            f"The {self._endpoint} has no list of models (HTTP {status}). Type the name of the model instead."
        )
        error.status = status
        return error

    def timeout(self) -> GeneratorTimeout:
        """Return the error for an endpoint that has accepted the connection and sends nothing within the time-out."""
        return GeneratorTimeout(
            f"The {self._endpoint} sent nothing for {self._settings.openai_timeout_s:g} s. "
            "Check that it is not overloaded, or raise RAG_OPENAI_TIMEOUT_S."
        )

    def unreachable(self, cause: str, *, is_temporary: bool = False) -> GeneratorUnavailable:
        """Return the error for a failed connection; ``is_temporary`` says whether a retry may succeed."""
        error = GeneratorUnavailable(
            f"No connection to the {self._endpoint}{self._quote(cause)}. Start it, or correct the address."
        )
        error.is_temporary = is_temporary
        error.is_unreachable = True
        return error

    def no_connection(self) -> GeneratorTimeout:
        """Return the error for a time-out while connecting."""
        error = GeneratorTimeout(
            f"No connection to the {self._endpoint} within {CONNECT_TIMEOUT_S:g} s. Check the address and the network."
        )
        error.is_unreachable = True
        return error

    def unusable_environment(self, cause: str) -> GeneratorUnavailable:
        """Return the error for an unusable proxy or certificate file in the environment."""
        error = GeneratorUnavailable(
            f"The proxy or certificates in the environment cannot be used for the {self._endpoint}{self._quote(cause)}"
            ". Correct HTTP_PROXY, HTTPS_PROXY, ALL_PROXY or SSL_CERT_FILE, or add this host to NO_PROXY."
        )
        error.is_unreachable = True
        return error

    def unusable_key(self) -> GeneratorAuthError:
        """Return the error for a key with characters that an HTTP header cannot contain."""
        return GeneratorAuthError(
            f"{start_sentence(self._names.key)} contains white space or characters that are invalid in a key. Set it "
            "again, without other text."
        )

    def interrupted(self, why: str) -> GeneratorInterrupted:
        """Return the error for a stream that ends or fails after some text."""
        return GeneratorInterrupted(
            f"The answer from the {self._endpoint} stopped half-way: {self._redact(why)}. Ask again; if it happens "
            "often, read the endpoint's log."
        )

    def empty(self, why: str) -> GeneratorUnavailable:
        """Return the error for a stream that ends or fails before any text."""
        error = GeneratorUnavailable(
            f"The {self._endpoint} gave no answer: {self._redact(why)}. Check that it serves "
            f"{self._api} and that {self._model} is a chat model."
        )
        error.is_temporary = True
        return error

    def filtered(self, why: str) -> GeneratorUnavailable:
        """Return the error for a prompt or an answer that the provider's content filter withholds."""
        return GeneratorUnavailable(
            f"The {self._endpoint} gave no answer: {self._redact(why)}. Rephrase the question, ask about fewer "
            "documents, or change the filter of the provider."
        )

    def declined(self, message: str) -> GeneratorUnavailable:
        """Return the error for an answer that the endpoint reports as a refusal of the model."""
        return GeneratorUnavailable(
            f"{start_sentence(self._model)} declined to answer{self._quote(message)}. Rephrase the question, or set "
            "another model."
        )

    def only_reasoning(self, answer_tokens: int) -> GeneratorUnavailable:
        """Return the error for a model that uses up its tokens before the first word of the answer."""
        return GeneratorUnavailable(
            f"{start_sentence(self._model)} used up {REASONING_FACTOR} times RAG_OPENAI_ANSWER_TOKENS={answer_tokens} "
            "before the answer started; reasoning models need more tokens. Raise it."
        )

    def _quote(self, message: str) -> str:
        cleaned = self._redact(message)
        return f": {cleaned}" if cleaned else ""

    def _redact(self, message: str) -> str:
        hidden = message.replace(self._key, "***") if self._key else message
        printable = "".join(char if char.isprintable() else " " for char in hidden)
        return " ".join(printable.split())[:_LONGEST_QUOTE].rstrip(". ")


def _is_quota(code: str, message: str) -> bool:
    """Return whether a 429 means that the account's quota is used up, so that a retry cannot succeed."""
    return "quota" in f"{code} {message}".casefold()
