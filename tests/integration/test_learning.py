"""Training of the query adapter: it is accepted only if held-out figures rise, and can be switched on and off."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core.engine import Engine
from rag_core.types import Label, Objective, RetrievalConfig, Training, TrainingConfig
from tests.support.engines import opened
from tests.support.learning import add_pumps

QUESTION = "What is the tavish of the Tolm pump?"


@pytest.fixture(scope="module")
def _pumps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, bytes]]:
    with opened(tmp_path_factory.mktemp("learning") / "data") as engine:
        yield engine, add_pumps(engine)


@pytest.fixture
def engine(_pumps: tuple[Engine, bytes]) -> Iterator[Engine]:
    """Return an engine with the documents about pumps; remove its trainings and labels at the end."""
    engine, _ = _pumps
    yield engine
    for training in engine.learning.trainings():
        engine.learning.remove(training.training_id)
    engine.learning.set_on(False)
    for label in engine.labels.list():
        engine.labels.remove(label.label_id)


@pytest.fixture
def labels(_pumps: tuple[Engine, bytes]) -> list[Label]:
    engine, data = _pumps
    return list(engine.labels.parse_file("pumps.jsonl", data))


def train(engine: Engine, labels: list[Label], objective: Objective = "contrastive", pseudo: int = 50) -> Training:
    *progress, training = engine.learning.train(labels, TrainingConfig(objective, pseudo), name="pumps.jsonl")
    assert progress
    assert isinstance(training, Training)
    return training


def figure(training: Training, stage: str, metric: str) -> tuple[float, float]:
    (one,) = [one for one in training.figures if (one.stage, one.metric) == (stage, metric)]
    return one.before.value, one.after.value


def first_page(engine: Engine, adapter: bool | None = None) -> int:
    return engine.search(QUESTION, configuration=RetrievalConfig(adapter=adapter)).passages[0].page_index


def test_adapter_learns_words_of_the_questions(engine: Engine, labels: list[Label]) -> None:
    training = train(engine, labels)
    for one in training.figures:
        print(one.stage, one.metric, one.before, one.after, one.difference)
    assert training.accepted, training.reason
