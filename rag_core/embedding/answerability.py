"""A cross-encoder that estimates whether a text answers a question: the bundled model with LoRA adapters."""

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
# Maximum tokens of question and text together: most pairs are shorter, and each token takes time.
WINDOW = 160


class AnswerabilityModel:
    """Estimates the probability that a short text answers a question.

    The reranker compares tokens that were embedded separately, so "who sold Alaska" is as close to "America bought
    Alaska" as to "Russia sold Alaska to America". This model encodes question and text together. It adds a change of
    rank 16 to each matrix of the bundled embedder's encoder (Hu et al., "LoRA: Low-rank adaptation of large language
    models", ICLR 2022), fitted by ``benchmarks/fit_answerability.py`` to classify pairs of question and text.

    Parameters
    ----------
    precision : {"auto", "fp32", "bf16"}
        See `rag_core.embedding.bert.Bert`.

    Raises
    ------
    EmbedderMissing
        The package with the weights is not installed.
    EmbedderChanged
        The weights are not those that the adapters were fitted with.
    """

    def __init__(self, *, precision: str = "auto") -> None:
        path = bundled.weights_folder()
        check_weights(path, bundled.WEIGHTS, bundled.DISTRIBUTION)
        self._tokenizer = load_tokenizer((path / "tokenizer.json").read_text(encoding="utf-8"))
        self._tokenizer.enable_truncation(WINDOW)
        adapters = {name: array.astype(np.float32) for name, array in arrays(FITTED).items()}
        names = [name.removesuffix(".up") for name in adapters if name.endswith(".up")]
        changes = {f"{name}.weight": adapters[f"{name}.up"] @ adapters[f"{name}.down"] for name in names}
        self._model = ScoringBert(path, changes, adapters["head.weight"], precision)
        self._bias = float(adapters["head.bias"][0])
        self._executor = ThreadPoolExecutor(self._model.max_parallel_calls, thread_name_prefix="answerability")

    def __call__(self, question: str, texts: Sequence[str]) -> Iterator[float]:
        """Yield the probability that each text answers the question, in order, computed in the background.

        If question and text have more than `WINDOW` tokens together, the end of the longer one is cut off.
        """
        encodings = self._tokenizer.encode_batch([(question, text) for text in texts])
        return self._executor.map(self._score, [encoding.ids for encoding in encodings])

    def _score(self, ids: Sequence[int]) -> float:
        log_odds = float(self._model.scores(*padded([ids], 0, LENGTH_STEP))[0]) + self._bias
        return 1.0 / (1.0 + math.exp(-log_odds))
