"""A small BERT with random weights, for the models of tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def make_bert(
    folder: Path,
    kind: str,
    words: Iterable[str] = (),
    *,
    signs: str = "",
    seed: int = 7,
    length: int = 512,
    **configuration: Any,
) -> Any:
    """Save a tokenizer; return a deterministic model with one layer, of a class of the package transformers."""
    import torch
    import transformers

    folder.mkdir(parents=True, exist_ok=True)
    pieces = (f"##{letter}" for letter in _LETTERS)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *signs, *_LETTERS, *pieces]
    vocabulary += sorted({word.lower() for word in words} - set(vocabulary))
    listed = folder / "vocab.txt"
    listed.write_text("\n".join(vocabulary), "utf-8")
    transformers.BertTokenizerFast(str(listed), model_max_length=length).save_pretrained(folder)
    torch.manual_seed(seed)
    shape = {"num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), max_position_embeddings=length, **shape, **configuration
    )
    return getattr(transformers, kind)(config)
