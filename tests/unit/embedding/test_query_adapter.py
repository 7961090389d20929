"""The maps of question vectors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rag_core.embedding.query_adapter import QueryAdapter, map_vectors, pack_matrices, unpack_adapter
from tests.support.embedders import DIMENSION, HashingEmbedder


def make_adapter(scale: float) -> QueryAdapter:
    identity = HashingEmbedder().identity
    random = np.random.default_rng(0)
    matrices = (scale * random.standard_normal((2, DIMENSION, DIMENSION))).astype(np.float32)
    return QueryAdapter(identity.weights, identity.projection, *matrices)


def test_zero_matrices_change_nothing(embedder: HashingEmbedder) -> None:
    question = embedder.embed_question("How long is the bridge?")
    mapped = make_adapter(0.0).apply(question)
    np.testing.assert_allclose(mapped.dense, question.dense, atol=1e-6)
    np.testing.assert_allclose(mapped.tokens, question.tokens, atol=1e-6)


def test_mapped_vectors_have_unit_length(embedder: HashingEmbedder) -> None:
    question = embedder.embed_question("How long is the bridge?")
    mapped = make_adapter(0.3).apply(question)
    assert np.linalg.norm(mapped.dense) == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(np.linalg.norm(mapped.tokens, axis=1), 1, atol=1e-5)
    assert mapped.dense.dtype == mapped.tokens.dtype == np.float32
    assert (mapped.text, mapped.offsets.tolist()) == (question.text, question.offsets.tolist())
    assert not np.allclose(mapped.dense, question.dense)


def test_question_without_token_vectors_has_none_after_the_map() -> None:
    assert map_vectors(np.empty((0, 3), np.float32), np.zeros((3, 3), np.float32)).shape == (0, 3)
    assert map_vectors(np.empty((2, 0), np.float32), np.zeros((0, 0), np.float32)).shape == (2, 0)


def test_matrices_survive_storage() -> None:
    adapter = make_adapter(0.3)
    stored = unpack_adapter(adapter.weights, adapter.projection, pack_matrices(adapter))
    np.testing.assert_array_equal(stored.dense, adapter.dense)
    np.testing.assert_array_equal(stored.tokens, adapter.tokens)


def test_adapter_belongs_to_one_embedder(embedder: HashingEmbedder) -> None:
    adapter = make_adapter(0.3)
    assert adapter.find_problems(embedder.identity) == []
    for other in (replace(embedder.identity, weights="0" * 64), replace(embedder.identity, projection="other")):
        (problem,) = adapter.find_problems(other)
        assert "trained for another embedder than hashing" in problem
