"""The content and the report of a request to an endpoint, and the parsing of headers, errors and addresses.

The module imports no client library; it reads the attributes of errors by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from rag_core.llm.tool_calls import CallPiece, Tool

DEFAULT_BASE_URL = "https://api.openai.com/v1"
# Error codes of stream events, mapped to the equivalent HTTP status.
STATUS_BY_ERROR_CODE = {
    **{"server_error": 500, "rate_limit_exceeded": 429, "insufficient_quota": 429},
    **{"api_error": 500, "overloaded_error": 529, "rate_limit_error": 429},
}
# Limit on the tokens of a reply with reasoning, as a multiple of the limit on the answer alone.
REASONING_FACTOR = 4
# Words of an error message that rejects an option, in contrast to one that rejects only the option's value.
_UNKNOWN = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown|unexpected|not (?:permitted|allowed)|extra|deprecated", re.I
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
# This option is never dropped: without it, the provider would store the request.
_REQUIRED_OPTION = "store"


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """The content of a request to a model.

    Attributes
    ----------
    messages : sequence of dict
        Chat messages, as in `rag_core.llm.message_parts`.
    tools : sequence of Tool
        Tools that the model can call.
    schema : dict, optional
        JSON schema of the reply. Not every endpoint enforces it.
    must_call : bool
        Whether the model has to call a tool. Not every endpoint enforces this.
    """

    messages: Sequence[dict[str, Any]]
    tools: Sequence[Tool] = ()
    schema: dict[str, Any] | None = None
    must_call: bool = False


@dataclass(slots=True)
class RequestReport:
    """The result of a request. It is complete when the stream has ended, even if it ended with an error.

    Attributes
    ----------
    finish : str
        Why the text ended, as in `rag_core.llm.openai_apis.StreamEvent`.
    written : str
        The whole text of the model, including ``refusal``.
    refusal : str
        The text with which the model refuses to answer.
    tokens : tuple of int, optional
        Input and output tokens, if the endpoint reports them.
    calls : list of CallPiece
        Pieces of the calls of tools.
    is_reasoning : bool
        Whether the model has reasoned since its last piece of text.
    disconnect : callable
        Closes the connection, so that a thread that waits for the next event wakes.
    """

    finish: str = ""
    written: str = ""
    refusal: str = ""
    tokens: tuple[int, int] | None = None
    calls: list[CallPiece] = field(default_factory=list)
    is_reasoning: bool = False
    disconnect: Callable[[], None] = lambda: None


def parse_retry_after_s(headers: Any) -> float:
    """Return for how many seconds headers ask a client to wait; 0 if they do not ask, or are invalid.

    The value of ``Retry-After`` is a number of seconds or a date (RFC 9110, 10.2.3). OpenAI and Azure also send
    ``retry-after-ms``, which is more precise and has priority.
    """
    milliseconds, value = (str(headers.get(name, "")).strip() for name in ("retry-after-ms", "retry-after"))
    if _NUMBER.fullmatch(milliseconds):
        return float(milliseconds) / 1000
    if _NUMBER.fullmatch(value):
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def extract_error_details(error: Any) -> tuple[str, str]:
    """Return the code and the message of an error of the client library; each is empty if the error has none.

    Some endpoints send plain text instead of an error object, or put the message into the field "detail". Google sends
    a list of objects. OpenRouter puts the error of a model's provider into the field "metadata".
    """
    body = error.body
    if isinstance(body, list) and body and isinstance(body[0], dict):
        body = body[0].get("error")
    body = body if isinstance(body, dict) else {"message": body}
    message = body.get("message") or body.get("detail")
    message = message if isinstance(message, str) else ""
    details = body.get("metadata")
    if isinstance(details, dict) and details.get("raw"):
        message = f"{message} ({details.get('provider_name', 'the provider')}: {details['raw']})"
    return str(error.code or body.get("code") or body.get("type") or ""), message


def drop_rejected_option(options: dict[str, Any], error: Any) -> dict[str, Any] | None:
    """Return a request's options without the option that the endpoint rejects; ``None`` if no option can be dropped.

    A rejected ``max_tokens`` is replaced by ``max_completion_tokens``. OpenAI's reasoning models accept only the latter
    and only one temperature, but most other servers accept only ``max_tokens``. The limit of a reasoning model is
    raised, because it includes the reasoning.
    """
    message = str(error)
    unknown = (name for name in options if re.search(rf"\b{name}\b", message) and _UNKNOWN.search(message))
    rejected = str(error.param or next(unknown, ""))
    if rejected not in options or rejected == _REQUIRED_OPTION:
        return None
    remaining = {name: value for name, value in options.items() if name != rejected}
    if rejected == "max_tokens":
        remaining["max_completion_tokens"] = REASONING_FACTOR * options["max_tokens"]
    if rejected == "temperature" and "max_output_tokens" in options:
        remaining["max_output_tokens"] = REASONING_FACTOR * options["max_output_tokens"]
    return remaining


def redact_url(url: str) -> str:
    """Return a URL without user name, password, query and fragment, which may be secret; a note for an invalid URL."""
    try:
        parts = urlsplit(url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    except ValueError:
        return "(not a URL)"


def parse_host(url: str) -> str:
    """Return the host of an HTTP URL; empty if the URL is invalid or not HTTP."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and url.isprintable() and parts.port != 0
        (parts.hostname or "").encode("idna")
    except ValueError:
        return ""
    return (parts.hostname or "") if usable else ""
