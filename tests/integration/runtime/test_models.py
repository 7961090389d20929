"""Models that are loaded once."""

from __future__ import annotations

import pytest

from rag_core.errors import EmbedderMissing, RerankerMissing
from rag_core.runtime.models import LocalModels
from rag_core.settings import BUNDLED_EMBEDDER, load_settings


def test_nothing_is_ready_before_all_is_that_is_prepared() -> None:
    models = LocalModels(load_settings())
    with models.preparing():
        models.embedder(BUNDLED_EMBEDDER)
        assert not models.warmth.ready
        assert models.warmth.label
    assert models.warmth.ready


def test_a_model_that_cannot_be_loaded_is_told_while_others_are_prepared() -> None:
    models = LocalModels(load_settings())
    with models.preparing():
        with pytest.raises(EmbedderMissing):
            models.embedder("nobody/no-model")
        assert "nobody/no-model" in models.warmth.error
    assert not models.warmth.ready
    assert "nobody/no-model" in models.warmth.error


def test_a_model_that_cannot_be_loaded_is_told_until_another_takes_its_place() -> None:
    models = LocalModels(load_settings())
    models.embedder(BUNDLED_EMBEDDER)
    with pytest.raises(EmbedderMissing):
        models.embedder("nobody/no-model")
    assert "nobody/no-model" in models.warmth.error
    models.embedder(BUNDLED_EMBEDDER)
    assert models.warmth.ready


def test_a_cross_encoder_that_cannot_be_loaded_is_told_whatever_else_is_loaded() -> None:
    models = LocalModels(load_settings(reranker="nobody/no-reranker"))
    with pytest.raises(RerankerMissing):
        models.cross_encoder()
    models.embedder(BUNDLED_EMBEDDER)
    assert "nobody/no-reranker" in models.warmth.error
