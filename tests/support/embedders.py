"""An embedder that needs no model, for unit tests; it passes the contract tests of the real ones."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rag_core.embedding.embedder import EmbedderIdentity
from rag_core.embedding.projection import quantize
from rag_core.errors import EmbedderError
from rag_core.types.arrays import FloatArray, IntArray
from rag_core.types.chunks import Embedding
from rag_core.types.retrieval import Question
from tests.support.bert import make_bert

TOKEN = re.compile(r"[^\W_]+|_|[^\w\s\x00-\x1f\x7f-\x9f\u200b-\u200f]")
DIMENSION = 64
WINDOW, SPECIAL_TOKENS = 256, 2


class HashingEmbedder:
    """Embed words by hashing, so that texts are similar if they share words (feature hashing; Weinberger et al. 2009).

    A token is a word or a punctuation mark. Its vector is drawn from a random generator that its lower-case text seeds;
    the dense vector of a text is the mean over its words.
    """

    def __init__(self) -> None:
        weights = hashlib.sha256(f"hashing {DIMENSION}".encode()).hexdigest()
        self.identity = EmbedderIdentity("hashing", weights, DIMENSION, DIMENSION, "none")
        self.window, self.special_tokens = WINDOW, SPECIAL_TOKENS

    def offsets(self, texts: Sequence[str]) -> list[IntArray]:
        return [np.array([match.span() for match in TOKEN.finditer(text)], np.int32).reshape(-1, 2) for text in texts]

    def embed(self, texts: Sequence[str], *, background: bool = True) -> list[Embedding]:
        embeddings = []
        for text, offsets in zip(texts, self.offsets(texts), strict=True):
            if len(offsets) + SPECIAL_TOKENS > WINDOW:
                raise EmbedderError(f"A text has {len(offsets)} tokens, more than the window of {WINDOW}.")
            tokens = self._token_vectors(text, offsets)
            embeddings.append(Embedding(self._dense(text, offsets, tokens), *quantize(tokens)))
        return embeddings

    def embed_question(self, question: str, *, low_priority: bool = False) -> Question:
        offsets = self.offsets([question])[0][: WINDOW - SPECIAL_TOKENS]
        tokens = self._token_vectors(question, offsets)
        return Question(question, self._dense(question, offsets, tokens), tokens, offsets)

    @staticmethod
    def _token_vectors(text: str, offsets: IntArray) -> FloatArray:
        vectors = np.empty((len(offsets), DIMENSION), np.float32)
        for row, (start, end) in enumerate(offsets):
            generator = np.random.default_rng(zlib.crc32(text[start:end].lower().encode()))
            vectors[row] = generator.standard_normal(DIMENSION)
        unit: FloatArray = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return unit

    @staticmethod
    def _dense(text: str, offsets: IntArray, tokens: FloatArray) -> FloatArray:
        is_word = np.array([text[start].isalnum() for start, _ in offsets], bool)
        # A text without words gets a fixed direction, since a dense vector always has unit length.
        total = tokens[is_word].sum(axis=0) if is_word.any() else np.ones(DIMENSION)
        dense: FloatArray = (total / np.linalg.norm(total)).astype(np.float32)
        return dense


def make_sentence_transformer(
    folder: Path, prompts: dict[str, str] | None = None, *, include_prompt: bool = True, seed: int = 7
) -> Path:
    """Save a deterministic sentence-transformers model with one layer and random weights; return its folder.

    If ``include_prompt`` is false, the dense vector is a mean without the tokens of the prompt.
    """
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    bert = folder / "bert"
    # Large weights, since with the usual small ones all texts have nearly the same vector.
    values = {"hidden_size": 32, "initializer_range": 0.5}
    make_bert(bert, "BertModel", signs=":.,?", seed=seed, length=128, **values).save_pretrained(bert)
    modules = [Transformer(str(bert)), Pooling(32, include_prompt=include_prompt)]
    SentenceTransformer(modules=modules, device="cpu", prompts=prompts).save(str(folder / "model"))
    return folder / "model"
