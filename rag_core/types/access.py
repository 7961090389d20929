"""Tokens with which other programs use the application."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

# What a token allows: to search and read, to add documents, or to delete them and to manage tokens.
Right = Literal["read", "add", "manage"]
RIGHTS: tuple[Right, ...] = get_args(Right)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who uses the application: what is allowed, and in which collections; in all of them if ``collections`` is empty.

    The default is someone at this computer, who may do everything.
    """

    rights: tuple[Right, ...] = RIGHTS
    collections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AccessToken:
    """A token, without its secret text. ``used_at`` is ``None`` if it was never used."""

    token_id: str
    name: str
    caller: Caller
    created_at: datetime
    used_at: datetime | None = None


def is_loopback(host: str) -> bool:
    """Return whether a name or an address stands for this computer alone."""
    if host.casefold() == "localhost" or host.casefold().endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback
