"""Decide who sends a request, and whether the application answers it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rag_core.engine import Engine
from rag_core.errors import RequestError
from rag_core.types.access import Caller, Right, is_loopback

if TYPE_CHECKING:  # the command line, which imports this module, needs no server
    from starlette.requests import HTTPConnection

# A token that is ignored, for programs that cannot leave out the token.
NO_TOKEN = "local"  # noqa: S105 - not a secret
# Headers that a proxy adds. A request with such a header may come from another computer, although it seems to come from
# this one.
_FORWARDED = re.compile(r"(x-forwarded|x-real|cf)-.*|x-client-ip|true-client-ip|forwarded|via")
_HOW_TO_CREATE = (
    "Create one on the Settings page, or, while the application is closed, with: "
    "python -m rag_core token create NAME --right read"
)


def find_caller(request: HTTPConnection, engine: Engine, served_at: str) -> Caller:
    """Return who sends a request.

    Requests that a page of another site makes a browser send are refused. The header ``Origin`` contains the site, or
    the page is at a name that resolves to this computer (DNS rebinding).

    Parameters
    ----------
    request : HTTPConnection
    engine : Engine
    served_at : str
        The address at which the server listens.

    Raises
    ------
    RequestError
        The request comes from a page of another site, has an unknown token, or lacks a required token.
    """
    headers = request.headers
    host = headers.get("host", "")
    origin = headers.get("origin")
    if _is_foreign(origin, host) or headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise RequestError(403, "Pages of other sites cannot use this application. Send the request from a program.")
    kind, _, secret = headers.get("authorization", "").partition(" ")
    secret = secret.strip()
    if secret and secret != NO_TOKEN:
        token = engine.tokens.find(secret) if kind.casefold() == "bearer" else None
        if token is None:
            raise RequestError(401, f"This token is unknown or was revoked. {_HOW_TO_CREATE}.")
        return token.caller
    if not is_loopback(served_at) and not engine.tokens.list():
        raise RequestError(
            403,
            f"Other computers can reach this application, because it listens at {served_at or 'every address'}, and "
            "there are no tokens yet, so programs cannot use it. Either set STREAMLIT_SERVER_ADDRESS to localhost, or "
            f"create a token. {_HOW_TO_CREATE}.",
        )
    is_local = request.client is not None and is_loopback(request.client.host) and is_loopback(_parse_host_name(host))
    if not is_local or any(map(_FORWARDED.fullmatch, headers)):
        raise RequestError(
            401,
            "Requests from other computers, through a proxy or to another name than localhost need a token: send "
            f"“Authorization: Bearer TOKEN”. {_HOW_TO_CREATE}.",
        )
    return Caller()


def require_right(caller: Caller, right: Right) -> None:
    """Raise `RequestError` if a caller lacks a right."""
    if right not in caller.rights:
        raise RequestError(
            403, f"This token does not allow this: it lacks the right “{right}”. Use a token that has it."
        )


def require_all_collections(caller: Caller, what: str) -> None:
    """Raise `RequestError` if a caller sees only some collections.

    ``what`` begins the sentence of the message, such as "Conversations need".
    """
    if caller.collections:
        raise RequestError(403, f"This token is for some collections. {what} a token for all collections.")


def _is_foreign(origin: str | None, host: str) -> bool:
    """Return whether a request to the name ``host`` comes from a page of another site."""
    try:
        return origin is not None and urlsplit(origin).netloc.casefold() != host.casefold()
    except ValueError:
        return True


def _parse_host_name(host: str) -> str:
    """Return the name in a Host header, without the port; empty if the header is invalid."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
