"""Endpoints of tokens, for callers with all rights."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from rag_core.api import json_rows
from rag_core.api.access import require_all_collections, require_right
from rag_core.api.calls import Body, Call, Endpoint
from rag_core.types.access import RIGHTS, Right


class NewToken(Body):
    """A token to create."""

    name: str
    rights: list[Right]
    collections: list[str] = Field([], description="Names of collections; by default all of them.")


def _require_all_rights(call: Call) -> None:
    require_all_collections(call.caller, "Tokens are managed with")
    # A token with fewer rights could create one with more.
    for right in RIGHTS:
        require_right(call.caller, right)


def _list_tokens(call: Call) -> dict[str, Any]:
    _require_all_rights(call)
    return {"tokens": [json_rows.build_token_row(one) for one in call.engine.tokens.list()]}


def _create_token(call: Call) -> dict[str, Any]:
    _require_all_rights(call)
    secret, token = call.engine.tokens.create(**dict(call.body))
    return json_rows.build_token_row(token) | {"token": secret}


def _revoke_token(call: Call) -> dict[str, Any]:
    _require_all_rights(call)
    return json_rows.build_token_row(call.engine.tokens.revoke(call.path["name"]))


ENDPOINTS = (
    Endpoint("GET", "/tokens", "manage", "List tokens", _list_tokens, "TokensRow"),
    Endpoint("POST", "/tokens", "manage", "Create a token", _create_token, "NewTokenRow", body=NewToken),
    Endpoint("DELETE", "/tokens/{name:path}", "manage", "Revoke a token by name or id", _revoke_token, "TokenRow"),
)
