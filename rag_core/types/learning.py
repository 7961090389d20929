"""Trainings of the query adapter, and their held-out figures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from rag_core.types.evaluation import Interval

# What an adapter is trained on. ``contrastive``: the labelled pages of questions, against pages that a search confuses
# with them. ``marginal``: the expected answers of questions, without pages. ``inverse_cloze``: pseudo-questions from
# the sentences of the documents.
Objective = Literal["contrastive", "marginal", "inverse_cloze"]


DEFAULT_PSEUDO_QUESTIONS = 500


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """How to train an adapter; ``pseudo_questions`` is the number of pseudo-questions for ``inverse_cloze``."""

    objective: Objective = "contrastive"
    pseudo_questions: int = DEFAULT_PSEUDO_QUESTIONS


@dataclass(frozen=True, slots=True)
class HeldOutFigure:
    """A metric without and with the adapter, on questions about documents that were not used for its training.

    ``stage`` is ``dense`` for dense retrieval alone, or ``pipeline`` for the ranking in use. ``difference`` is the mean
    of the paired differences.
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
        Name of the labels, such as the name of a file.
    embedder : str
        Name of the embedder to whose vectors the adapter belongs.
    trained_on : int
        Number of questions that the adapter was trained on.
    measured_on_pseudo : bool
        Whether the figures were measured on pseudo-questions, because there were no labels.
    guided : int
        Number of questions without a labelled page, for which passages that contain the answer count as relevant.
    unused : int
        Number of questions that cannot be used, for example because no passage contains their answer.
    folds : int
        Number of groups of documents of the cross-validation.
    accepted : bool
        Whether the held-out figures rose. If not, ``reason`` says why the adapter is not used.
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
