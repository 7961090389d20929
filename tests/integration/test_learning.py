"""Training of the query adapter: it is accepted only if held-out figures rise, and can be switched on and off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.errors import LabelError, SettingsError
from rag_core.types.evaluation import Evaluation, Label, LabelKind
from rag_core.types.learning import Objective, Training, TrainingConfig
from rag_core.types.retrieval import RetrievalConfig
from tests.support.engines import indexed, opened, wait_until
from tests.support.learning import SUBJECTS, add_pumps

QUESTION = "What is the tavish of the Tolm pump?"
ANSWER_PAGE = list(SUBJECTS).index("tavish")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("learning") / "data"


@pytest.fixture(scope="module")
def _pumps(folder: Path) -> Iterator[tuple[Engine, list[Label]]]:
    with opened(folder) as engine:
        yield engine, list(engine.labels.parse_file("pumps.jsonl", add_pumps(engine)))


@pytest.fixture
def engine(_pumps: tuple[Engine, list[Label]]) -> Iterator[Engine]:
    """Return an engine with the documents about pumps; remove labels and new trainings at the end."""
    engine, _ = _pumps
    before = engine.learning.trainings()
    yield engine
    for one in engine.learning.trainings():
        if one not in before:
            engine.learning.remove(one.training_id)
    engine.learning.set_on(False)
    for label in engine.labels.list():
        engine.labels.remove(label.label_id)


@pytest.fixture
def labels(_pumps: tuple[Engine, list[Label]]) -> list[Label]:
    return _pumps[1]


@pytest.fixture(scope="module")
def _training(_pumps: tuple[Engine, list[Label]]) -> Training:
    return train(*_pumps)


@pytest.fixture
def training(_training: Training, engine: Engine) -> Training:
    """Train an adapter once, and switch it on for a test."""
    engine.learning.set_on(True)
    return _training


def train(engine: Engine, labels: list[Label], objective: Objective = "contrastive", pseudo: int = 50) -> Training:
    *progress, training = engine.learning.train(labels, TrainingConfig(objective, pseudo), name="pumps.jsonl")
    assert progress
    assert isinstance(training, Training)
    return training


def figure(training: Training, stage: str, metric: str) -> tuple[float, float]:
    (one,) = [one for one in training.figures if (one.stage, one.metric) == (stage, metric)]
    return one.before.value, one.after.value


def found_pages(engine: Engine, adapter: bool | None = None) -> list[tuple[str, int]]:
    passages = engine.search(QUESTION, configuration=RetrievalConfig(adapter=adapter)).passages
    return [(one.document, one.page_index) for one in passages]


def evaluate(engine: Engine, labels: list[Label], configuration: RetrievalConfig | None = None) -> Evaluation:
    *_, evaluation = engine.evaluations.run(labels, configuration, answers=False)
    assert isinstance(evaluation, Evaluation)
    return evaluation


def test_too_few_labels_are_refused(engine: Engine, labels: list[Label]) -> None:
    with pytest.raises(LabelError, match="at least 10 questions with their pages or answers, about at least 3 docum"):
        train(engine, labels[:4])
    with pytest.raises(LabelError, match="there are 0 about 0"):
        train(engine, [])
    gone = replace(labels[0], evidence=(replace(labels[0].evidence[0], document="gone.pdf"),))
    with pytest.raises(LabelError, match=r"gone\.pdf is not in the library"):
        train(engine, [gone])


def test_inverse_cloze_without_labels_is_marked_and_refused(engine: Engine) -> None:
    training = train(engine, [], "inverse_cloze", pseudo=20)
    assert training.measured_on_pseudo
    assert not training.accepted
    assert "held-out questions, the ranking in use did not become better" in training.reason
    assert engine.learning.trainings() == [training]
    assert not engine.learning.is_on
    with pytest.raises(SettingsError, match="There is no query adapter"):
        engine.learning.set_on(True)
    with pytest.raises(SettingsError, match="There is no query adapter"):
        found_pages(engine, adapter=True)


def test_adapter_learns_the_words_of_the_questions(engine: Engine, labels: list[Label], training: Training) -> None:
    assert training.accepted, training.reason
    before, after = figure(training, "pipeline", "mrr@10")
    assert after > before + 0.2
    assert figure(training, "dense", "recall@1")[1] > figure(training, "dense", "recall@1")[0]
    assert (training.trained_on, training.unused, training.folds) == (len(labels), 0, 5)
    assert (training.objective, training.labels) == ("contrastive", "pumps.jsonl")
    assert engine.learning.is_on
    assert found_pages(engine)[0] == ("tolm.pdf", ANSWER_PAGE)
    assert training in engine.learning.trainings()


def test_adapter_is_switched_without_reindexing(engine: Engine, labels: list[Label], training: Training) -> None:
    versions = [one.version_id for one in engine.documents.list()]
    applied = engine.search(QUESTION).passages[0].scores
    (first, *_), plain = found_pages(engine), found_pages(engine, adapter=False)
    assert first == ("tolm.pdf", ANSWER_PAGE)
    engine.learning.set_on(False)
    assert found_pages(engine) == plain
    assert engine.search(QUESTION).passages[0].scores != applied
    assert found_pages(engine, adapter=True)[0] == first
    assert [one.version_id for one in engine.documents.list()] == versions
    # The names of evaluations say whether the adapter was applied.
    assert evaluate(engine, labels[:2]).configuration == "named"
    engine.learning.set_on(True)
    assert evaluate(engine, labels[:2]).configuration == "named, with adapter"
    assert evaluate(engine, labels[:2], RetrievalConfig(adapter=False)).configuration == "named, without adapter"


def test_table_compares_with_the_default_after_the_adapter_is_switched(
    engine: Engine, labels: list[Label], training: Training
) -> None:
    evaluations = [evaluate(engine, labels[:2], RetrievalConfig(adapter=one)) for one in (True, False)]
    for is_on, expected in [(True, [True, False]), (False, [False, True])]:
        engine.learning.set_on(is_on)
        assert [row.is_reference for row in engine.evaluations.tabulate(evaluations)] == expected


def test_gate_scores_a_passage_without_the_adapter_and_token_matches_with_it(
    engine: Engine, training: Training
) -> None:
    mapped, plain = (
        {
            one.chunk_id: one.scores
            for one in engine.search(QUESTION, configuration=RetrievalConfig(adapter=adapter)).passages
            if one.scores["reading"] is not None
        }
        for adapter in (True, False)
    )
    both = mapped.keys() & plain.keys()
    assert both
    for one in both:
        assert mapped[one]["rerank"] != pytest.approx(plain[one]["rerank"], abs=1e-3)
        for name in ("answerable", "on_topic"):
            assert mapped[one][name] == pytest.approx(plain[one][name], abs=1e-3)
    passage = engine.search(QUESTION).passages[0]
    matches = engine.explanations.token_matches(QUESTION, passage.chunk_id)
    assert matches.score == pytest.approx(passage.scores["rerank"], abs=1e-4)


def test_adapter_of_another_embedder_is_ignored_with_a_notice(engine: Engine, training: Training) -> None:
    plain = found_pages(engine, adapter=False)
    store = engine._stores.trainings
    stored = store.find_newest_adapter()
    assert stored is not None
    store.add(training, replace(stored, weights="f" * 64))
    engine.preferences.adapters.clear_cache()
    result = engine.search(QUESTION)
    assert any("trained for another embedder" in notice for notice in result.notices)
    assert engine.learning.find_problems()
    assert found_pages(engine) == plain


def test_marginal_likelihood_needs_no_pages(engine: Engine, labels: list[Label]) -> None:
    training = train(engine, [replace(one, evidence=()) for one in labels], "marginal")
    assert training.guided == training.figures[0].n
    assert training.trained_on + training.unused == len(labels)
    before, after = figure(training, "pipeline", "mrr@10")
    assert after > before


def test_pseudo_questions_are_labels_that_stay_marked(engine: Engine) -> None:
    assert engine.learning.add_pseudo_questions(20) == len(engine.labels.list()) == 20
    assert engine.learning.add_pseudo_questions(10) == len(engine.labels.list()) == 10
    assert all(one.is_pseudo and one.evidence and one.answers for one in engine.labels.list())
    engine.labels.add(QUESTION, kind=LabelKind.NO_ANSWER)
    evaluate(engine, engine.labels.list())
    assert engine.evaluations.list()[0].pseudo_questions == 10
    engine.learning.remove_pseudo_questions()
    assert [one.question for one in engine.labels.list()] == [QUESTION]


def test_training_in_the_background_can_be_stopped_and_keeps_its_problem(engine: Engine, labels: list[Label]) -> None:
    before = engine.learning.trainings()
    engine.learning.start(labels, TrainingConfig())
    assert engine.learning.start(labels, TrainingConfig()) is not None
    engine.learning.close()
    state = engine.learning.state()
    assert state is not None
    assert (state.running, state.problem) == (False, "Stopped before the end.")
    assert engine.learning.trainings() == before
    engine.learning.start([], TrainingConfig())
    wait_until(lambda: bool(state := engine.learning.state()) and not state.running)
    state = engine.learning.state()
    assert state is not None
    assert "at least 10 questions" in state.problem


def test_pseudo_questions_are_deleted_with_their_document(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        for name in ("Tolm", "Brook"):
            indexed(
                engine, f"{name}.pdf", f"The {name} pump of Ostmark was opened to the public in 1931 by Ada Marlow."
            )
        assert engine.learning.add_pseudo_questions(20) == 2
        engine.documents.delete(engine.documents.find_ids(["Tolm.pdf"]))
        assert [one.evidence[0].document for one in engine.labels.list()] == ["Brook.pdf"]
