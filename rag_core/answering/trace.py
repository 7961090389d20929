"""Record timings, notices, steps and usage while an answer is written."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from rag_core.types.retrieval import Timer
from rag_core.types.usage import Usage


@dataclass(slots=True)
class AnswerTrace:
    """Timings, notices, steps and usage of an answer.

    Attributes
    ----------
    started : float
        Value of `time.perf_counter` at the start, in seconds.
    timer : Timer
        The milliseconds of each stage.
    notices : list of str
        Messages for the user, for example about a failed endpoint.
    steps : list of str
        The steps of a strategy, in words.
    usage : Usage
        The sum over all calls to a language model.
    is_verifier_lost : bool
        Whether the verifier failed in a way that a further call would repeat, so that it is not called again.
    """

    started: float = field(default_factory=time.perf_counter)
    timer: Timer = field(default_factory=Timer)
    notices: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    is_verifier_lost: bool = False

    @property
    def elapsed_ms(self) -> float:
        """Milliseconds since the start."""
        return 1000 * (time.perf_counter() - self.started)

    def record_first_token(self) -> None:
        """Record the time until the first text of the answer; later calls have no effect."""
        self.timer.ms.setdefault("generate_first_token", self.elapsed_ms)
