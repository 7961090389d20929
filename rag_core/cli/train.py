"""``train``: train the query adapter. ``pseudo-questions``: write questions from the sentences of documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rag_core.api import json_rows
from rag_core.cli import console
from rag_core.cli.common import Json, open_engine, read_labels, wait_for_result
from rag_core.types.learning import DEFAULT_PSEUDO_QUESTIONS, Objective, Training, TrainingConfig

Labels = Annotated[
    Path | None,
    typer.Argument(
        help="Labelled questions: JSON lines or CSV; by default those of the app, including rated answers.",
        show_default=False,
    ),
]
ObjectiveOption = Annotated[
    Objective,
    typer.Option(
        help="Learn from labelled pages (contrastive), from answers without pages (marginal), or from sentences of the "
        "documents (inverse_cloze)."
    ),
]
PseudoQuestions = Annotated[
    int, typer.Option("--pseudo-questions", min=10, max=5000, help="Number of pseudo-questions for inverse_cloze.")
]
Switch = Annotated[
    bool | None,
    typer.Option("--on/--off", help="Switch the trained adapter on or off, and train nothing.", show_default=False),
]
Count = Annotated[int, typer.Option("--count", min=1, max=5000, help="Largest number of questions.")]


def train(
    labels: Labels = None,
    objective: ObjectiveOption = "contrastive",
    pseudo_questions: PseudoQuestions = DEFAULT_PSEUDO_QUESTIONS,
    switch: Switch = None,
    as_json: Json = False,
) -> None:
    """Train the query adapter on labelled questions.

    Train a map of the questions' vectors, and use it if questions about other documents then find more. The vectors
    of passages and the index do not change. The adapter is measured by cross-validation over documents.
    """
    with open_engine() as engine:
        if switch is not None:
            engine.learning.set_on(switch)
            state = "on" if switch else "off"
            console.print_row({"adapter": state}, f"The adapter is {state}.", as_json)
            return
        chosen = engine.labels.list() if labels is None else read_labels(engine, labels)
        config = TrainingConfig(objective, pseudo_questions)
        events = engine.learning.train(chosen, config, name=labels.name if labels else "labels from the app")
        training = wait_for_result(events, Training, "training", "Nothing was trained.")
    rows = json_rows.build_training_metric_rows(training)
    columns = ("stage", "metric", "before", "after", "difference", "interval", "p", "n")
    rows = [*rows, json_rows.build_training_row(training)] if as_json else list(map(_format_row, rows))
    console.print_rows(rows, columns, as_json, numeric=columns[2:5])
    if training.measured_on_pseudo:
        console.print_note("Without labels, the metrics are of pseudo-questions, which are closer to the text.")
    console.print_note("The adapter is switched on." if training.accepted else training.reason)


def pseudo_questions(count: Count = 100, as_json: Json = False) -> None:
    """Write questions from sentences of the documents.

    With --json, they are labels for evaluate and train.
    """
    with open_engine() as engine:
        rows = [json_rows.build_pseudo_question_row(label) for label in engine.learning.write_pseudo_questions(count)]
    shown = rows if as_json else [{**row, **row["evidence"][0]} for row in rows]
    console.print_rows(shown, ("question", "answers", "document"), as_json)


def _format_row(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **row,
        **{name: f"{row[name]:.3f}" for name in ("before", "after")},
        "difference": f"{row['difference']:+.3f}",
        "interval": f"{row['low']:+.3f} to {row['high']:+.3f}",
        "p": f"{row['p_value']:.3f}",
    }
