"""Estimate when a file is embedded, from the time that earlier texts took."""

from __future__ import annotations

import time

# An assumed first measurement, so that the first call of a model, which is slow, hardly changes the estimates.
_FIRST_TOKENS, _FIRST_SECONDS = 10_000, 2.0
# When more tokens than this were measured, all measurements so far are halved, so that new measurements count more.
_MAX_TOKENS = 50_000


class EmbeddingPace:
    """The mean time that the embedding of a token takes."""

    def __init__(self) -> None:
        self._tokens, self._seconds = float(_FIRST_TOKENS), _FIRST_SECONDS

    def record(self, tokens: int, seconds: float) -> None:
        """Record how long it took to embed a number of tokens."""
        self._tokens += tokens
        self._seconds += seconds
        if self._tokens > _MAX_TOKENS:
            self._tokens, self._seconds = self._tokens / 2, self._seconds / 2

    def estimate_end(self, tokens: float, *, after_s: float = 0.0) -> float:
        """Return when ``tokens`` tokens will be embedded, in seconds since the epoch.

        Embedding starts in ``after_s`` seconds.
        """
        return time.time() + after_s + tokens * self._seconds / self._tokens
