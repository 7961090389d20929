"""Ask an endpoint for the context length of a model.

The list of models in OpenAI's format has no such field, but many servers add one, or tell it in an API of their own.
Servers distinguish the context that they run a model with from the largest context that the model supports. Only the
first is safe to use: some servers cut a longer prompt without an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlsplit

from rag_core.llm.addresses import build_key_headers, is_private_host
from rag_core.llm.request import is_loopback, parse_host
from rag_core.types import ModelChoice

# Context with which Ollama runs a model on most machines if neither the model nor the server sets one.
OLLAMA_TOKENS = 4096
# Most tokens that are used without being entered: longer prompts take more time and cost more.
MAX_REPORTED_TOKENS = 16_384
_TIMEOUT_S = 5.0
# A list of models is much smaller; a longer reply is not read.
_MAX_BYTES = 8_000_000
# Fields of an entry in the list of models, of vLLM, OpenRouter and Together, Groq, and llama.cpp.
_IN_USE = ("max_model_len", "context_length", "context_window", "n_ctx")
_SUPPORTED = ("max_context_length", "n_ctx_train")
_OLLAMA_NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d+)\s*$", re.MULTILINE)


def adopt_context_length(choice: ModelChoice, key: str, assumed: int) -> ModelChoice:
    """Return a connection with the context length that its endpoint reports, unless one was entered.

    ``key`` and ``assumed`` are as in `find_context_length`.
    """
    if choice.gguf or not choice.model or (choice.context_tokens and not choice.context_reported):
        return choice
    found = find_context_length(choice.base_url, choice.model, key, assumed)
    tokens = None if found is None else min(found, max(assumed, MAX_REPORTED_TOKENS))
    return replace(choice, context_tokens=tokens, context_reported=tokens is not None)


def find_context_length(base_url: str, model: str, key: str, assumed: int) -> int | None:
    """Return the context length with which an endpoint runs a model; ``None`` if the endpoint does not tell it.

    No text of a document is sent. If the endpoint tells only the largest context that the model supports, return that
    number if it is smaller than ``assumed``, which would be too much.

    Parameters
    ----------
    base_url, model, key : str
        Base URL of the endpoint, name of the model there, and API key; empty if it needs none.
    assumed : int
        The context length that is used if the endpoint tells none.
    """
    import httpx

    headers = ({"Authorization": f"Bearer {key}"} if key else {}) | build_key_headers(base_url, key)
    host = parse_host(base_url)
    supported: list[int] = []
    with httpx.Client(
        timeout=_TIMEOUT_S, follow_redirects=False, trust_env=not is_loopback(host), headers=headers
    ) as client:
        for in_use, largest in _ask(client, base_url.rstrip("/"), model, local=is_private_host(host)):
            if in_use:
                return in_use
            supported += [largest] if largest else []
    return next((tokens for tokens in supported if tokens < assumed), None)


def _ask(client: Any, base_url: str, model: str, *, local: bool) -> Iterator[tuple[int, int]]:
    """Yield context lengths from the sources of an endpoint: the one in use and the largest; 0 for an unknown one.

    The servers' own APIs are asked only on this machine or in its network, because services on the internet have none,
    and only if OpenAI's API is at the usual path of these servers.
    """
    listed = _request(client, "GET", f"{base_url}/models")
    yield _read_entry(_find_entry(listed.get("data"), "id", model))
    parts = urlsplit(base_url)
    if not local or parts.path not in ("", "/v1"):
        return
    root = f"{parts.scheme}://{parts.netloc}"
    # llama.cpp: the context of one of the server's slots.
    generation = _request(client, "GET", f"{root}/props").get("default_generation_settings")
    yield _read_number(generation, "n_ctx"), 0
    # LM Studio: an unloaded model has no loaded context.
    shown = _request(client, "GET", f"{root}/api/v0/models/{quote(model)}")
    yield _read_number(shown, "loaded_context_length"), _read_number(shown, "max_context_length")
    loaded = _request(client, "GET", f"{root}/api/ps").get("models")
    if isinstance(loaded, list):
        yield from _ask_ollama(client, root, model, loaded)


def _ask_ollama(client: Any, root: str, model: str, loaded: list[Any]) -> Iterator[tuple[int, int]]:
    running = _find_entry(loaded, "name", model) or _find_entry(loaded, "name", f"{model}:latest")
    yield _read_number(running, "context_length"), 0
    shown = _request(client, "POST", f"{root}/api/show", {"model": model})
    parameters, details = shown.get("parameters"), shown.get("model_info")
    named = _OLLAMA_NUM_CTX.search(parameters) if isinstance(parameters, str) else None
    names = [name for name in details if name.endswith(".context_length")] if isinstance(details, dict) else []
    largest = _read_number(details, names[0]) if names else 0
    in_use = int(named[1]) if named else OLLAMA_TOKENS
    yield min(in_use, largest) if largest else in_use, largest


def _request(client: Any, method: str, url: str, body: object = None) -> dict[str, Any]:
    """Return the JSON object of a reply; an empty one if there is no such reply."""
    import httpx

    data = b""
    try:
        with client.stream(method, url, json=body) as reply:
            if reply.status_code != 200 or "json" not in reply.headers.get("content-type", ""):
                return {}
            for piece in reply.iter_bytes():
                data += piece
                if len(data) > _MAX_BYTES:
                    return {}
        found = json.loads(data)
    # A server without the address is the usual case, and the test of the connection reports other problems.
    except (httpx.HTTPError, OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _find_entry(entries: Any, field: str, name: str) -> dict[str, Any]:
    named = (entry for entry in entries if isinstance(entry, dict) and entry.get(field) == name) if entries else ()
    return next(iter(named), {}) if isinstance(entries, list) else {}


def _read_entry(entry: dict[str, Any]) -> tuple[int, int]:
    places = [entry, entry.get("meta")]
    in_use, largest = (
        next((number for place in places for name in names if (number := _read_number(place, name))), 0)
        for names in (_IN_USE, _SUPPORTED)
    )
    return in_use, largest


def _read_number(source: Any, name: str) -> int:
    value = source.get(name) if isinstance(source, dict) else None
    # ``isinstance(value, int)`` would accept booleans.
    return value if type(value) is int and value > 0 else 0
