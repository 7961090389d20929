"""Embed chunks that questions find before indexing has embedded them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from rag_core.types import Embedding
from rag_core.types.protocols import QuestionEmbedder

# Embeddings in memory; indexing soon stores those that questions found.
MAX_CACHED = 500


class OnDemandEmbeddings:
    """Embeddings of texts, each computed once for all questions.

    One thread computes them, so that questions keep the other cores.
    """

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="on-demand")
        self._futures: OrderedDict[tuple[str, str], Future[Embedding]] = OrderedDict()
        self._lock = threading.Lock()

    def embed(self, embedder: QuestionEmbedder, texts: Sequence[str], timeout_s: float) -> list[Embedding | None]:
        """Return the embedding of each text, or ``None`` for a text that is not embedded within the time.

        Its computation goes on, so that the next question for the same text does not start again.
        """
        futures = [self._submit(embedder, text) for text in texts]
        done, _ = wait(futures, timeout_s)
        return [future.result() if future in done and future.exception() is None else None for future in futures]

    def close(self) -> None:
        """Wait for the current text, and cancel the others."""
        self._executor.shutdown(cancel_futures=True)

    def _submit(self, embedder: QuestionEmbedder, text: str) -> Future[Embedding]:
        key = (embedder.identity.weights, text)
        with self._lock:
            future = self._futures.get(key)
            if future is None or (future.done() and (future.cancelled() or future.exception() is not None)):
                future = self._executor.submit(lambda: embedder.embed([text], background=False)[0])
                self._futures[key] = future
            self._futures.move_to_end(key)
            while len(self._futures) > MAX_CACHED:
                self._futures.popitem(last=False)[1].cancel()
        return future
