"""``themes``: build, list and show the themes of the library."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rag_core.api import json_rows
from rag_core.cli import console
from rag_core.cli.common import FAILED, Json, open_engine
from rag_core.types.formatting import format_count
from rag_core.types.jobs import JobState
from rag_core.types.themes import NOT_BUILT, ModelUse

# Most entities, and most pairs of linked entities, that `show` prints.
_SHOWN = 15

themes_app = typer.Typer(
    help="Build and show themes over all documents.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Uses = Annotated[
    ModelUse,
    typer.Option(
        "--model-use",
        help="What the language model writes: nothing, the summaries (a request for each theme), or also the entities "
        "(a request for each chunk).",
    ),
]


@themes_app.command()
def build(model_use: Uses = "none", as_json: Json = False) -> None:
    """Build themes, or update them; an interrupted build continues."""
    with open_engine() as engine, console.job_bars() as bars:
        job = engine.theme_builder.build(model_use)
        ended = engine.jobs.wait([job.job_id], bars.show)[0]
        state = engine.theme_builder.state()
        count = len(engine.themes.list())
    row = {"themes": count, "documents": state.documents, "seconds": round(state.seconds, 3), "problem": ended.reason}
    if as_json or ended.state is JobState.DONE:
        built = f"{format_count(count, 'theme')} over {format_count(state.documents, 'document')}"
        console.print_row(row, f"{built}, {state.seconds:.1f} s", as_json)
    if ended.reason and not as_json:
        console.print_problem(ended.reason)
    if ended.state is not JobState.DONE:
        raise typer.Exit(FAILED)


@themes_app.command("list")
def list_themes(as_json: Json = False) -> None:
    """List the themes, those with the most statements first."""
    with open_engine() as engine:
        themes, state = engine.themes.list(), engine.theme_builder.state()
    rows: list[dict[str, Any]] = [
        {"number": number, "theme": one.title, "entities": len(one.entities), "documents": one.documents}
        for number, one in enumerate(themes, 1)
    ]
    columns = ("number", "theme", "entities", "documents")
    console.print_rows(rows, columns, as_json, numeric=("number", "entities", "documents"), if_empty=NOT_BUILT)
    if themes and not state.is_current and not as_json:
        console.print_note(
            f"Since the build, {format_count(state.added, 'document was', 'documents were')} added, and "
            f"{state.removed:,} removed or replaced. Run the command themes build to update the themes."
        )


@themes_app.command()
def show(
    theme: Annotated[str, typer.Argument(help="Number in the list, or a part of the title.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Show a theme: its summary with sources, its entities and their strongest links."""
    with open_engine() as engine:
        found = engine.themes.get(theme)
        links = engine.themes.links([one.key for one in found.entities])
    names = {one.key: one.name for one in found.entities}
    linked = [
        {"entity": names[one.source], "linked to": names[one.target], "statements": one.statements} for one in links
    ]
    counted = ("mentions", "documents")
    entities = [{"entity": one.name, **json_rows.pick(one, "kind", *counted)} for one in found.entities]
    row = json_rows.build_answer_row(found.summary, None)
    if as_json:
        console.print_json({"theme": found.title, "summary": row, "entities": entities, "links": linked})
        return
    console.print_line(f"{found.title} ({format_count(found.documents, 'document')})")
    console.print_answer(row, found.summary)
    console.print_table(entities[:_SHOWN], ("entity", "kind", *counted), numeric=counted)
    console.print_table(linked[:_SHOWN], ("entity", "linked to", "statements"), numeric=("statements",))
