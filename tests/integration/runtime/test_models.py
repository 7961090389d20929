"""Loading of the local models, and reports of failures."""

from __future__ import annotations

import pytest

from rag_core.errors import EmbedderMissing, RerankerMissing
from rag_core.runtime.models import LocalModels
from rag_core.settings import BUNDLED_EMBEDDER, load_settings


@pytest.fixture
def models() -> LocalModels:
    return LocalModels(load_settings())


def test_not_ready_until_everything_is_loaded(models: LocalModels) -> None:
    with models.preparing():
        models.embedder(BUNDLED_EMBEDDER)
        assert not models.readiness.ready
        assert models.readiness.label
    assert models.readiness.ready


def test_failure_during_preparation_is_reported(models: LocalModels) -> None:
    with models.preparing():
        with pytest.raises(EmbedderMissing):
            models.embedder("nobody/no-model")
        assert "nobody/no-model" in models.readiness.error
    assert not models.readiness.ready
    assert "nobody/no-model" in models.readiness.error


def test_failure_is_reported_until_another_model_is_loaded(models: LocalModels) -> None:
    models.embedder(BUNDLED_EMBEDDER)
    with pytest.raises(EmbedderMissing):
        models.embedder("nobody/no-model")
    assert "nobody/no-model" in models.readiness.error
    models.embedder(BUNDLED_EMBEDDER)
    assert models.readiness.ready


def test_failure_of_cross_encoder_stays_reported() -> None:
    models = LocalModels(load_settings(reranker="nobody/no-reranker"))
    with pytest.raises(RerankerMissing):
        models.cross_encoder()
    models.embedder(BUNDLED_EMBEDDER)
    assert "nobody/no-reranker" in models.readiness.error
