"""What an endpoint's refusals mean to the person who runs it: which setting to look at, what to do.

Free of any client library: it works on status codes and words. No message ever holds the key or a
header, and what a server says about itself is quoted only after the key is taken out of it.
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
)
from rag_core.llm.openai_apis import api_of
from rag_core.llm.request import DEFAULT_BASE_URL, redact_url
from rag_core.settings import Settings

# Seconds to wait for a connection to the endpoint.
CONNECT_TIMEOUT_S = 10.0

_LONGEST_QUOTE = 200
_CONTEXT = re.compile(r"context.{0,20}(?:length|size|window)|(?:too|many) .{0,20}tokens|prompt is too long", re.I)


class EndpointErrors:
    """Makes errors of the package out of what went wrong with the endpoint that the settings name."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else ""
        self._api = api_of(settings).name
        if settings.gguf:
            self._model = f"RAG_GGUF={settings.gguf}"
            self._where = f"model in {self._model}"
        else:
            self._model = f"RAG_OPENAI_MODEL={settings.openai_model}"
            self._where = f"endpoint at RAG_OPENAI_BASE_URL={redact_url(settings.openai_base_url or DEFAULT_BASE_URL)}"

    def status(self, status: int, code: str, said: str) -> GeneratorError:
        """An answer with an HTTP status of an error, or the same as an event in a stream.

        ``code`` is the ``code`` or ``type`` of the endpoint's error object, ``said`` its message.
        """
        model = self._model
        quoted = self._quoted(said)
        if status in (401, 403):
            has_key = "refused OPENAI_API_KEY" if self._key else "wants a key and OPENAI_API_KEY is not set"
            return GeneratorAuthError(
                f"The {self._where} {has_key} (HTTP {status}). Set a valid key that may use {model}."
            )
        if status == 429 and _is_quota(code, said):
            return GeneratorRateLimited(
                f"The account behind OPENAI_API_KEY has used up its quota at the {self._where} (HTTP 429). "
                "Raise its limit or use another key."
            )
        if status == 429:
            return GeneratorRateLimited(
                f"The {self._where} takes no more requests for now (HTTP 429){quoted}. "
                "Wait a little and ask again, or raise RAG_OPENAI_RETRIES."
            )
        if status in (408, 504):
            return self.timeout()
        if status == 404:
            other = ", or set RAG_OPENAI_API=chat" if self._settings.openai_api == "responses" else ""
            return GeneratorUnavailable(
                f"The {self._where} has no {model}, or no {self._api} at this address "
                f"(HTTP 404){quoted}. Correct one of them{other}; base URLs mostly end in /v1."
            )
        if 300 <= status < 400:
            return GeneratorUnavailable(
                f"The {self._where} redirects elsewhere (HTTP {status}), and documents are "
                "sent to no other address than the one you set. Set RAG_OPENAI_BASE_URL to the final address."
            )
        if status < 500 and _CONTEXT.search(f"{code} {said}".replace("_", " ")):
            return GeneratorUnavailable(
                f"The prompt was too long for {model} (HTTP {status}){quoted}. Lower "
                f"RAG_OPENAI_CONTEXT_TOKENS (now {self._settings.openai_context_tokens}) to its length."
            )
        return GeneratorUnavailable(
            f"The {self._where} could not answer (HTTP {status}){quoted}. Look at its log, and check {model}."
        )

    def timeout(self) -> GeneratorTimeout:
        """Nothing came for as long as the settings allow."""
        return GeneratorTimeout(
            f"The {self._where} sent nothing for {self._settings.openai_timeout_s:g} s. "
            "Check that it is not overloaded, or raise RAG_OPENAI_TIMEOUT_S."
        )

    def unreachable(self, cause: str) -> GeneratorUnavailable:
        """No connection came about."""
        return GeneratorUnavailable(
            f"No connection to the {self._where}{self._quoted(cause)}. Start it, or correct the address."
        )

    def no_connection(self) -> GeneratorTimeout:
        """Nobody took up the connection."""
        return GeneratorTimeout(
            f"No connection to the {self._where} came about in {CONNECT_TIMEOUT_S:g} s. Check "
            "the address and the network."
        )

    def unusable_environment(self, cause: str) -> GeneratorUnavailable:
        """The environment names a proxy or certificates that cannot be used."""
        return GeneratorUnavailable(
            f"No connection to the {self._where} can be made from here{self._quoted(cause)}. Correct HTTP_PROXY, "
            "HTTPS_PROXY, ALL_PROXY or SSL_CERT_FILE in the environment, or name this host in NO_PROXY."
        )

    def unusable_key(self) -> GeneratorAuthError:
        """The key holds characters that HTTP cannot carry."""
        return GeneratorAuthError(
            "OPENAI_API_KEY holds white space or characters that no key has, as after pasting more than the "
            "key. Set it again."
        )

    def interrupted(self, why: str) -> GeneratorInterrupted:
        """The stream ended or broke after some text had come."""
        return GeneratorInterrupted(
            f"The answer from the {self._where} broke off half-way: {self._clean(why)}. Ask again; if it happens "
            "often, look at its log."
        )

    def empty(self, why: str) -> GeneratorUnavailable:
        """The stream ended or broke before any text."""
        return GeneratorUnavailable(
            f"The {self._where} gave no answer: {self._clean(why)}. Check that it serves "
            f"{self._api} and that {self._model} is a chat model."
        )

    def declined(self, said: str) -> GeneratorUnavailable:
        """The model said that it will not answer, as providers let it say apart from answers."""
        return GeneratorUnavailable(
            f"{self._model} declined to answer{self._quoted(said)}. "
            "Put the question in other words, or set another model."
        )

    def only_reasoning(self) -> GeneratorUnavailable:
        """The model spent its tokens before the first word of the answer."""
        return GeneratorUnavailable(
            f"{self._model} used up "
            f"RAG_OPENAI_ANSWER_TOKENS={self._settings.openai_answer_tokens} before the answer began, as "
            "models that think first do. Raise it."
        )

    def _quoted(self, said: str) -> str:
        cleaned = self._clean(said)
        return f": {cleaned}" if cleaned else ""

    def _clean(self, said: str) -> str:
        hidden = said.replace(self._key, "***") if self._key else said
        printable = "".join(char if char.isprintable() else " " for char in hidden)
        return " ".join(printable.split())[:_LONGEST_QUOTE].rstrip(". ")


def _is_quota(code: str, said: str) -> bool:
    """Whether a 429 means that the account is used up, which waiting does not change."""
    return "quota" in f"{code} {said}".casefold()


def is_retryable(status: int, code: str, said: str) -> bool:
    """Whether another try may succeed after such an answer."""
    return status >= 500 or (status == 429 and not _is_quota(code, said))
