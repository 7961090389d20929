"""Trainings of the query adapter, and their results on held-out questions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from rag_core.types.evaluation import Interval

# What an adapter is trained on. ``contrastive``: the labelled pages of questions, with other pages that a search finds
# as negatives. ``marginal``: the expected answers of questions, without labelled pages. ``inverse_cloze``:
# pseudo-questions that are generated from sentences of the documents.
Objective = Literal["contrastive", "marginal", "inverse_cloze"]
# Number of pseudo-questions for ``inverse_cloze``.
DEFAULT_PSEUDO_QUESTIONS = 500


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """How to train an adapter; ``pseudo_questions`` is the number of pseudo-questions for ``inverse_cloze``."""

    objective: Objective = "contrastive"
    pseudo_questions: int = DEFAULT_PSEUDO_QUESTIONS


@dataclass(frozen=True, slots=True)
class HeldOutFigure:
    """A metric without (``before``) and with (``after``) the adapter, on documents that were held out of the training.

    ``stage`` is ``dense`` for dense retrieval alone, or ``pipeline`` for the configured ranking. ``difference`` is the
    mean of the differences of the ``n`` questions.
    """

    stage: Literal["dense", "pipeline"]
    metric: str
    before: Interval
    after: Interval
    difference: Interval
    p_value: float
    n: int


@dataclass(frozen=True, slots=True)
class Training:
    """A training of the query adapter.

    Attributes
    ----------
    labels : str
        Name of the labelled questions, such as the name of their file.
    embedder : str
        Name of the embedder whose vectors the adapter maps.
    trained_on : int
        Number of questions that the adapter was trained on.
    measured_on_pseudo : bool
        Whether ``figures`` were measured on pseudo-questions, because there were no labelled questions.
    guided : int
        Number of questions without a labelled page. For them, passages that contain the answer count as relevant.
    unused : int
        Number of questions that could not be used, for example because no passage contains their answer.
    folds : int
        Number of groups of documents in the cross-validation.
    seconds : float
        Duration of the training.
    figures : tuple of HeldOutFigure
    accepted : bool
        Whether the held-out figures improved. If not, the adapter is not used, and ``reason`` says why.
    """

    training_id: str
    created_at: datetime
    objective: Objective
    labels: str
    embedder: str
    trained_on: int
    measured_on_pseudo: bool
    guided: int
    unused: int
    folds: int
    seconds: float
    figures: tuple[HeldOutFigure, ...]
    accepted: bool
    reason: str


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """An event of `Learning.train`: ``done`` of ``total`` steps of a stage are finished."""

    stage: str
    done: int
    total: int


TrainingEvent = TrainingProgress | Training
