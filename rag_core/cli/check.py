"""``check``: compare statements with the documents, or each statement with a separate source."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel

from rag_core.answering.statement_checks import DraftStatement
from rag_core.api import json_rows
from rag_core.cli import console
from rag_core.cli.ask import Collections, Documents
from rag_core.cli.common import Json, open_engine, read_json_lines, read_text
from rag_core.errors import QuestionError
from rag_core.types.checks import CheckedStatement
from rag_core.types.conversations import Scope
from rag_core.types.usage import Usage


class StatementLine(BaseModel):
    """A statement of a file, and the source with which it is compared."""

    id: str
    statement: str
    source: str


def check(
    statements: Annotated[list[str] | None, typer.Argument(metavar="STATEMENT...", show_default=False)] = None,
    text: Annotated[Path | None, typer.Option("--text", help="Text file whose sentences are checked.")] = None,
    pairs: Annotated[
        Path | None,
        typer.Option(
            "--pairs", help='File of JSON lines {"id", "statement", "source"}: each is checked by its source.'
        ),
    ] = None,
    document: Documents = None,
    collection: Collections = None,
    as_json: Json = False,
) -> None:
    """Check statements or a text against the documents."""
    given = [one for one in (statements, text, pairs) if one]
    if len(given) != 1:
        raise QuestionError("Give statements, or --text FILE, or --pairs FILE, and only one of them.")
    rows = read_json_lines(pairs, StatementLine, 'the texts "id", "statement" and "source"') if pairs else []
    draft = read_text(text) if text else ""
    with open_engine() as engine:
        scope = Scope.of(document, collection or ())
        listed = [DraftStatement(one) for one in statements or ()] or engine.checker.split(draft)
        usage, notices = Usage(), dict[str, None]()
        if pairs:
            identifiers = [row.id for row in rows]
            checked = engine.checker.check_pairs((row.statement, row.source) for row in rows)
        else:
            identifiers = [str(number) for number in range(1, len(listed) + 1)]
            checked = engine.checker.check_all(listed, scope)
        for identifier, one in zip(identifiers, checked, strict=True):
            row = json_rows.build_check_row(one, identifier, with_place=not pairs)
            console.print_row(row, _format_statement(one), as_json)
            usage += one.usage
            notices |= dict.fromkeys(one.notices)
    for notice in notices:
        console.print_note(notice)
    if usage.calls:
        console.print_note(f"The model used {usage.label}")


def _format_statement(one: CheckedStatement) -> str:
    place = (
        f" ({one.citation.document}, page {one.citation.page_label})" if one.citation and one.citation.document else ""
    )
    reason = f": {one.reason}" if one.reason else ""
    return f"{one.verdict.replace('_', ' ')}{reason}{place}: {one.statement}"
