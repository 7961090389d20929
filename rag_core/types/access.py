"""Access tokens of the API, and the rights of a caller."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

# ``read``: search and read documents. ``add``: add documents. ``manage``: delete documents and manage access tokens.
Right = Literal["read", "add", "manage"]
RIGHTS: tuple[Right, ...] = get_args(Right)


@dataclass(frozen=True, slots=True)
class Caller:
    """The rights of a user or program. They apply to ``collections``, or to all collections if this is empty.

    By default, a caller has all rights to all collections, as the user of this computer does.
    """

    rights: tuple[Right, ...] = RIGHTS
    collections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AccessToken:
    """An access token, without its secret. ``used_at`` is the time of its last use; ``None`` if it was never used."""

    token_id: str
    name: str
    caller: Caller
    created_at: datetime
    used_at: datetime | None = None


def is_loopback(host: str) -> bool:
    """Return whether a host name or an IP address is a loopback address, which only this computer can reach."""
    if host.casefold() == "localhost" or host.casefold().endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback
