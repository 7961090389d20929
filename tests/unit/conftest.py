"""Engines share one loaded model: loading it takes longer than most tests."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest

from rag_core.embedding import SentenceTransformerEmbedder


@pytest.fixture(autouse=True, scope="session")
def _models_are_loaded_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "rag_core.services.models.SentenceTransformerEmbedder", functools.cache(SentenceTransformerEmbedder)
        )
        yield
