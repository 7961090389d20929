"""``token``: create, list and revoke the tokens of other programs."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

import typer

from rag_core.api import json_rows
from rag_core.api.client import RunningApp
from rag_core.cli import console
from rag_core.cli.common import Json, open_engine_or_app
from rag_core.types.access import RIGHTS, Right

token_app = typer.Typer(help="Let other programs use the application.", no_args_is_help=True, rich_markup_mode=None)
_COLUMNS = ("name", "rights", "collections", "created_at", "used_at")


@token_app.command("create")
def create_token(
    name: Annotated[str, typer.Argument(help="Name of the program, to find the token again.", show_default=False)],
    right: Annotated[list[str], typer.Option(help=f"What it allows: {', '.join(RIGHTS)}; can be repeated.")],
    collection: Annotated[
        list[str] | None, typer.Option(help="Only this collection; can be repeated. All by default.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Create a token, and print it once."""
    rights: list[Right] = [one for one in RIGHTS if one in right]
    if unknown := set(right) - set(RIGHTS):
        raise typer.BadParameter(f"{', '.join(sorted(unknown))} is no right. The rights are {', '.join(RIGHTS)}.")
    options: dict[str, Any] = {"name": name, "rights": rights, "collections": list(collection or ())}
    with open_engine_or_app() as opened:
        if isinstance(opened, RunningApp):
            row = opened.request("POST", "tokens", json=options)
        else:
            secret, token = opened.tokens.create(**options)
            row = json_rows.build_token_row(token) | {"token": secret}
    console.print_row(row, row["token"], as_json)
    console.print_note("Keep it now: it is not shown again.")


@token_app.command("list")
def list_tokens(as_json: Json = False) -> None:
    """List the tokens, with their last use."""
    with open_engine_or_app() as opened:
        if isinstance(opened, RunningApp):
            rows = opened.request("GET", "tokens")["tokens"]
        else:
            rows = [json_rows.build_token_row(one) for one in opened.tokens.list()]
    if not as_json:
        rows = [row | {name: ", ".join(row[name]) for name in ("rights", "collections")} for row in rows]
        rows = [
            row | {"collections": row["collections"] or "all", "used_at": row["used_at"] or "never"} for row in rows
        ]
    console.print_rows(rows, _COLUMNS, as_json, if_empty="There are no tokens.")


@token_app.command("revoke")
def revoke_token(name: Annotated[str, typer.Argument(help="Name or id.")], as_json: Json = False) -> None:
    """Revoke a token; programs that send it are refused from now on."""
    with open_engine_or_app() as opened:
        if isinstance(opened, RunningApp):
            row = opened.request("DELETE", f"tokens/{quote(name, safe='')}")
        else:
            row = json_rows.build_token_row(opened.tokens.revoke(name))
    console.print_row(row, f"{row['name']}: revoked", as_json)
