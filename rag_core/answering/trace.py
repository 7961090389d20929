"""What the making of an answer leaves beside its text."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from rag_core.types import Usage
from rag_core.types.retrieval import Timer


@dataclass(slots=True)
class AnswerTrace:
    """Timings, notices, steps and usage, collected while an answer is made.

    Attributes
    ----------
    started : float
        Of `time.perf_counter`.
    timer : Timer
    notices : list of str
        What was degraded or has to be said, in words.
    steps : list of str
        What a strategy did, in words.
    usage : Usage
        Of all calls to a language model.
    """

    started: float = field(default_factory=time.perf_counter)
    timer: Timer = field(default_factory=Timer)
    notices: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)

    @property
    def elapsed_ms(self) -> float:
        """Milliseconds since it was started."""
        return 1000 * (time.perf_counter() - self.started)

    def record_first_token(self) -> None:
        """Record when the first text of the answer came; later calls do nothing."""
        self.timer.ms.setdefault("generate_first_token", self.elapsed_ms)
