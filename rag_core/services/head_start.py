"""Vectors for a document's first chunks while its other pages are still being read."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future

from rag_core.chunking import title
from rag_core.services.generations import Generation
from rag_core.services.stores import Stores
from rag_core.store.codec import text_hash
from rag_core.types import ChunkSpan, Embedding, Page, embedded_text

# Chunks, about 27 kB each in memory.
MOST = 512


class HeadStart:
    """Embeds chunks of a document as its pages come, where the embedder has nothing else to do.

    A pass at a time, which takes one core, so that reading goes on. What comes of it stays in memory until the
    chunks are stored: in the store nobody would own it.

    Parameters
    ----------
    name : str
        Of the document.
    generation : Generation
    stores : Stores
    calls : Executor
        Runs the embedder.
    batch : int
        Texts a pass.
    idle : callable
        Whether the embedder has nothing else to do.
    """

    def __init__(
        self,
        name: str,
        generation: Generation,
        stores: Stores,
        calls: Executor,
        batch: int,
        idle: Callable[[], bool],
    ) -> None:
        self._name = name
        self._generation = generation
        self._stores = stores
        self._calls = calls
        self._batch = batch
        self._idle = idle
        self._chunker = generation.chunker()
        self._told = ""
        self._pages: deque[Page] = deque()
        self._spans: deque[ChunkSpan] = deque()
        self._lot: list[bytes] = []
        self._running: Future[list[Embedding]] | None = None
        self._made: dict[bytes, Embedding] = {}

    def add(self, page: Page) -> None:
        """Take the next page; begins a pass if it is time for one."""
        if page.page_index == 0:
            self._told = title(self._name, page)
        self._pages.append(page)
        if (self._running is not None and not self._running.done()) or not self._idle():
            return
        self._collect()
        # A page's last chunk depends on how the next one begins.
        while len(self._spans) < self._batch and len(self._pages) > 1:
            self._spans += self._chunker.of_page(self._name, self._told, self._pages.popleft(), self._pages[0])
        if len(self._made) < MOST and len(self._spans) >= self._batch:
            self._begin([self._spans.popleft() for _ in range(self._batch)])

    def end(self) -> dict[bytes, Embedding]:
        """What was made, by `text_hash`; waits for the last pass."""
        self._collect()
        return self._made

    def _begin(self, spans: list[ChunkSpan]) -> None:
        texts = {text_hash(span.prefix, span.text): embedded_text(span.prefix, span.text) for span in spans}
        known = self._stores.vectors.known(self._generation.space, list(texts))
        self._lot = [digest for digest in texts if digest not in known]
        self._running = self._calls.submit(self._generation.embedder.embed, [texts[one] for one in self._lot])

    def _collect(self) -> None:
        # What goes wrong here goes wrong again, and is told, when the chunks' turn comes.
        if self._running is not None and self._running.exception() is None:
            self._made |= zip(self._lot, self._running.result(), strict=True)
        self._running = None
