"""Measure the runtimes of the bundled embedder on this machine. `RuntimeChoice` runs this module as a process."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from rag_core.embedding.bert import LENGTH_STEP
from rag_core.embedding.bundled import find_weights_folder
from rag_core.embedding.runtimes import Runtime, TransformerEncoder, load_encoder
from rag_core.embedding.transformer import BATCH
from rag_core.types.arrays import FloatArray, Int64Array

# Number of turns of each candidate, and length of a turn in seconds. The candidates take turns, so that other work of
# the machine slows down all of them equally.
TURNS, TURN_S = 3, 0.3
# Minimum mean cosine similarity of hidden states to hidden states in fp32. Supported int8 reaches 0.999 on English
# reports and manuals. Lower values mean that the processor or the library does not support the precision.
SIMILARITY = {"fp32": 0.9999, "bf16": 0.99, "int8": 0.99}


def measure_runtimes(folder: Path, candidates: Sequence[Runtime]) -> list[Runtime]:
    """Return the candidates that work accurately on this machine, with their speeds, the fastest first.

    ``folder`` contains the weights of the bundled embedder. Candidates that are not accurate are left out.
    """
    ids = np.random.default_rng(0).integers(1000, 20000, (2, 25 * LENGTH_STEP))
    mask = np.ones_like(ids)
    encoders = dict(_load_accurate(folder, candidates, ids, mask))
    rates = dict.fromkeys(encoders, 0.0)
    for _ in range(TURNS):
        for runtime, encoder in encoders.items():
            rates[runtime] = max(rates[runtime], _measure_rate(encoder, ids, mask))
    fastest = sorted(rates, key=lambda runtime: -rates[runtime])
    return [replace(one, texts_per_second=round(rates[one], 1)) for one in fastest]


def _load_accurate(
    folder: Path, candidates: Sequence[Runtime], ids: Int64Array, mask: Int64Array
) -> Iterator[tuple[Runtime, TransformerEncoder]]:
    """Yield the candidates whose hidden states are accurate, with their encoders.

    On the processor, hidden states must also be independent of the batch; see `is_independent_of_batch`.
    """
    exact = load_encoder(Runtime("openvino", "fp32"), folder).states(ids, mask)
    for runtime in candidates:
        try:
            encoder = load_encoder(runtime, folder)
            states = encoder.states(ids, mask)
        except RuntimeError:
            # OpenVINO and torch raise this error if the processor lacks the instructions for a precision.
            continue
        is_accurate = _compute_similarity(states, exact) >= SIMILARITY[runtime.precision]
        if is_accurate and (runtime.device == "cuda" or is_independent_of_batch(encoder)):
            yield runtime, encoder


def is_independent_of_batch(encoder: TransformerEncoder) -> bool:
    """Return whether the hidden states of a short text are bitwise the same alone and in a batch.

    OpenVINO in int8 rounds short texts differently by batch on processors without VNNI.
    """
    ids = np.random.default_rng(0).integers(1000, 20000, (BATCH, 6 * LENGTH_STEP))
    mask = np.ones_like(ids)
    return np.array_equal(encoder.states(ids, mask)[:1], encoder.states(ids[:1], mask[:1]))


def _measure_rate(encoder: TransformerEncoder, ids: Int64Array, mask: Int64Array) -> float:
    """Return the number of texts per second that an encoder processes in its maximum number of parallel calls."""
    started = time.perf_counter()

    def count_batches(_: int) -> int:
        batches = 0
        while time.perf_counter() - started < TURN_S:
            encoder.states(ids, mask)
            batches += 1
        return batches

    calls = encoder.max_parallel_calls
    with ThreadPoolExecutor(calls) as executor:
        batches = sum(executor.map(count_batches, range(calls)))
    return batches * len(ids) / (time.perf_counter() - started)


def _compute_similarity(states: FloatArray, exact: FloatArray) -> float:
    """Return the mean cosine similarity of hidden states to exact ones; 0 if the shapes differ."""
    # OpenVINO returns arrays without elements for a precision that the processor does not support.
    if states.shape != exact.shape:
        return 0.0
    lengths = np.linalg.norm(states, axis=-1) * np.linalg.norm(exact, axis=-1)
    return float(np.mean((states * exact).sum(axis=-1) / lengths))


if __name__ == "__main__":
    measured = measure_runtimes(find_weights_folder(), [Runtime(**row) for row in json.load(sys.stdin)])
    print(json.dumps([asdict(runtime) for runtime in measured]))
