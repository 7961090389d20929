"""Addresses of endpoints: what of them may be shown, and where they lead."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit, urlunsplit

DEFAULT_BASE_URL = "https://api.openai.com/v1"


def shown_url(url: str) -> str:
    """A URL without user name, password, query and fragment, which may be secrets."""
    try:
        parts = urlsplit(url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    except ValueError:
        return "(not a URL)"


def host_of(url: str) -> str:
    """The host of an HTTP URL; empty where it is none."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and url.isprintable() and parts.port != 0
        (parts.hostname or "").encode("idna")
    except ValueError:
        return ""
    return (parts.hostname or "") if usable else ""


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
