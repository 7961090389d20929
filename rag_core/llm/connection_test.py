"""Test the connection to an endpoint, and say what to do about failures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

from rag_core.errors import GeneratorAuthError
from rag_core.llm.endpoint import Endpoint
from rag_core.llm.pricing import estimate_usage
from rag_core.llm.request import RequestError, RequestReport
from rag_core.settings import Settings
from rag_core.types import ModelCheck, Usage, format_count

REACHABLE, KEY, MODEL, STREAMING, SPEED = "Reachable", "Key", "Model", "Streaming", "First text"
_MESSAGES = [{"role": "user", "content": "Count from one to five in words, and say nothing else."}]
# Number of pieces of text after which the request is cancelled; further pieces would not change the result.
_MOST_PIECES = 12
_MOST_LISTED = 5
# A proxy buffers the stream if all pieces arrive within `_BURST_S` seconds after a wait of more than `_LONG_S` seconds.
_LONG_S, _BURST_S = 3.0, 0.02


@dataclass(frozen=True, slots=True)
class _Reply:
    """The reply to the test request.

    ``moments`` are the times at which the pieces of text arrived, in seconds after the start of the request.
    ``failure`` is the error of the request, if any.
    """

    moments: tuple[float, ...]
    failure: RequestError | None


def check_connection(endpoint: Endpoint, settings: Settings, on_usage: Callable[[Usage], None]) -> Iterator[ModelCheck]:
    """Request the list of models and a short text, without retries, and yield the result of each check.

    The checks tell whether the endpoint is reachable, accepts the key, has the model and streams the text, and how long
    the first text takes. Checks that depend on a failed check are skipped.
    """
    reachable, listed = _check_reachable(endpoint)
    yield reachable
    if not reachable.passed:
        return
    reply = _send_request(endpoint, settings, on_usage)
    if reply.failure is not None and not reply.moments:
        name = KEY if isinstance(reply.failure.error, GeneratorAuthError) else MODEL
        yield ModelCheck(name, False, str(reply.failure))
        return
    if not settings.gguf:
        yield ModelCheck(
            KEY, True, "The key was accepted." if settings.openai_api_key else "No key is set, and none is required."
        )
    yield _check_model(settings.model, listed)
    yield _check_streaming(reply)
    if reply.moments:
        yield ModelCheck(SPEED, True, f"It arrived after {1000 * reply.moments[0]:,.0f} ms.")


def _check_reachable(endpoint: Endpoint) -> tuple[ModelCheck, list[str] | None]:
    """Return the result of the check, and the endpoint's list of models; ``None`` if it has no such list."""
    try:
        endpoint.warm_up()
        models = endpoint.models()
    except RequestError as failed:
        if isinstance(failed.error, GeneratorAuthError):
            return ModelCheck(KEY, False, str(failed)), None
        if failed.status:
            return ModelCheck(REACHABLE, True, f"It answers, but has no list of models (HTTP {failed.status})."), None
        return ModelCheck(REACHABLE, False, str(failed)), None
    return ModelCheck(REACHABLE, True, f"It answers and lists {format_count(len(models), 'model')}."), models


def _send_request(endpoint: Endpoint, settings: Settings, on_usage: Callable[[Usage], None]) -> _Reply:
    report, moments, failure = RequestReport(), list[float](), None
    started = time.perf_counter()
    try:
        with closing(endpoint.stream(_MESSAGES, report)) as pieces:
            for _ in pieces:
                moments.append(time.perf_counter() - started)
                if len(moments) == _MOST_PIECES:
                    break
    except RequestError as failed:
        failure = failed
    if report.written or report.tokens:
        on_usage(estimate_usage(settings, _MESSAGES, report.written, report.tokens))
    return _Reply(tuple(moments), failure)


def _check_model(model: str, listed: list[str] | None) -> ModelCheck:
    if listed is None or model in listed:
        return ModelCheck(MODEL, True, f"{model} answers.")
    shown = ", ".join(listed[:_MOST_LISTED]) + (", …" if len(listed) > _MOST_LISTED else "")
    return ModelCheck(MODEL, None, f"{model} answers, but is not in the endpoint's list of models: {shown}.")


def _check_streaming(reply: _Reply) -> ModelCheck:
    moments = reply.moments
    if reply.failure is not None:
        return ModelCheck(STREAMING, False, str(reply.failure))
    if not moments:
        return ModelCheck(
            STREAMING,
            None,
            "No text arrived. A reasoning model may need more tokens: raise RAG_OPENAI_ANSWER_TOKENS.",
        )
    if len(moments) == 1:
        return ModelCheck(
            STREAMING,
            False,
            "The text arrived in one piece, so users see nothing until it is complete. Let the server stream.",
        )
    if moments[-1] > _LONG_S and moments[-1] - moments[0] < _BURST_S:
        return ModelCheck(
            STREAMING,
            False,
            "All pieces arrived at the same moment, so a proxy in front of the endpoint buffers them. Turn off its "
            "buffering.",
        )
    return ModelCheck(STREAMING, True, "The text arrives in pieces.")
