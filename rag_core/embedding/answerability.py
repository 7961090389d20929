"""A cross-encoder that estimates whether a text answers a question; it is the bundled model with LoRA adapters."""

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
# Maximum number of tokens of question and text together. It is low because long inputs take more time, and most pairs
# of question and text are shorter.
WINDOW = 160


class AnswerabilityModel:
    """Estimates the probability that a short text answers a question.

    The reranker embeds question and text separately and then compares their tokens. To the reranker, "who sold Alaska"
    is as similar to "America bought Alaska" as to "Russia sold Alaska to America". This model reads question and text
    together, so that it can distinguish such texts. It is the encoder of the bundled embedder, with a matrix of rank 16
    added to the weight matrices (Hu et al., "LoRA: Low-rank adaptation of large language models", ICLR 2022).
    ``benchmarks/fit_answerability.py`` fits these adapters to classify pairs of question and text.

    Parameters
    ----------
    precision : {"auto", "fp32", "bf16"}
        Arithmetic of the model; see `rag_core.embedding.bert.Bert`.

    Raises
    ------
    EmbedderMissing
        The package with the weights is not installed.
    EmbedderChanged
        The installed weights are not the weights for which the adapters were fitted.
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
        """Yield, in the order of the texts, the probability that the text answers the question.

        The probabilities are computed in background threads, which start with the call. If question and text together
        have more than `WINDOW` tokens, the longer of the two is cut off at its end.
        """
        encodings = self._tokenizer.encode_batch([(question, text) for text in texts])
        return self._executor.map(self._score, [encoding.ids for encoding in encodings])

    def _score(self, ids: Sequence[int]) -> float:
        log_odds = float(self._model.scores(*padded([ids], 0, LENGTH_STEP))[0]) + self._bias
        return 1.0 / (1.0 + math.exp(-log_odds))
