"""``check``: compare statements with the documents, or each statement with a separate source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from rag_core.answering.statement_checks import DraftStatement
from rag_core.api import json_rows
from rag_core.cli import console
from rag_core.cli.ask import Collections, Documents
from rag_core.cli.common import Json, open_engine
from rag_core.errors import QuestionError
from rag_core.types.checks import CheckedStatement
from rag_core.types.conversations import Scope
from rag_core.types.usage import Usage

_FIELDS = ("id", "statement", "source")


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
    rows = _load_statements(pairs) if pairs else []
    draft = _read_text(text) if text else ""
    with open_engine() as engine:
        scope = Scope.of(document, collection or ())
        listed = [DraftStatement(one) for one in statements or ()] or engine.checker.split(draft)
        usage, notices = Usage(), dict[str, None]()
        if pairs:
            identifiers = [row["id"] for row in rows]
            checked = engine.checker.check_pairs((row["statement"], row["source"]) for row in rows)
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


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionError(f"{path} could not be read as text in UTF-8 ({error}). Name another file.") from error


def _load_statements(path: Path) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(_read_text(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise QuestionError(f"Line {number} of {path} is not JSON ({error}). Correct the line.") from error
        if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in _FIELDS):
            raise QuestionError(f"Line {number} of {path} needs the texts {', '.join(_FIELDS)}. Add what is missing.")
        rows.append(row)
    return rows
