"""Measure the query adapter, cross-validated over documents.

    python -m benchmarks.learning DATA_DIR QUESTIONS [--objective contrastive|marginal|inverse_cloze]

DATA_DIR is a data folder with indexed documents, and QUESTIONS a file of labelled questions about them (JSON lines or
CSV, as for the command evaluate). The trainings are stored in the data folder, so use a copy. Values are means over
held-out questions, with 95 % percentile bootstrap intervals of the paired differences (10,000 resamples, seed 0).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args

from rag_core.engine import Engine
from rag_core.errors import LabelError
from rag_core.settings import load_settings
from rag_core.types.learning import DEFAULT_PSEUDO_QUESTIONS, Objective, Training, TrainingConfig


def show_training(training: Training) -> None:
    """Print the figures of a training and the decision."""
    print(
        f"{training.objective}: trained on {training.trained_on} questions ({training.unused} unused), measured on "
        f"{training.figures[0].n}{' pseudo-questions' if training.measured_on_pseudo else ''} "
        f"({training.guided} without a labelled page), {training.folds} folds, {training.seconds:.0f} s"
    )
    for one in training.figures:
        print(
            f"  {one.stage:8} {one.metric:8} {one.before.value:.3f} ({one.before.low:.3f}–{one.before.high:.3f})  "
            f"{one.after.value:.3f} ({one.after.low:.3f}–{one.after.high:.3f})  {one.difference.value:+.3f} "
            f"({one.difference.low:+.3f} to {one.difference.high:+.3f})  p {one.p_value:.3f}"
        )
    print("  used" if training.accepted else f"  refused: {training.reason}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--objective", choices=get_args(Objective), action="append")
    parser.add_argument("--without-labels", action="store_true", help="measure inverse_cloze on pseudo-questions")
    parser.add_argument("--pseudo-questions", type=int, default=DEFAULT_PSEUDO_QUESTIONS)
    arguments = parser.parse_args()
    with Engine(load_settings(data_dir=arguments.data_dir)) as engine:
        labels = engine.labels.parse_file(arguments.questions.name, arguments.questions.read_bytes())
        for objective in arguments.objective or get_args(Objective):
            config = TrainingConfig(objective, arguments.pseudo_questions)
            chosen = [] if arguments.without_labels else labels
            try:
                for event in engine.learning.train(chosen, config, name=arguments.questions.name):
                    if isinstance(event, Training):
                        show_training(event)
            except LabelError as error:
                print(f"{objective}: {error}", flush=True)
        for training in engine.learning.trainings():
            engine.learning.remove(training.training_id)


if __name__ == "__main__":
    main()
