"""The Lab with a model in a GGUF file, which gives the probabilities of single tokens."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.app import BRIDGE, CANAL, LENGTH, OpenPage, add, texts
from tests.support.servers import MODEL_FILE


@pytest.fixture
def lab(open_page: OpenPage, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> AppTest:
    """Return the Lab with a question and a small real model."""
    monkeypatch.setenv("RAG_GGUF", str(MODEL_FILE))
    monkeypatch.setenv("RAG_OPENAI_CONTEXT_TOKENS", "1024")
    monkeypatch.setenv("RAG_OPENAI_TIMEOUT_S", "200")
    add(request.getfixturevalue("engine"), bridge=BRIDGE, canal=CANAL)
    app = open_page("lab", question=LENGTH)
    app.default_timeout = 200
    return app


@pytest.mark.parametrize("method", ["RAG-Sequence, fast", "RAG-Token"])
def test_answer_is_generated_over_the_passages(lab: AppTest, method: str) -> None:
    assert "with probability" not in texts(lab)
    lab.selectbox(key="lab_method").set_value(method)
    lab.button(key="lab_generate").click().run()
    assert not lab.exception, lab.exception
    assert "with probability" in texts(lab)
    assert "tokens predicted" in texts(lab)
    # The answer is of other weights, so that it is no longer shown.
    lab.slider(key="lab_k").set_value(1).run()
    assert "with probability" not in texts(lab)


def test_likelihoods_replace_the_probabilities_of_the_reading_model(lab: AppTest) -> None:
    assert "says the small model that reads passages" in texts(lab)
    lab.segmented_control(key="lab_answers_from").set_value("Language model").run()
    lab.button(key="lab_likelihoods").click().run()
    assert not lab.exception, lab.exception
    assert "likely the language model is to write each of these answers" in texts(lab)
    lab.run()
    assert "lab_likelihoods" not in [one.key for one in lab.button]
