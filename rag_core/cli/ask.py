"""``search`` and ``ask``: one question, or a file of questions."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel

from rag_core.api import json_rows
from rag_core.api.client import RunningApp
from rag_core.api.visible_library import QUOTES, find_writer
from rag_core.cli import console
from rag_core.cli.common import SOME_FAILED, Json, open_engine_or_app, read_json_lines
from rag_core.engine import Engine
from rag_core.errors import CollectionError, QuestionError, UnknownDocument
from rag_core.types.answers import Answer
from rag_core.types.conversations import Scope
from rag_core.types.retrieval import RetrievalConfig

Documents = Annotated[
    list[str] | None, typer.Option("--document", help="Name of a document to search in; can be repeated.")
]
Collections = Annotated[
    list[str] | None, typer.Option("--collection", help="Collection to search in; can be repeated.")
]
AsOf = Annotated[
    str,
    typer.Option(
        "--as-of",
        help="Ask what the documents said at a snapshot: its name, or a date (YYYY-MM-DD), which stands for the newest "
        "snapshot until then. Strategies that read only the present documents refuse it.",
    ),
]
TopK = Annotated[int | None, typer.Option("--top-k", min=1, max=1000, help="Number of passages.")]
Questions = Annotated[
    Path | None,
    typer.Option("--questions", help='File of JSON lines {"id", "question", "documents"?}, instead of QUESTION.'),
]
HowToSearch = Annotated[
    str,
    typer.Option(
        "--strategy",
        help="How to search and answer, such as compare or summary; an unknown name lists all. One "
        "that needs a language model, or a GGUF file, says so.",
    ),
]
Model = Annotated[
    str | None,
    typer.Option("--model", help=f"Model of the endpoint to use for these questions, or “{QUOTES}” for none."),
]
Instructions = Annotated[
    str, typer.Option("--instructions", help="Language, length and tone of the answers; only a model follows them.")
]
Question = Annotated[str | None, typer.Argument(show_default=False)]


class QuestionLine(BaseModel):
    """A question of a file; ``documents``, if not empty, replaces the documents and collections of the command."""

    id: Any
    question: str
    documents: list[str] | None = None


def search(
    question: Question = None,
    document: Documents = None,
    collection: Collections = None,
    as_of: AsOf = "",
    top_k: TopK = None,
    strategy: HowToSearch = "plain",
    questions: Questions = None,
    as_json: Json = False,
) -> None:
    """Find passages for a question, without an answer."""

    def run(opened: Engine | RunningApp, text: str, scope: Scope) -> tuple[dict[str, Any], None]:
        options = {**asdict(scope), "top_k": top_k}
        if isinstance(opened, RunningApp):
            return opened.ask("search", text, **options, strategy=strategy), None
        result = opened.search(text, **options, configuration=RetrievalConfig(strategy=strategy))
        return json_rows.build_search_row(result, None), None

    scope = Scope.of(document, collection or (), as_of)
    _run_questions(run, lambda row, _: console.print_passages(row), question, questions, scope, as_json)


def ask(
    question: Question = None,
    document: Documents = None,
    collection: Collections = None,
    as_of: AsOf = "",
    top_k: TopK = None,
    strategy: HowToSearch = "plain",
    model: Model = None,
    instructions: Instructions = "",
    questions: Questions = None,
    as_json: Json = False,
) -> None:
    """Answer a question with citations, or refuse to answer."""

    def run(opened: Engine | RunningApp, text: str, scope: Scope) -> tuple[dict[str, Any], Answer | None]:
        options = {**asdict(scope), "top_k": top_k, "instructions": instructions}
        if isinstance(opened, RunningApp):
            return opened.ask("ask", text, **options, strategy=strategy, model=model), None
        writer, how = find_writer(opened, model), RetrievalConfig(strategy=strategy)
        answer = opened.answer(text, **options, configuration=how, model=writer)
        return json_rows.build_answer_row(answer, None), answer

    def show(row: dict[str, Any], answer: Answer | None) -> None:
        if answer is None:
            console.print_answer_row(row)
        else:
            console.print_answer(row, answer)

    scope = Scope.of(document, collection or (), as_of)
    _run_questions(run, show, question, questions, scope, as_json)


def _run_questions(run: Any, show: Any, question: str | None, file: Path | None, scope: Scope, as_json: bool) -> None:
    """Run one question, or the questions of a file, and print the results.

    ``run`` takes the engine or the application, a question and its scope. It returns the row of the result and the
    answer, or ``None`` if only the row is known. ``show`` takes and prints both.
    """
    if (question is None) == (file is None):
        raise typer.BadParameter("Give either QUESTION or --questions FILE.")
    if file is None:
        questions = [QuestionLine(id=None, question=question or "")]
    else:
        questions = read_json_lines(file, QuestionLine, '"id", "question" and an optional list "documents"')
    failed = False
    with open_engine_or_app() as opened:
        if file is not None and isinstance(opened, Engine):
            opened.load_search()
        for one in questions:
            own = replace(scope, documents=tuple(one.documents), collections=()) if one.documents else scope
            result = None
            try:
                row, result = run(opened, one.question, own)
                row["id"] = one.id
            except (CollectionError, QuestionError, UnknownDocument) as error:
                if file is None:
                    raise
                failed = True
                row = {"id": one.id, "question": one.question, "error": str(error)}
            if as_json:
                console.print_json(row)
            elif "error" in row:
                console.print_problem(row["error"])
            else:
                show(row, result)
    if failed:
        raise typer.Exit(SOME_FAILED)
