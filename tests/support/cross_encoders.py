"""A small cross-encoder with random weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.support.bert import make_bert


def make_cross_encoder(
    folder: Path, words: Iterable[str] = (), *, labels: int = 1, names: Sequence[str] = (), always: int | None = None
) -> Path:
    """Save a deterministic BERT with one layer that scores pairs; return its folder.

    With ``names``, its labels have these names; with ``always``, it gives every pair this label.
    """
    import torch

    # Large weights, since with the usual small ones all pairs have nearly the same score.
    values = {"hidden_size": 32, "num_labels": len(names) or labels, "initializer_range": 0.5}
    model = make_bert(folder, "BertForSequenceClassification", words, **values)
    if names:
        model.config.id2label = dict(enumerate(names))
    if always is not None:
        model.classifier.weight.data.zero_()
        model.classifier.bias.data.copy_(torch.eye(model.config.num_labels)[always] * 9 - 4)
    model.save_pretrained(folder)
    return folder
