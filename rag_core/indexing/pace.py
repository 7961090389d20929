"""How fast texts are embedded, to estimate when a file is complete."""

from __future__ import annotations

import time

# Assumed before the first texts are embedded. As this counts like measured texts, the slow first call of a model
# changes the estimates only a little.
_FIRST_TOKENS, _FIRST_SECONDS = 10_000, 2.0
# At this number of tokens, older measurements begin to count less.
_REMEMBERED_TOKENS = 50_000


class EmbeddingPace:
    """The mean duration of embedding per token, as the embedding stage measures it."""

    def __init__(self) -> None:
        self._tokens, self._seconds = float(_FIRST_TOKENS), _FIRST_SECONDS

    def record(self, tokens: int, seconds: float) -> None:
        """Record how long it took to embed a number of tokens."""
        self._tokens += tokens
        self._seconds += seconds
        if self._tokens > _REMEMBERED_TOKENS:
            self._tokens, self._seconds = self._tokens / 2, self._seconds / 2

    def estimate_end(self, tokens: float, *, after_s: float = 0.0) -> float:
        """Return when ``tokens`` tokens will be embedded if embedding starts in ``after_s`` seconds.

        The time is in seconds since the epoch.
        """
        return time.time() + after_s + tokens * self._seconds / self._tokens
