"""A small learned sparse encoder with random weights."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.support.bert import make_bert

BIAS = 20.0


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
