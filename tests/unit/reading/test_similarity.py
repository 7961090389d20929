"""Similarity of a question and spans of pages."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rag_core.embedding.projection import quantize
from rag_core.reading.similarity import PageSimilarity
from rag_core.types.chunks import ChunkVectors
from rag_core.types.retrieval import build_unembedded_question
from rag_core.types.searches import PassageTokens

PAGE = ("version", 0)


@pytest.mark.parametrize(("slope", "intercept", "expected"), [(1.0, 0.0, 0.8), (2.5, -1.5, 0.5)])
def test_similarities_are_mapped_to_the_scale_of_the_bundled_embedder(
    slope: float, intercept: float, expected: float
) -> None:
    question = replace(build_unembedded_question("pier"), tokens=np.array([[0.8, 0.6]], np.float32))
    values, scales = quantize(np.eye(2, dtype=np.float32))
    tokens = PassageTokens(ChunkVectors(values, scales, np.zeros(1, np.int32)), np.array([[0, 4], [5, 9]], np.int32))
    weights = np.ones(1, np.float32)
    similarity = PageSimilarity({PAGE: (question, weights)}, [(PAGE, 0, tokens)], slope, intercept)
    assert similarity.compare(PAGE, [(0, 9)]) == pytest.approx(expected, abs=0.01)
