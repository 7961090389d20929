"""Count questions and requests, and how long they take, since the process started."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Generator
from contextlib import closing

from rag_core.runtime.stores import Stores
from rag_core.runtime.tracing import trace_question
from rag_core.types.answers import Answer, AnswerState, AskEvent

# Upper limits in seconds of the buckets of a histogram. A further bucket has no limit.
LIMITS_S = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)


class Durations:
    """Histograms of durations by labels, such as the method and the path of a request. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._buckets: dict[tuple[str, ...], list[int]] = {}
        self._seconds: Counter[tuple[str, ...]] = Counter()

    def add(self, seconds: float, *labels: str) -> None:
        """Count a duration under its labels."""
        with self._lock:
            self._buckets.setdefault(labels, [0] * (len(LIMITS_S) + 1))[bisect_left(LIMITS_S, seconds)] += 1
            self._seconds[labels] += seconds  # type: ignore[assignment] # a Counter adds any numbers

    def list(self) -> dict[tuple[str, ...], tuple[tuple[int, ...], float]]:
        """Return, for each combination of labels, the numbers of durations by bucket, and their sum in seconds."""
        with self._lock:
            return {labels: (tuple(counts), self._seconds[labels]) for labels, counts in self._buckets.items()}


class Activity:
    """The numbers for monitoring: questions since the process started, documents and jobs.

    Attributes
    ----------
    questions : Durations
        Durations of questions by outcome: answered, refused, failed, or stopped by the user.
    """

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self.questions = Durations()

    def observe_question(self, events: Generator[AskEvent, None, None]) -> Generator[AskEvent, None, None]:
        """Yield the events of an answer, and count the duration of the question by its outcome."""
        started, outcome = time.perf_counter(), "stopped"
        try:
            with closing(trace_question(events)) as traced:
                for event in traced:
                    if isinstance(event, Answer):
                        outcome = "refused" if event.state is AnswerState.ABSTAINED else "answered"
                    yield event
        except Exception:
            outcome = "failed"
            raise
        finally:
            self.questions.add(time.perf_counter() - started, outcome)

    def count_documents(self) -> dict[str, int]:
        """Return the numbers of all documents, of searchable documents, and of the pages and chunks of the latter."""
        return self._stores.documents.counts()

    def count_jobs(self) -> dict[str, int]:
        """Return the number of stored jobs by state. Old ended jobs are not stored."""
        return self._stores.jobs.count_states()
