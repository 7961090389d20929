"""A request to an endpoint: its address, its report, and what an error means for the next try.

The module imports no client library; errors are read by the names of their attributes.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from rag_core.errors import GeneratorError

DEFAULT_BASE_URL = "https://api.openai.com/v1"
# Codes of errors that come as events, and the HTTP status that says the same.
STATUS_OF = {"server_error": 500, "rate_limit_exceeded": 429, "insufficient_quota": 429}
# How a refusal that names an option in words alone says that it is not known, and not just too large.
_UNKNOWN = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown|unexpected|not (?:permitted|allowed)|extra|deprecated", re.I
)
# Without it the provider keeps what it is sent: rather no answer.
_INDISPENSABLE = "store"


class RequestError(Exception):
    """A request that came to nothing.

    Attributes
    ----------
    error : GeneratorError
        What to tell the reader. It is raised where no other exception is being handled, so that
        nothing of the client's request, which holds the key, hangs on to it.
    status : int
        HTTP status of the endpoint's reply; 0 where there was none.
    passing : bool
        Whether another try may succeed.
    after_s : float
        Seconds that the endpoint asks to wait before it; 0 when it asks for nothing.
    """

    def __init__(self, error: GeneratorError, *, status: int = 0, passing: bool = False, after_s: float = 0.0) -> None:
        super().__init__(str(error))
        self.error = error
        self.status = status
        self.passing = passing
        self.after_s = after_s


@dataclass(slots=True)
class RequestReport:
    """What a request brought beside its pieces: complete once its stream has ended, however that was.

    ``finish`` is as in `rag_core.llm.openai_apis.StreamEvent`; ``written`` is all that the model wrote, also
    what it declined with in ``refusal``; ``tokens`` are those of input and output, where told.
    """

    finish: str = ""
    written: str = ""
    refusal: str = ""
    tokens: tuple[int, int] | None = None


def retry_after_s(headers: Any) -> float:
    """Seconds that ``Retry-After`` asks to wait, given as such or as a date (RFC 9110, 10.2.3); else 0."""
    asked = str(headers.get("retry-after", "")).strip()
    if asked.isdecimal():
        return float(asked)
    try:
        moment = parsedate_to_datetime(asked)
    except ValueError:
        return 0.0
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def error_details(error: Any) -> tuple[str, str]:
    """Code and message of the endpoint's error object; some send words in its place, or call them "detail"."""
    body = error.body if isinstance(error.body, dict) else {"message": error.body}
    said = body.get("message") or body.get("detail")
    return str(error.code or body.get("type") or ""), said if isinstance(said, str) else ""


def drop_rejected_option(options: dict[str, Any], error: Any) -> dict[str, Any] | None:
    """A request's options without the one that the endpoint does not take, ``None`` if it was not ours.

    Models that think first know ``max_completion_tokens`` and one temperature; most other servers
    know only ``max_tokens``.
    """
    said = str(error)
    named = (name for name in options if re.search(rf"\b{name}\b", said) and _UNKNOWN.search(said))
    refused = str(error.param or next(named, ""))
    if refused not in options or refused == _INDISPENSABLE:
        return None
    simpler = {name: value for name, value in options.items() if name != refused}
    if refused == "max_tokens":
        simpler["max_completion_tokens"] = options["max_tokens"]
    return simpler


def redact_url(url: str) -> str:
    """Return a URL without user name, password, query and fragment, which may be secrets."""
    try:
        parts = urlsplit(url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    except ValueError:
        return "(not a URL)"


def host_of(url: str) -> str:
    """Return the host of an HTTP URL; empty if it is none."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and url.isprintable() and parts.port != 0
        (parts.hostname or "").encode("idna")
    except ValueError:
        return ""
    return (parts.hostname or "") if usable else ""


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
