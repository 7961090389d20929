"""Find the base URL of the endpoint at an address that a user types, and find model servers on this machine."""

from __future__ import annotations

import ipaddress
import os
import re
import ssl
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rag_core.errors import GeneratorUnavailable, SettingsError
from rag_core.llm.presets import PRESETS, ModelPreset
from rag_core.llm.request import DEFAULT_BASE_URL, parse_host
from rag_core.types.access import is_loopback
from rag_core.types.status import ModelHost

if TYPE_CHECKING:
    import httpx

# Seconds to wait for a server on this machine, which answers at once, and for any other server.
_LOCAL_TIMEOUT_S = 0.5
_TIMEOUT_S = 10.0
_ENDPOINT_PATH = re.compile(
    r"/(?:chat/completions|completions|responses|models|embeddings|api/(?:chat|generate|tags|v0/models))$"
)
_AZURE_PATH = re.compile(r"/openai(?:/deployments/[^/]+)?(?:/v1)?$")
_AZURE_HOST = re.compile(r"\.(?:openai|services\.ai|cognitiveservices)\.azure\.(?:com|us|cn)$")
_VERSION = re.compile(r"/v\d+(?:beta)?$")
# Unlike Azure, Google writes the version before the name of the API.
_GOOGLE_PATH = re.compile(r"/v\d+(?:beta)?/openai$")
# Anthropic lists its models in a separate API, with its own headers.
_ANTHROPIC_HOST, _ANTHROPIC_VERSION = "api.anthropic.com", "2023-06-01"
# The variable from which Ollama's server and clients read their address, and their default port.
_OLLAMA_VARIABLE, _OLLAMA_PORT = "OLLAMA_HOST", 11434


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A model server on this machine: the id of its `ModelPreset`, its base URL, and the sorted names of its models."""

    preset: str
    base_url: str
    models: tuple[str, ...]


def build_base_urls(address: str) -> tuple[str, ...]:
    """Return the base URLs that an address can mean, most probable first.

    The address can lack ``/v1``, and can end in the path of a request, such as ``/chat/completions``. A query is
    ignored. If the address lacks the scheme, this is ``http`` for private hosts, and ``https`` for all others.

    Raises
    ------
    SettingsError
        The address is not an HTTP address, or contains a user name or password.
    """
    text = address.strip()
    if "://" not in text:
        host = parse_host(f"http://{text}")
        text = f"{'http' if is_private_host(host) else 'https'}://{text}"
    host = parse_host(text)
    if not host or any(char.isspace() for char in text):
        raise SettingsError("The address is not an HTTP address. Enter one such as http://localhost:11434/v1.")
    parts = urlsplit(text)
    if "@" in parts.netloc:
        raise SettingsError("The address contains a user name or password. Remove it, and enter the key as API key.")
    root = f"{parts.scheme}://{parts.netloc}"
    path = _ENDPOINT_PATH.sub("", re.sub(r"/+", "/", parts.path).rstrip("/"))
    if _AZURE_HOST.search(host) or (_AZURE_PATH.search(path) and not _GOOGLE_PATH.search(path)):
        return (f"{root}{_AZURE_PATH.sub('', path)}/openai/v1",)
    if _VERSION.search(path) or _GOOGLE_PATH.search(path):
        return (root + path,)
    return f"{root}{path}/v1", root + path, f"{root}{path}/openai/v1"


def find_host(address: str) -> ModelHost | None:
    """Return the host that an address names, without a request; ``None`` if `build_base_urls` refuses the address."""
    try:
        url = build_base_urls(address)[0]
    except SettingsError:
        return None
    return ModelHost(urlsplit(url).netloc, is_loopback(parse_host(url)))


def build_ollama_url(variable: str) -> str:
    """Return the base URL for a value of ``OLLAMA_HOST``; empty if the value has an invalid port or host.

    As in Ollama's own clients, the scheme and the port are optional, and ``0.0.0.0``, on which only a server can
    listen, means this machine.
    """
    text = variable.strip().strip("\"'")
    scheme, separator, rest = text.rpartition("://")
    try:
        parts = urlsplit(f"//{rest}")
        port = parts.port or ({"http": 80, "https": 443}.get(scheme, _OLLAMA_PORT) if separator else _OLLAMA_PORT)
    except ValueError:
        return ""
    host = parts.hostname or ""
    if host in ("", "0.0.0.0", "::"):  # noqa: S104 - no socket listens here
        host = "localhost"
    return f"{scheme or 'http'}://{f'[{host}]' if ':' in host else host}:{port}/v1"


def find_base_url(address: str, key: str = "") -> str:
    """Send requests to the base URLs that an address can mean; return the first one with an OpenAI-compatible endpoint.

    No text of a document is sent. An endpoint is recognized by its list of models or, if it has none, by its reply to
    an empty request. An endpoint that refuses the key is returned, too.

    Raises
    ------
    SettingsError
        The address is not an HTTP address, or contains a user name or password; or the key cannot be sent.
    GeneratorUnavailable
        No server answers, or the server has no such endpoint at the address.
    """
    urls = build_base_urls(address)
    for url in urls:
        status, body = _send_request("GET", f"{url}/models", key, _TIMEOUT_S)
        if status in (401, 403, 429) or (status == 200 and _parse_names(body) is not None):
            return url
    for url in urls:
        status, _ = _send_request("POST", f"{url}/chat/completions", key, _TIMEOUT_S)
        if status in (400, 401, 403, 415, 422, 429):
            return url
    raise GeneratorUnavailable(
        f"A server answers, but it has no OpenAI-compatible endpoint at {' or '.join(urls)}. "
        "Correct the address; most addresses end in /v1."
    )


def find_presets() -> tuple[ModelPreset, ...]:
    """Return `PRESETS`, with the base URL of Ollama from the environment variable ``OLLAMA_HOST`` if that is valid."""
    variable = os.environ.get(_OLLAMA_VARIABLE, "").strip()
    ollama_url = build_ollama_url(variable) if variable else ""
    return tuple(
        replace(preset, base_url=ollama_url) if preset.id == "ollama" and ollama_url else preset for preset in PRESETS
    )


def find_local_servers() -> tuple[LocalServer, ...]:
    """Return the model servers that answer on this machine, at the addresses of the presets with a ``list_path``."""
    presets = [one for one in find_presets() if one.list_path and is_loopback(parse_host(one.base_url))]
    with ThreadPoolExecutor() as pool:
        return tuple(filter(None, pool.map(_find_local_server, presets)))


def is_openai_address(address: str) -> bool:
    """Return whether an address is that of OpenAI's own endpoint, with HTTPS; false for an invalid address."""
    try:
        return all(f"{url}/".startswith(DEFAULT_BASE_URL.removesuffix("v1")) for url in build_base_urls(address))
    except SettingsError:
        return False


def build_key_headers(base_url: str, key: str) -> dict[str, str]:
    """Return the header in which Azure expects the key; empty without a key, and for other endpoints."""
    return {"api-key": key} if key and urlsplit(base_url).path.rstrip("/").endswith("/openai/v1") else {}


def build_list_headers(base_url: str, key: str) -> dict[str, str]:
    """Return the headers that send the key with a request for the list of models; empty without a key.

    Anthropic's list requires headers of its own, and refuses the header ``Authorization``.
    """
    if key and parse_host(base_url) == _ANTHROPIC_HOST:
        return {"x-api-key": key, "anthropic-version": _ANTHROPIC_VERSION}
    return ({"Authorization": f"Bearer {key}"} if key else {}) | build_key_headers(base_url, key)


def find_known_context(base_url: str) -> int | None:
    """Return the context length in tokens of the models at a host that does not report it.

    `PRESETS` contain these lengths. Return ``None`` for any other host.
    """
    host = parse_host(base_url)
    if _AZURE_HOST.search(host):
        return next(preset.context_tokens for preset in PRESETS if preset.id == "azure")
    known = (one.context_tokens for one in PRESETS if one.context_tokens and parse_host(one.base_url) == host)
    return next(known, None) if host else None


def open_client(url: str, key: str, timeout_s: float) -> httpx.Client:
    """Return an HTTP client that asks an endpoint about its models, with the headers of `build_list_headers`.

    The client follows no redirects. For an address on this machine, it ignores proxies in the environment.

    Raises
    ------
    SettingsError
        `is_sendable_key` is false for the key.
    """
    import httpx

    if not is_sendable_key(key):
        raise SettingsError("The API key contains white space or invalid characters. Enter it without other text.")
    return httpx.Client(
        timeout=timeout_s,
        follow_redirects=False,
        trust_env=not is_loopback(parse_host(url)),
        verify=choose_certificates(url),
        headers=build_list_headers(_ENDPOINT_PATH.sub("", url), key),
    )


def choose_certificates(url: str) -> ssl.SSLContext | bool:
    """Return the argument ``verify`` of an HTTP client for an address.

    For plain HTTP to this machine, no certificates are loaded, because loading them takes longer than a short request.
    """
    if url.lower().startswith("http://") and is_loopback(parse_host(url)):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return True


def is_sendable_key(key: str) -> bool:
    """Return whether an API key consists of printable ASCII characters without white space, as an HTTP header needs."""
    return all(33 <= ord(char) <= 126 for char in key)


def _find_local_server(preset: ModelPreset) -> LocalServer | None:
    parts = urlsplit(preset.base_url)
    try:
        status, body = _send_request("GET", f"{parts.scheme}://{parts.netloc}{preset.list_path}", "", _LOCAL_TIMEOUT_S)
    except GeneratorUnavailable:
        return None
    names = _parse_names(body)
    return None if status != 200 or names is None else LocalServer(preset.id, preset.base_url, tuple(sorted(names)))


def _send_request(method: str, url: str, key: str, timeout_s: float) -> tuple[int, Any]:
    """Return the status and the JSON body of a reply; the body is ``None`` if it is not JSON.

    The body of a POST request is an empty object. Raise `GeneratorUnavailable` if no reply arrives.
    """
    import httpx

    reply, cause = None, ""
    try:
        with open_client(url, key, timeout_s) as client:
            reply = client.request(method, url, json={} if method == "POST" else None)
    except (httpx.HTTPError, OSError, ValueError) as error:
        cause = type(error).__name__ if isinstance(error, httpx.TimeoutException) else str(error)
    # Raise the error outside of the handler: the client's error, which refers to the key, would be its context.
    if reply is None:
        shown = cause.replace(key, "***") if key else cause
        raise GeneratorUnavailable(f"No connection to {url} ({shown}). Start the server, or correct the address.")
    try:
        return reply.status_code, reply.json()
    except ValueError:
        return reply.status_code, None


def _parse_names(body: Any) -> list[str] | None:
    """Return the names in a list of models in OpenAI's or Ollama's format; ``None`` if the body is no such list."""
    entries = (body.get("data") or body.get("models") or []) if isinstance(body, dict) else None
    if not isinstance(entries, list) or not ({"data", "models"} & body.keys()):
        return None
    named = [entry.get("id") or entry.get("name") for entry in entries if isinstance(entry, dict)]
    return [str(name) for name in named if name]


def is_private_host(host: str) -> bool:
    """Return whether a host, given by its name or IP address, is this machine or in a private network."""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return is_loopback(host) or "." not in host or host.endswith((".local", ".lan", ".internal"))
