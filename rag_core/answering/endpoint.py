"""One request to an OpenAI-compatible endpoint, and what can go wrong with it.

The only module that imports ``openai``, when the first request is made.
"""

from __future__ import annotations

import ipaddress
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rag_core.answering.endpoint_errors import DEFAULT_BASE_URL, Explainer, is_quota
from rag_core.errors import GeneratorError
from rag_core.settings import Settings

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

# Servers on the own machine want no key, but the client is not made without one.
_NO_KEY = "no-key-needed"
_LONGEST_CONNECT_S = 10.0


class RequestError(Exception):
    """A request that came to nothing.

    Attributes
    ----------
    error : GeneratorError
        What to tell the reader. It is raised where no other exception is being handled, so that
        nothing of the client's request, which holds the key, hangs on to it.
    passing : bool
        Whether another try may succeed.
    after_s : float
        Seconds that the endpoint asks to wait before it; 0 when it asks for nothing.
    """

    def __init__(self, error: GeneratorError, *, passing: bool = False, after_s: float = 0.0) -> None:
        super().__init__(str(error))
        self.error = error
        self.passing = passing
        self.after_s = after_s


class Endpoint:
    """The endpoint that the ``openai_*`` settings name. Safe to use from many threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._explain = Explainer(settings)
        self._lock = threading.Lock()
        self._client: OpenAI | None = None
        self._options: dict[str, Any] = {
            "max_tokens": settings.openai_answer_tokens,
            "temperature": settings.openai_temperature,
        }

    def stream(self, messages: Sequence[dict[str, str]], ended: Callable[[str], None]) -> Generator[str, None, None]:
        """Pieces of the completion's text; at its end ``ended`` is told the ``finish_reason``.

        Closing the iterator closes the connection, at which servers stop generating.

        Raises
        ------
        RequestError
        """
        from openai import OpenAIError

        started = connected = False
        failure = None
        try:
            with closing(self._open(messages)) as chunks:
                connected = True
                for chunk in chunks:
                    text, finish = _content(chunk)
                    if text:
                        started = True
                        yield text
                    if finish:
                        ended(finish)
                        return
        except (OpenAIError, ValueError) as error:
            # The client lets JSON and UTF-8 errors of a stream through: both are ValueErrors.
            failure = self._failure(error, connected=connected, started=started)
        raise failure or self._broken("the stream ended before the answer was complete", started)

    def models(self) -> list[str]:
        """Names of the models that the endpoint offers, sorted.

        Raises
        ------
        RequestError
        """
        from openai import OpenAIError

        try:
            return sorted(str(model.id) for model in self._connect().models.list())
        except (OpenAIError, ValueError, AttributeError) as error:
            failure = self._failure(error, connected=False, started=False)
        raise failure

    def close(self) -> None:
        """Close idle connections; the next request opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client:
            client.close()

    def _connect(self) -> OpenAI:
        with self._lock:
            if self._client is None:
                self._client = self._new_client()
            return self._client

    def _new_client(self) -> OpenAI:
        from openai import DefaultHttpxClient, OpenAI, Timeout

        settings = self._settings
        url = settings.openai_base_url or DEFAULT_BASE_URL
        host = _host(url)
        if not host:
            raise RequestError(self._explain.unreachable("it does not begin with http:// or https:// and a host"))
        key = settings.openai_api_key.get_secret_value().strip() if settings.openai_api_key else ""
        if not all(33 <= ord(char) <= 126 for char in key):
            raise RequestError(self._explain.unusable_key())
        seconds = settings.openai_timeout_s
        timeout = Timeout(seconds, connect=min(seconds, _LONGEST_CONNECT_S))
        # Documents go to the address that was set: not to where it redirects, nor, when that address
        # is this machine, through a proxy that the environment names.
        http = DefaultHttpxClient(timeout=timeout, follow_redirects=False, trust_env=not _is_loopback(host))
        return OpenAI(api_key=key or _NO_KEY, base_url=url, timeout=timeout, max_retries=0, http_client=http)

    def _open(self, messages: Sequence[dict[str, str]]) -> Any:
        from openai import BadRequestError

        completions: Any = self._connect().chat.completions
        while True:
            options = dict(self._options)
            try:
                return completions.create(
                    model=self._settings.openai_model, messages=list(messages), stream=True, **options
                )
            except BadRequestError as error:
                simpler = _without(options, str(error.param or ""))
                if simpler is None:
                    raise
            self._options = simpler

    def _failure(self, error: Exception, *, connected: bool, started: bool) -> RequestError:
        import openai

        if isinstance(error, openai.APITimeoutError):
            return RequestError(self._explain.timeout())
        if isinstance(error, openai.APIStatusError):
            return self._refused(error)
        if isinstance(error, openai.APIConnectionError) and not connected:
            return RequestError(self._explain.unreachable(str(error.__cause__ or "")), passing=True)
        if isinstance(error, openai.APIConnectionError):
            return self._broken("the connection was lost", started)
        if isinstance(error, openai.APIError):
            code, said = _said(error)
            if code.isdecimal() and not started:
                return RequestError(self._explain.status(int(code), code, said))
            return self._broken(f"the endpoint reported “{said or code}”", started)
        return self._broken("the endpoint sent something that is not part of an answer", started)

    def _broken(self, why: str, started: bool) -> RequestError:
        if started:
            return RequestError(self._explain.interrupted(why))
        return RequestError(self._explain.empty(why), passing=True)

    def _refused(self, error: APIStatusError) -> RequestError:
        code, said = _said(error)
        explained = self._explain.status(error.status_code, code, said)
        passing = error.status_code >= 500 or (error.status_code == 429 and not is_quota(code, said))
        asked = error.response.headers.get("retry-after", "")
        after_s = float(asked) if asked.isdecimal() else 0.0
        # Nobody waits longer for a second try than they would for an answer.
        passing = passing and after_s <= self._settings.openai_timeout_s
        return RequestError(explained, passing=passing, after_s=after_s)


def _content(chunk: Any) -> tuple[str, str]:
    choices = getattr(chunk, "choices", None)
    if not isinstance(choices, list) or not choices:
        return "", ""
    text = getattr(getattr(choices[0], "delta", None), "content", None)
    finish = getattr(choices[0], "finish_reason", None)
    return text if isinstance(text, str) else "", finish if isinstance(finish, str) else ""


def _said(error: Any) -> tuple[str, str]:
    body = error.body if isinstance(error.body, dict) else {}
    said = body.get("message")
    return str(error.code or body.get("type") or ""), said if isinstance(said, str) else ""


def _without(options: dict[str, Any], refused: str) -> dict[str, Any] | None:
    """Request options without one that the model does not know, ``None`` if it was not ours.

    Models that think first know ``max_completion_tokens`` and one temperature; most other servers
    know only ``max_tokens``.
    """
    if refused not in options:
        return None
    simpler = {name: value for name, value in options.items() if name != refused}
    if refused == "max_tokens":
        simpler["max_completion_tokens"] = options["max_tokens"]
    return simpler


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and url.isprintable() and parts.port != 0
    except ValueError:
        return ""
    return (parts.hostname or "") if usable else ""


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
