"""Trying an endpoint out: what works, and what to do about what does not."""

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
from rag_core.types import ModelCheck, Usage

REACHABLE, KEY, MODEL, STREAMING, SPEED = "Reachable", "Key", "Model", "Streaming", "First text"
_ASKED = [{"role": "user", "content": "Count from one to five in words, and say nothing else."}]
# Pieces after which nothing more is to be learnt, and the request is given up.
_ENOUGH = 12
_LISTED = 5
# Where pieces come all at once at the end of a wait of this length, something holds them back.
_LONG_S, _BURST_S = 3.0, 0.02


@dataclass(frozen=True, slots=True)
class _Reply:
    """When text came, in seconds after the request, and how the request failed, if it did."""

    moments: tuple[float, ...]
    failure: RequestError | None


def check_connection(endpoint: Endpoint, settings: Settings, on_usage: Callable[[Usage], None]) -> Iterator[ModelCheck]:
    """Ask for the list of models, then for a few words, once and without retries.

    Yields what was found as soon as it is known: whether the endpoint can be reached, takes the key,
    knows the model and streams, and how long the first text took. What depends on something that
    failed is left out.
    """
    reached, listed = _reachable(endpoint)
    yield reached
    if not reached.passed:
        return
    reply = _ask(endpoint, settings, on_usage)
    if reply.failure is not None and not reply.moments:
        name = KEY if isinstance(reply.failure.error, GeneratorAuthError) else MODEL
        yield ModelCheck(name, False, str(reply.failure))
        return
    if not settings.gguf:
        yield ModelCheck(
            KEY, True, "It was accepted." if settings.openai_api_key else "None is set, and none is wanted."
        )
    yield _known(settings.model, listed)
    yield _streaming(reply)
    if reply.moments:
        yield ModelCheck(SPEED, True, f"It came after {1000 * reply.moments[0]:,.0f} ms.")


def _reachable(endpoint: Endpoint) -> tuple[ModelCheck, list[str] | None]:
    """Whether anyone is there and lets us in, and the models that it lists; ``None`` where it lists none."""
    try:
        endpoint.warm_up()
        models = endpoint.models()
    except RequestError as failed:
        if isinstance(failed.error, GeneratorAuthError):
            return ModelCheck(KEY, False, str(failed)), None
        if failed.status:
            return ModelCheck(REACHABLE, True, f"It answers, but lists no models (HTTP {failed.status})."), None
        return ModelCheck(REACHABLE, False, str(failed)), None
    found = "1 model" if len(models) == 1 else f"{len(models)} models"
    return ModelCheck(REACHABLE, True, f"It answers and lists {found}."), models


def _ask(endpoint: Endpoint, settings: Settings, on_usage: Callable[[Usage], None]) -> _Reply:
    report, moments, failure = RequestReport(), list[float](), None
    started = time.perf_counter()
    try:
        with closing(endpoint.stream(_ASKED, report)) as pieces:
            for _ in pieces:
                moments.append(time.perf_counter() - started)
                if len(moments) == _ENOUGH:
                    break
    except RequestError as failed:
        failure = failed
    if report.written or report.tokens:
        on_usage(estimate_usage(settings, _ASKED, report.written, report.tokens))
    return _Reply(tuple(moments), failure)


def _known(model: str, listed: list[str] | None) -> ModelCheck:
    if listed is None or model in listed:
        return ModelCheck(MODEL, True, f"{model} answers.")
    shown = ", ".join(listed[:_LISTED]) + (", …" if len(listed) > _LISTED else "")
    return ModelCheck(MODEL, None, f"{model} answers, but is not among the models that it lists: {shown}.")


def _streaming(reply: _Reply) -> ModelCheck:
    moments = reply.moments
    if reply.failure is not None:
        return ModelCheck(STREAMING, False, str(reply.failure))
    if not moments:
        return ModelCheck(
            STREAMING,
            None,
            "No text came. A model that thinks first may need more tokens: raise RAG_OPENAI_ANSWER_TOKENS.",
        )
    if len(moments) == 1:
        return ModelCheck(
            STREAMING,
            False,
            "The text came in one piece, so readers see nothing until it is complete. Let the server stream.",
        )
    if moments[-1] > _LONG_S and moments[-1] - moments[0] < _BURST_S:
        return ModelCheck(
            STREAMING,
            False,
            "All pieces came at the same moment, so something on the way holds them back. Turn off buffering in the "
            "proxy before it.",
        )
    return ModelCheck(STREAMING, True, "The text comes in pieces.")
