"""``pages`` and ``outline``: print the text and the sections of a document."""

from __future__ import annotations

from typing import Annotated

import typer

from rag_core.api import json_rows
from rag_core.cli import console
from rag_core.cli.common import Json, open_engine
from rag_core.errors import UnknownDocument

Name = Annotated[str, typer.Argument(help="Name or id.", show_default=False)]


def pages(
    document: Name,
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
        places = {one.page_index: (info.version_id, one.page_index) for one in selected}
        described = engine.documents.find_descriptions(list(places.values()))
    for parsed in selected:
        reason = f", {parsed.reason}" if parsed.reason else ""
        heading = f"--- page {parsed.page_label} ({parsed.state.value}{reason}) ---"
        row = json_rows.build_page_row(info.name, parsed, described.get(places[parsed.page_index], ()))
        console.print_row(row, heading, as_json)
        if not as_json:
            console.print_line(parsed.text)


def outline(document: Name, as_json: Json = False) -> None:
    """Show a document's sections and their pages."""
    with open_engine() as engine:
        (document_id,) = engine.documents.find_ids([document])
        name = engine.documents.get(document_id).name
        entries = engine.documents.outline(document_id)
    for entry in entries:
        line = f"{'  ' * entry.level}{entry.title}  {entry.page_label}"
        console.print_row(json_rows.build_outline_row(name, entry), line, as_json)
    if not entries and not as_json:
        console.print_note(f"No headings were found in {name}.")
