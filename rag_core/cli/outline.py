"""``outline``: print the table of contents of a document."""

from __future__ import annotations

from typing import Annotated

import typer

from rag_core.cli import console, json_rows
from rag_core.cli.common import Json, open_engine


def outline(
    document: Annotated[str, typer.Argument(help="Name or id.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Show a document's sections and their pages."""
    with open_engine() as engine:
        (document_id,) = engine.documents.find_ids([document])
        name = engine.documents.get(document_id).name
        entries = engine.documents.outline(document_id)
    for entry in entries:
        if as_json:
            console.print_json(json_rows.build_outline_row(name, entry))
        else:
            console.print_line(f"{'  ' * entry.level}{entry.title}  {entry.page_label}")
    if not entries and not as_json:
        console.print_note(f"No headings were found in {name}.")
