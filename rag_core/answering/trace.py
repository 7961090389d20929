"""Record timings, notices, steps and usage while an answer is written."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from rag_core.types.retrieval import Timer
from rag_core.types.usage import Usage

# Number of failed calls in a row after which the verifier is not called again.
MAX_VERIFIER_FAILURES = 2


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
        What was done for the answer, in words, such as searches and calls of the verifier.
    usage : Usage
        The sum over all calls to a language model.
    is_model_lost : bool
        Whether the language model failed while it wrote the answer, so that it is not asked to verify it.
    verifier_failures : int
        Number of calls of the verifier that failed in a row, or `MAX_VERIFIER_FAILURES` after a lasting failure.
    """

    started: float = field(default_factory=time.perf_counter)
    timer: Timer = field(default_factory=Timer)
    notices: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    is_model_lost: bool = False
    verifier_failures: int = 0

    @property
    def is_verifier_lost(self) -> bool:
        """Whether the verifier is not called again."""
        return self.verifier_failures >= MAX_VERIFIER_FAILURES

    @property
    def elapsed_ms(self) -> float:
        """Milliseconds since the start."""
        return 1000 * (time.perf_counter() - self.started)

    def record_first_token(self) -> None:
        """Record the time until the first text of the answer; later calls have no effect."""
        self.timer.ms.setdefault("generate_first_token", self.elapsed_ms)
