"""Embed chunks that a search finds before they have been embedded by indexing."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from rag_core.types.chunks import Embedding
from rag_core.types.protocols import QuestionEmbedder

# Maximum number of cached embeddings. Indexing soon stores embeddings of the same chunks.
MAX_CACHED = 500


class OnDemandEmbeddings:
    """Computes and caches the embeddings of texts.

    Only one thread computes embeddings, so that the other cores are free for other questions.
    """

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="on-demand")
        self._futures: OrderedDict[tuple[str, str], Future[Embedding]] = OrderedDict()
        self._lock = threading.Lock()

    def embed(self, embedder: QuestionEmbedder, texts: Sequence[str], timeout_s: float) -> list[Embedding | None]:
        """Return the embedding of each text; ``None`` if it is not computed within ``timeout_s`` seconds, or fails.

        A computation continues after the timeout, and a later call can use its result. A later call repeats a
        computation that failed.
        """
        futures = [self._submit(embedder, text) for text in texts]
        done, _ = wait(futures, timeout_s)
        return [future.result() if future in done and _has_succeeded(future) else None for future in futures]

    def close(self) -> None:
        """Wait until the current text is embedded, and cancel the queued texts."""
        self._executor.shutdown(cancel_futures=True)

    def _submit(self, embedder: QuestionEmbedder, text: str) -> Future[Embedding]:
        key = (embedder.identity.weights, text)
        with self._lock:
            future = self._futures.get(key)
            if future is None or (future.done() and not _has_succeeded(future)):
                future = self._executor.submit(lambda: embedder.embed([text], background=False)[0])
                self._futures[key] = future
            self._futures.move_to_end(key)
            for old in [old for old, cached in self._futures.items() if cached.done()]:
                if len(self._futures) <= MAX_CACHED:
                    break
                del self._futures[old]
        return future


def _has_succeeded(future: Future[Embedding]) -> bool:
    """Return whether a completed future has a result."""
    return not future.cancelled() and future.exception() is None
