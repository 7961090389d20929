"""The command ``pages``: the text of each page of a document."""

from __future__ import annotations

from typing import Annotated

import typer

from rag_core.cli import console, json_rows
from rag_core.cli.common import Json, open_engine
from rag_core.errors import UnknownDocument


def pages(
    document: Annotated[str, typer.Argument(help="Name or id.", show_default=False)],
    page: Annotated[int | None, typer.Option(min=1, help="Only this page, counted from 1.")] = None,
    as_json: Json = False,
) -> None:
    """Show the text of a document's pages."""
    with open_engine() as engine:
        (document_id,) = engine.documents.find_ids([document])
        name = engine.documents.get(document_id).name
        found = engine.documents.pages(document_id)
    if page is not None:
        if page > len(found):
            raise UnknownDocument(f"{name} has no page {page}: its last page is {len(found)}.")
        found = found[page - 1 : page]
    for one in found:
        if as_json:
            console.print_json(json_rows.page(name, one))
        else:
            state = f"{one.state.value}, {one.reason}" if one.reason else one.state.value
            console.print_line(f"--- page {one.page_label} ({state}) ---")
            console.print_line(one.text)
