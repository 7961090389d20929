"""Small sparse encoders: a learned one with random weights, and one without a model."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from rag_core.types.chunks import SparseVector
from tests.support.bert import make_bert

BIAS = 20.0
TERMS = 30_000


class HashingSparseEncoder:
    """Give each word of a text a term by hashing, whose weight is how often the text contains it."""

    def __init__(self, name: str) -> None:
        self.name, self.weights = name, f"{TERMS} terms"

    def encode(self, texts: Sequence[str]) -> list[SparseVector]:
        return [self.encode_question(text) for text in texts]

    def encode_question(self, question: str) -> SparseVector:
        counts = Counter(zlib.crc32(word.encode()) % TERMS for word in question.lower().split())
        terms = sorted(counts)
        return SparseVector(np.array(terms, np.int32), np.array([counts[term] for term in terms], np.float32))


def make_sparse_encoder(folder: Path, words: Iterable[str] = (), *, seed: int = 7) -> Path:
    """Save a deterministic SPLADE model with one layer; return its folder.

    Input and output embeddings are the same and the bias of the output is negative, so a text gives few terms a weight,
    mainly its own words.
    """
    import torch
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sentence_transformer.modules import Transformer
    from sentence_transformers.sparse_encoder.modules import SpladePooling

    model = make_bert(folder, "BertForMaskedLM", words, seed=seed, hidden_size=64)
    with torch.no_grad():
        model.cls.predictions.transform.dense.weight.copy_(torch.eye(64))
        model.bert.embeddings.word_embeddings.weight[5:].normal_()
        model.cls.predictions.bias.fill_(-BIAS)
    model.save_pretrained(folder)
    modules = [Transformer(str(folder), transformer_task="fill-mask"), SpladePooling("max")]
    SparseEncoder(modules=modules, device="cpu").save_pretrained(str(folder))
    return folder
