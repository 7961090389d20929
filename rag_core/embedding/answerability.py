"""Whether a text answers a question: the model of the embedder, changed a little to read both together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from rag_core.embedding import bundled
from rag_core.embedding.bert import LENGTH_STEP, ScoringBert, arrays
from rag_core.embedding.transformer import check_weights, load_tokenizer, padded

FITTED = Path(__file__).with_name("answerability.safetensors")
# Most tokens of question and text together: nine in ten pairs have fewer, and each token costs 0.08 ms.
WINDOW = 160


class AnswerabilityModel:
    """How likely a short text answers a question, by having read one with the other.

    The reranker compares tokens that were embedded apart: "who sold Alaska" is close to "Russia sold Alaska to
    America" and as close to "America bought Alaska". Here each token of the question sees those of the text.
    The bundled embedder's weights are taken with a change of rank 16 to each of the encoder's matrices (Hu et al.,
    "LoRA: Low-rank adaptation of large language models", ICLR 2022), fitted by ``benchmarks/fit_answerability.py``
    to tell texts that answer a question from those that do not.

    Parameters
    ----------
    precision : {"auto", "fp32", "bf16"}
        As of the embedder.

    Raises
    ------
    EmbedderMissing
        The weights' package is not installed.
    EmbedderChanged
        The weights are not the ones this was fitted with.
    """

    def __init__(self, *, precision: str = "auto") -> None:
        path = bundled.folder()
        check_weights(path, bundled.WEIGHTS, bundled.DISTRIBUTION)
        self._tokenizer = load_tokenizer((path / "tokenizer.json").read_text(encoding="utf-8"))
        self._tokenizer.enable_truncation(WINDOW)
        fitted = {name: array.astype(np.float32) for name, array in arrays(FITTED).items()}
        changed = [name.removesuffix(".up") for name in fitted if name.endswith(".up")]
        changes = {f"{name}.weight": fitted[f"{name}.up"] @ fitted[f"{name}.down"] for name in changed}
        self._model = ScoringBert(path, changes, fitted["head.weight"], precision)
        self._bias = float(fitted["head.bias"][0])
        self._calls = ThreadPoolExecutor(self._model.at_once, thread_name_prefix="answerability")

    def __call__(self, question: str, texts: Sequence[str]) -> Iterator[float]:
        """The probability that each text answers the question, in order; they are made while the caller goes on.

        Of a question and a text with more than `WINDOW` tokens together the end of the longer one is not read.
        """
        encodings = self._tokenizer.encode_batch([(question, text) for text in texts])
        return self._calls.map(self._scored, [one.ids for one in encodings])

    def _scored(self, ids: Sequence[int]) -> float:
        log_odds = float(self._model.scores(*padded([ids], 0, LENGTH_STEP))[0]) + self._bias
        return 1.0 / (1.0 + math.exp(-log_odds))
