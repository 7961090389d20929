"""Ask an endpoint for the context length of a model.

OpenAI's list of models does not contain the context length, but many servers add it to their list or have a separate
API for it. Servers run a model with a context that can be smaller than the largest context that the model supports.
Prompts must fit into the context in use, because some servers cut a longer prompt without an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urlsplit

from rag_core.errors import SettingsError
from rag_core.llm.addresses import is_private_host, open_client
from rag_core.llm.request import parse_host

# Context with which Ollama runs a model on most machines if neither the model nor the server sets one.
OLLAMA_TOKENS = 4096
# Context that is assumed if nothing is known about the model.
DEFAULT_CONTEXT_TOKENS = 8192
# Most tokens of a reported context that are used. A user who wants more enters the context length.
MAX_REPORTED_TOKENS = 131_072
# Most tokens of a prompt whose content would fill any context, such as that of a summary: longer prompts take more time
# and cost more. A user who wants more enters the context length.
MAX_FILLED_TOKENS = 16_384
_TIMEOUT_S = 5.0
# Longest reply that is read. A list of models is much shorter.
_MAX_BYTES = 8_000_000
# Names of the field with the context in use in the lists of models of vLLM, of OpenRouter and Together, of Groq, and of
# llama.cpp; and names of the field with the largest context that a model supports.
_IN_USE_FIELDS = ("max_model_len", "context_length", "context_window", "n_ctx")
_LARGEST_FIELDS = ("max_context_length", "n_ctx_train")
_OLLAMA_NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d+)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ReportedContext:
    """What an endpoint reports about the context of a model.

    Attributes
    ----------
    tokens : int
        The context with which the endpoint runs the model; 0 if it does not report it.
    largest : int
        The largest context that the model supports; 0 if it is not reported.
    is_ollama : bool
        Whether ``tokens`` is a setting of Ollama.
    is_final : bool
        Whether a later request would report the same. False if the endpoint did not answer, or has not loaded a model
        that it loads on demand.
    """

    tokens: int = 0
    largest: int = 0
    is_ollama: bool = False
    is_final: bool = False

    def limit(self, assumed: int) -> int | None:
        """Return the context in use.

        If it is not reported, return the largest context, provided that this is reported and smaller than ``assumed``;
        otherwise ``None``.
        """
        return self.tokens or (self.largest if 0 < self.largest < assumed else None)


def describe_ollama_remedy(found: ReportedContext) -> str:
    """Return how a user can raise the context of Ollama, which requests in OpenAI's format cannot set.

    The text is empty for another server, for a model whose largest context is unknown, and for a context that is at
    least `MAX_FILLED_TOKENS` or the largest that the model supports.
    """
    if not found.is_ollama or found.tokens >= min(found.largest, MAX_FILLED_TOKENS):
        return ""
    return (
        f"The model supports {found.largest:,}, but Ollama runs it with fewer, and cuts longer prompts. Start Ollama "
        f"with OLLAMA_CONTEXT_LENGTH={MAX_FILLED_TOKENS} or more, or create a model with “PARAMETER num_ctx "
        f"{MAX_FILLED_TOKENS}” in its Modelfile."
    )


def ask_context_length(base_url: str, model: str, key: str, *, timeout_s: float = _TIMEOUT_S) -> ReportedContext:
    """Return what an endpoint reports about the context of a model; an empty report if the endpoint cannot be asked.

    No text of a document is sent.

    Parameters
    ----------
    base_url, model, key : str
        Base URL of the endpoint, name of the model there, and API key; empty if it needs none.
    timeout_s : float
        Seconds to wait for each reply.
    """
    import httpx

    largest, is_final = 0, True
    try:
        with open_client(base_url, key, timeout_s) as client:
            for source in _ask_sources(
                client, base_url.rstrip("/"), model, local=is_private_host(parse_host(base_url))
            ):
                largest, is_final = largest or source.largest, is_final and source.is_final
                if source.tokens:
                    return replace(source, largest=source.largest or largest)
    # The server did not answer the first request, the address or the key is invalid, or a proxy or certificates of the
    # environment cannot be used.
    except (httpx.HTTPError, OSError, ValueError, ImportError, SettingsError):
        return ReportedContext()
    return ReportedContext(largest=largest, is_final=is_final)


def _ask_sources(client: Any, base_url: str, model: str, *, local: bool) -> Iterator[ReportedContext]:
    """Yield the report of each API of an endpoint; raise `httpx.HTTPError` if the endpoint does not answer.

    The APIs of llama.cpp, LM Studio and Ollama are asked only on this machine and in its network, and only if OpenAI's
    API is at the usual path of these servers.
    """
    listed = _fetch_json(client, "GET", f"{base_url}/models", must_answer=True)
    yield _read_entry(_find_entry(listed.get("data"), "id", model))
    parts = urlsplit(base_url)
    if not local or parts.path not in ("", "/v1"):
        return
    root = f"{parts.scheme}://{parts.netloc}"
    # llama.cpp: the context of one of the server's slots.
    generation = _fetch_json(client, "GET", f"{root}/props").get("default_generation_settings")
    yield ReportedContext(_read_number(generation, "n_ctx"), is_final=True)
    # LM Studio: an unloaded model has no loaded context.
    shown = _fetch_json(client, "GET", f"{root}/api/v0/models/{quote(model)}")
    in_use, largest = (_read_number(shown, f"{name}_context_length") for name in ("loaded", "max"))
    yield ReportedContext(in_use, largest, is_final=bool(in_use) or not largest)
    loaded = _fetch_json(client, "GET", f"{root}/api/ps").get("models")
    if isinstance(loaded, list):
        yield _ask_ollama(client, root, model, loaded)


def _ask_ollama(client: Any, root: str, model: str, loaded: list[Any]) -> ReportedContext:
    running = _find_entry(loaded, "name", model) or _find_entry(loaded, "name", f"{model}:latest")
    shown = _fetch_json(client, "POST", f"{root}/api/show", {"model": model})
    parameters, details = shown.get("parameters"), shown.get("model_info")
    named = _OLLAMA_NUM_CTX.search(parameters) if isinstance(parameters, str) else None
    names = [name for name in details if name.endswith(".context_length")] if isinstance(details, dict) else []
    largest = _read_number(details, names[0]) if names else 0
    if in_use := _read_number(running, "context_length"):
        return ReportedContext(in_use, largest, is_ollama=True, is_final=True)
    in_use = int(named[1]) if named else OLLAMA_TOKENS
    # Before the model is loaded, the server's default context is not known, only that in the model's parameters.
    in_use = min(in_use, largest) if largest else in_use
    return ReportedContext(in_use, largest, is_ollama=True, is_final=named is not None)


def _fetch_json(
    client: Any, method: str, url: str, body: object = None, *, must_answer: bool = False
) -> dict[str, Any]:
    """Return the JSON object of a reply; an empty object if there is none.

    With ``must_answer``, raise the error of a request that fails before any data arrives.
    """
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
    # Most servers do not have the address. The test of the connection reports other problems.
    except (httpx.HTTPError, OSError, ValueError):
        if must_answer and not data:
            raise
        return {}
    return found if isinstance(found, dict) else {}


def _find_entry(entries: Any, field: str, name: str) -> dict[str, Any]:
    named = (entry for entry in entries if isinstance(entry, dict) and entry.get(field) == name) if entries else ()
    return next(iter(named), {}) if isinstance(entries, list) else {}


def _read_entry(entry: dict[str, Any]) -> ReportedContext:
    places = [entry, entry.get("meta")]
    in_use, largest = (
        next((number for place in places for name in names if (number := _read_number(place, name))), 0)
        for names in (_IN_USE_FIELDS, _LARGEST_FIELDS)
    )
    return ReportedContext(in_use, largest, is_final=True)


def _read_number(source: Any, name: str) -> int:
    value = source.get(name) if isinstance(source, dict) else None
    # ``isinstance(value, int)`` would accept booleans.
    return value if type(value) is int and value > 0 else 0
