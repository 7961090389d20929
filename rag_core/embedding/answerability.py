"""The answerability model, which reads a question and a text together and finds the answer in the text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from rag_core.embedding import bundled
from rag_core.embedding.bert import LENGTH_STEP, read_arrays
from rag_core.embedding.runtimes import Runtime, default_runtime, load_encoder
from rag_core.embedding.transformer import check_weights, load_tokenizer, pad_ids
from rag_core.text.languages import detect_language
from rag_core.types.arrays import FloatArray
from rag_core.types.retrieval import Reading

# The LoRA adapters and the output layer.
FITTED = Path(__file__).with_name("answerability.safetensors")
# Maximum number of tokens of question and text together. Most pairs have fewer tokens, and a larger maximum would take
# more time.
WINDOW = 192
# Maximum number of tokens of an answer, and number of tokens that are considered as the first token of an answer.
MAX_ANSWER_TOKENS, STARTS = 40, 8
# The neutral reading if the question or the text is not in English, the only language of the model's training.
UNREAD = Reading(0.5, 0, 0, 0.0)
# Number of cached readings. Questions are often asked again.
_MAX_CACHED = 4096


class AnswerabilityModel:
    """Estimates whether a short text answers a question, and where the answer is.

    This model reads question and text together, so it can distinguish texts that the reranker cannot. For the reranker,
    "who sold Alaska" is as similar to "America bought Alaska" as to "Russia sold Alaska to America".

    The model is the encoder of the bundled embedder with LoRA adapters of rank 16 (Hu et al., "LoRA: Low-rank
    adaptation of large language models", ICLR 2022). ``benchmarks/fit_answerability.py`` fits the adapters to two
    tasks: whether a text answers a question, and where the answer starts and ends (Devlin et al., "BERT: Pre-training
    of deep bidirectional transformers for language understanding", NAACL 2019).

    Parameters
    ----------
    runtime : Runtime, optional
        The library and the precision. The default is OpenVINO, in bf16 if the processor supports it, else in fp32.

    Raises
    ------
    EmbedderMissing
        The package with the weights is not installed.
    EmbedderChanged
        The installed weights are not those for which the adapters were fitted.
    """

    def __init__(self, runtime: Runtime | None = None) -> None:
        path = bundled.find_weights_folder()
        check_weights(path, bundled.WEIGHTS, bundled.DISTRIBUTION)
        self._tokenizer = load_tokenizer((path / "tokenizer.json").read_text(encoding="utf-8"))
        self._tokenizer.enable_truncation(WINDOW)
        adapters = {name: array.astype(np.float32) for name, array in read_arrays(FITTED).items()}
        names = [name.removesuffix(".up") for name in adapters if name.endswith(".up")]
        changes = {f"{name}.weight": adapters[f"{name}.up"] @ adapters[f"{name}.down"] for name in names}
        self._model = load_encoder(runtime or default_runtime(), path, changes)
        self._head, self._bias = adapters["head.weight"], adapters["head.bias"]
        self._executor = ThreadPoolExecutor(self._model.max_parallel_calls, thread_name_prefix="answerability")
        self._read_cached = lru_cache(maxsize=_MAX_CACHED)(self._read)

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> Iterator[Reading]:
        """Return an iterator over the readings of pairs of a question and a text, in the order of the pairs.

        Background threads compute the readings in this order. When the iterator is deleted, readings that have not
        started are cancelled. If question and text together have more than `WINDOW` tokens, the end of the longer of
        the two is ignored.
        """
        return self._executor.map(self._read_cached, *zip(*pairs, strict=True)) if pairs else iter(())

    def score_span(self, question: str, text: str, start: int, end: int) -> float:
        """Return the natural logarithm of the probability that a span of the text is the answer.

        The probability is the product of the probabilities of the first and the last token of the span. "No answer" is
        one of the alternatives. The result is minus infinity if the span contains no token, or if its end is after the
        `WINDOW` tokens that are read.
        """
        encoding = self._tokenizer.encode(question, text)
        scores = self._score_tokens(encoding.ids)[:, :2]
        in_text = _find_text_tokens(encoding)
        offsets = encoding.offsets
        inside = [token for token in in_text if offsets[token][0] < end and offsets[token][1] > start]
        if not inside or offsets[inside[-1]][1] < end:
            return -math.inf
        # The first token, which is no token of the text, stands for "no answer".
        possible = scores[[0, *in_text]].astype(np.float64)
        log_totals = np.logaddexp.reduce(possible, axis=0)
        return float(scores[inside[0], 0] - log_totals[0] + scores[inside[-1], 1] - log_totals[1])

    def _read(self, question: str, text: str) -> Reading:
        """Return the reading of a question and a text; `UNREAD` if one of them is not in English."""
        if detect_language(question) or detect_language(text):
            return UNREAD
        encoding = self._tokenizer.encode(question, text)
        scores = self._score_tokens(encoding.ids)
        probability = 1.0 / (1.0 + math.exp(-float(scores[0, 2])))
        in_text = _find_text_tokens(encoding)
        if not in_text:
            return Reading(probability, 0, 0, -math.inf)
        first, last, score = find_span(scores[in_text[0] : in_text[-1] + 1, :2])
        start, end = encoding.offsets[in_text[first]][0], encoding.offsets[in_text[last]][1]
        return Reading(probability, start, end, score - float(scores[0, :2].sum()))

    def _score_tokens(self, ids: Sequence[int]) -> FloatArray:
        """Return three scores of each token, shape (tokens, 3).

        The first score is for the first token of the answer, and the second for the last token. The third score is for
        an answer in the text; only the third score of the first token is used.
        """
        scores: FloatArray = self._model.states(*pad_ids([ids], 0, LENGTH_STEP))[0] @ self._head.T + self._bias
        return scores


def _find_text_tokens(encoding: Any) -> list[int]:
    """Return the positions of the tokens of the text, which is the second of two encoded sequences."""
    return [position for position, sequence in enumerate(encoding.sequence_ids) if sequence == 1]


def find_span(scores: FloatArray) -> tuple[int, int, float]:
    """Return the first and the last token of the best span, and its score, which is the sum of the tokens' scores.

    A span has at most `MAX_ANSWER_TOKENS` tokens. It begins with one of the `STARTS` best first tokens.

    Parameters
    ----------
    scores : FloatArray, shape (n, 2)
        Scores of each token as the first and as the last token of the span.
    """
    best = (0, 0, -math.inf)
    for first in np.argsort(-scores[:, 0])[:STARTS].tolist():
        ends = scores[first : first + MAX_ANSWER_TOKENS, 1]
        last = int(ends.argmax())
        score = float(scores[first, 0] + ends[last])
        if score > best[2]:
            best = (first, first + last, score)
    return best
