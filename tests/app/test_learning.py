"""Training of the query adapter and pseudo-questions on the Evaluate page."""

from __future__ import annotations

import pytest

from rag_core.engine import Engine
from rag_core.types.learning import Training
from tests.support.app import OpenPage, add, settle, table, texts
from tests.support.learning import add_pumps
from tests.support.pdfs import make_pdf


@pytest.fixture
def labels(engine: Engine) -> bytes:
    return add_pumps(engine, 4)


def test_training_shows_held_out_figures_and_the_switch(open_page: OpenPage, engine: Engine, labels: bytes) -> None:
    app = open_page("evaluate")
    assert app.button(key="train").disabled
    app.file_uploader[0].upload("pumps.jsonl", labels, "application/json").run()
    assert "With the query adapter" not in app.multiselect(key="configurations").options
    app.button(key="train").click().run()
    settle(app, lambda app: bool(engine.learning.trainings()) and not app.button(key="train").disabled)
    shown = table(app, "After")
    assert list(shown["Search"]) == ["Meaning", "Meaning", "Ranking in use", "Ranking in use"]
    assert "It finds more in documents" in texts(app)
    told = texts(app).replace("\\", "")
    assert "Trained on 16 questions, measured on 16 held-out questions in 4 groups of documents" in told
    assert engine.learning.is_on
    assert "With the query adapter" in app.multiselect(key="configurations").options
    app.toggle(key="adapter_True").set_value(False).run()
    assert not engine.learning.is_on
    app.toggle(key="adapter_False").set_value(True).run()
    assert engine.learning.is_on
    app.button(key="remove_training").click().run()
    assert engine.learning.trainings() == []
    assert not [one for one in app.toggle if one.label == "Use the adapter"]


def test_refusal_is_explained_with_figures(open_page: OpenPage, engine: Engine, labels: bytes) -> None:
    app = open_page("evaluate")
    app.selectbox(key="objective").set_value("inverse_cloze").run()
    app.button(key="train").click().run()
    settle(app, lambda app: bool(engine.learning.trainings()) and not app.button(key="train").disabled)
    (training,) = engine.learning.trainings()
    assert isinstance(training, Training)
    assert "Not used." in texts(app)
    assert "did not become better" in texts(app)
    assert "pseudo-questions in 4 groups" in texts(app).replace("\\", "")


def test_too_few_labels_are_reported(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=make_pdf("The Harrow Bridge in Ostmark was opened to the public in 1931 by Ada Marlow."))
    app = open_page("evaluate")
    app.selectbox(key="objective").set_value("inverse_cloze").run()
    app.button(key="train").click().run()
    settle(app, lambda app: "An adapter needs at least 10" in texts(app))


def test_pseudo_questions_are_made_marked_and_removed(open_page: OpenPage, engine: Engine, labels: bytes) -> None:
    app = open_page("evaluate")
    app.segmented_control(key="labels_from").set_value("My test set").run()
    app.number_input(key="pseudo_count").set_value(10).run()
    app.button(key="make_pseudo").click().run()
    assert "10 questions, 0 of them without an answer in the documents, 10 of them pseudo-questions" in "\n".join(
        one.label.replace("\\", "") for one in app.expander
    )
    assert set(table(app, "Right answer")["Kind"]) == {"made from a document"}
    app.toggle(key="with_answers").set_value(False).run()
    app.button(key="run_evaluation").click().run()
    settle(app, lambda app: not app.button(key="run_evaluation").disabled)
    assert "10 pseudo-questions among them, made from sentences" in texts(app)
    app.button(key="remove_pseudo").click().run()
    assert engine.labels.list() == []


def test_documents_without_sentences_are_reported(open_page: OpenPage, engine: Engine) -> None:
    app = open_page("evaluate")
    app.segmented_control(key="labels_from").set_value("My test set").run()
    app.button(key="make_pseudo").click().run()
    assert "contain no sentence" in app.error[0].value
