"""``pages``: print the text and the tables of each page of a document."""

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
        info = engine.documents.get(document_id)
        if page is None:
            selected = engine.documents.pages(document_id, with_layout=as_json)
        elif page <= info.pages:
            selected = [engine.documents.page(document_id, page - 1)]
        else:
            raise UnknownDocument(f"{info.name} has no page {page}: its last page is {info.pages}.")
    for parsed in selected:
        if as_json:
            console.print_json(json_rows.build_page_row(info.name, parsed))
        else:
            reason = f", {parsed.reason}" if parsed.reason else ""
            console.print_line(f"--- page {parsed.page_label} ({parsed.state.value}{reason}) ---")
            console.print_line(parsed.text)
