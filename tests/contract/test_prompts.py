"""Models with different prompts for questions and documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_core.embedding.sentence_transformer import SentenceTransformerEmbedder
from rag_core.errors import EmbedderError
from tests.support.embedders import make_sentence_transformer

PROMPTS = {"query": "question: ", "document": "passage: "}
QUESTION, TEXT = "how long is the bridge?", "the bridge is 42 metres long."


def loaded(folder: Path, **options: Any) -> tuple[SentenceTransformerEmbedder, Any]:
    # Every worker collects this module, and the import takes seconds.
    from sentence_transformers import SentenceTransformer

    path = str(make_sentence_transformer(folder, **options))
    return SentenceTransformerEmbedder(path, precision="fp32"), SentenceTransformer(path, device="cpu")


@pytest.mark.parametrize("include_prompt", [True, False])
@pytest.mark.parametrize("prompts", [PROMPTS, {"query": "question: "}, None])
def test_vectors_equal_those_of_sentence_transformers(
    tmp_path: Path, prompts: dict[str, str] | None, include_prompt: bool
) -> None:
    embedder, model = loaded(tmp_path, prompts=prompts, include_prompt=include_prompt)
    for actual, expected in (
        (embedder.embed_question(QUESTION).dense, model.encode_query(QUESTION)),
        (embedder.embed([TEXT, "short"])[0].dense, model.encode_document(TEXT)),
    ):
        assert actual == pytest.approx(expected / np.linalg.norm(expected), abs=1e-5)


def test_prompt_named_passage_is_used_for_documents(tmp_path: Path) -> None:
    embedder, model = loaded(tmp_path, prompts={"query": "question: ", "passage": "passage: "})
    expected = model.encode(TEXT, prompt_name="passage")
    assert embedder.embed([TEXT])[0].dense == pytest.approx(expected / np.linalg.norm(expected), abs=1e-5)


def test_prompts_make_a_difference_for_questions_and_documents(tmp_path: Path) -> None:
    embedder, _ = loaded(tmp_path, prompts=PROMPTS)
    plain, _ = loaded(tmp_path / "plain")
    assert embedder.embed_question(TEXT).dense @ embedder.embed([TEXT])[0].dense < 0.999
    assert plain.embed_question(TEXT).dense == pytest.approx(plain.embed([TEXT])[0].dense, abs=1e-5)


def test_tokens_of_prompts_are_not_part_of_the_text(tmp_path: Path) -> None:
    embedder, _ = loaded(tmp_path, prompts=PROMPTS)
    plain, _ = loaded(tmp_path / "plain")
    [offsets] = embedder.offsets([TEXT])
    assert offsets.tolist() == plain.offsets([TEXT])[0].tolist()
    assert embedder.embed([TEXT])[0].tokens.shape[0] == len(offsets)
    question = embedder.embed_question(QUESTION)
    assert question.offsets.tolist() == plain.embed_question(QUESTION).offsets.tolist()
    assert len(question.tokens) == len(question.offsets)


def test_prompt_counts_as_part_of_the_window(tmp_path: Path) -> None:
    embedder, _ = loaded(tmp_path, prompts=PROMPTS)
    plain, _ = loaded(tmp_path / "plain")
    assert plain.window - embedder.window == len(plain.offsets(["passage:"])[0])
    words = " ".join(["a"] * (embedder.window - embedder.special_tokens))
    assert len(embedder.embed([words])[0].tokens) == embedder.window - embedder.special_tokens
    with pytest.raises(EmbedderError, match="does not fit"):
        embedder.embed([f"{words} a"])
    assert len(embedder.embed_question("a " * 500).tokens) < 128


def test_prompts_are_part_of_the_fingerprint(tmp_path: Path) -> None:
    with_prompts, _ = loaded(tmp_path / "one", prompts=PROMPTS)
    other_prompts, _ = loaded(tmp_path / "two", prompts={"query": "q: ", "document": "passage: "})
    plain, _ = loaded(tmp_path / "three")
    weights = {one.identity.weights for one in (with_prompts, other_prompts, plain)}
    assert len(weights) == 3
