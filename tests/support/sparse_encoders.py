"""A small learned sparse encoder with random weights."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.support.cross_encoders import LETTERS

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
    from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    vocabulary += sorted({word.lower() for word in words} - set(vocabulary))
    listed = folder / "vocab.txt"
    listed.write_text("\n".join(vocabulary), "utf-8")
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=512,
        initializer_range=0.02,
    )
    model = BertForMaskedLM(config)
    with torch.no_grad():
        model.cls.predictions.transform.dense.weight.copy_(torch.eye(64))
        model.bert.embeddings.word_embeddings.weight[5:].normal_()
        model.cls.predictions.bias.fill_(-BIAS)
    model.save_pretrained(folder)
    BertTokenizerFast(str(listed), model_max_length=512).save_pretrained(folder)
    modules = [Transformer(str(folder), transformer_task="fill-mask"), SpladePooling("max")]
    SparseEncoder(modules=modules, device="cpu").save_pretrained(str(folder))
    return folder
