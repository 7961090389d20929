"""A small cross-encoder with random weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def make_cross_encoder(
    folder: Path, words: Iterable[str] = (), *, labels: int = 1, names: Sequence[str] = (), always: int | None = None
) -> Path:
    """Save a deterministic BERT with one layer that scores pairs; return its folder.

    With ``names``, its labels have these names; with ``always``, it gives every pair this label.
    """
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    vocabulary += sorted({word.lower() for word in words} - set(vocabulary))
    listed = folder / "vocab.txt"
    listed.write_text("\n".join(vocabulary), "utf-8")
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=512,
        num_labels=len(names) or labels,
        # Large weights, since with the usual small ones all pairs have nearly the same score.
        initializer_range=0.5,
    )
    if names:
        config.id2label = dict(enumerate(names))
    model = BertForSequenceClassification(config)
    if always is not None:
        model.classifier.weight.data.zero_()
        model.classifier.bias.data.copy_(torch.eye(config.num_labels)[always] * 9 - 4)
    model.save_pretrained(folder)
    BertTokenizerFast(str(listed), model_max_length=512).save_pretrained(folder)
    return folder
