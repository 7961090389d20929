"""Unit tests load no model, so that they finish within a minute."""

from __future__ import annotations

import pytest

from rag_core.embedding.answerability import AnswerabilityModel
from rag_core.embedding.bundled import BundledEmbedder
from rag_core.embedding.sentence_transformer import CrossEncoder, SentenceTransformerEmbedder
from tests.support.embedders import HashingEmbedder


@pytest.fixture(autouse=True)
def _no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("A unit test must not load a model. Use HashingEmbedder, or move it to tests/integration.")

    for model in (AnswerabilityModel, BundledEmbedder, CrossEncoder, SentenceTransformerEmbedder):
        monkeypatch.setattr(model, "__init__", fail)


@pytest.fixture
def embedder() -> HashingEmbedder:
    """Return an embedder without a model in place of the bundled one."""
    return HashingEmbedder()
