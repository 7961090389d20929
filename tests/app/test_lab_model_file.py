"""The Lab with a model in a GGUF file, which gives the probabilities of single tokens."""

from __future__ import annotations

import pytest

from tests.support.app import LENGTH, OpenPage, texts
from tests.support.servers import MODEL_FILE


@pytest.fixture(autouse=True)
def _model_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connect a small real model."""
    monkeypatch.setenv("RAG_GGUF", str(MODEL_FILE))
    monkeypatch.setenv("RAG_OPENAI_CONTEXT_TOKENS", "1024")
    monkeypatch.setenv("RAG_OPENAI_TIMEOUT_S", "200")


@pytest.mark.usefixtures("ids")
def test_answer_and_likelihoods_of_the_model(open_page: OpenPage) -> None:
    lab = open_page("lab", question=LENGTH)
    lab.default_timeout = 200
    assert "with probability" not in texts(lab)
    lab.selectbox(key="lab_method").set_value("RAG-Sequence, fast")
    lab.button(key="lab_generate").click().run()
    assert not lab.exception, lab.exception
    assert "with probability" in texts(lab)
    assert "tokens predicted" in texts(lab)
    # The answer is of other weights, so that it is no longer shown.
    lab.slider(key="lab_k").set_value(1).run()
    assert "with probability" not in texts(lab)

    assert "says the small model that reads passages" in texts(lab)
    lab.segmented_control(key="lab_answers_from").set_value("Language model").run()
    lab.button(key="lab_likelihoods").click().run()
    assert not lab.exception, lab.exception
    assert "likely the language model is to write each of these answers" in texts(lab)
    lab.run()
    assert "lab_likelihoods" not in [one.key for one in lab.button]
