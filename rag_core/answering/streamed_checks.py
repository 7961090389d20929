"""Check the statements of an answer while a model writes it."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from rag_core.answering.generated_answers import compare_with
from rag_core.llm.page_prompt import ControlLineFilter
from rag_core.types.answers import AskEvent, Claim, Delta, Marked
from rag_core.types.protocols import TextEncoder
from rag_core.types.retrieval import Passage
from rag_core.verification.attribution import SourceComparison

# The end of a statement: its last sign, quotation marks and markers, and the beginning of the next statement.
_END = re.compile(r"(?:[.!?…:;][\"'”»)*_]*(?:\s*\[\d+\])*\s+[^\s\[]|\n)")


class StreamedChecks:
    """Compares the statements of a text with its sources while the text is written, in a background thread.

    Parameters
    ----------
    question : str
    encode : TextEncoder
        Returns the token vectors of a text.
    """

    def __init__(self, question: str, encode: TextEncoder) -> None:
        self._question = question
        self._encode = encode
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="streamed checks")
        self._comparison: Future[SourceComparison] | None = None
        self._running: Future[tuple[list[Claim], int]] | None = None
        self._text = ""
        # Offsets in the text: of the first statement that is not compared yet, and where to look for its end.
        self._compared = self._searched = 0

    def compare_with(self, sources: Sequence[Passage]) -> None:
        """Set the sources with which the next statements are compared."""
        self._comparison = self._thread.submit(compare_with, sources, self._question, self._encode)

    def restart(self) -> None:
        """Discard the text so far."""
        self._text, self._running = "", None
        self._compared = self._searched = 0

    def finish(self) -> SourceComparison:
        """Wait for the thread, and return the comparison with the last sources."""
        comparison = self._comparison
        self._thread.shutdown()
        if comparison is None:
            raise RuntimeError("There are no sources to compare a text with")
        return comparison.result()

    def add_marks(
        self, events: Generator[AskEvent, None, str], visible: ControlLineFilter
    ) -> Generator[AskEvent, None, str]:
        """Yield the events of a reply, and between them the marks of statements; return the result of ``events``.

        ``visible`` is the filter of the reply. It shows whether the text is a refusal, which is not compared.
        """
        while True:
            try:
                event = next(events)
            except StopIteration as end:
                return str(end.value)
            yield event
            if isinstance(event, Delta) and not visible.refuses:
                self._text += event.text
                yield from map(Marked, self._compare())

    def _compare(self) -> list[Claim]:
        """Start to compare the statements that are complete now; return the marks of the previous comparison."""
        found: list[Claim] = []
        if self._running is not None:
            if not self._running.done():
                return []
            found, self._compared = self._running.result()
            self._running = None
        if self._comparison is not None and _END.search(self._text, self._searched):
            self._running = self._thread.submit(_mark, self._comparison, self._text, self._compared)
            self._searched = max(0, len(self._text) - 1)
        return found


def _mark(comparison: Future[SourceComparison], text: str, start: int) -> tuple[list[Claim], int]:
    return comparison.result().mark_complete_claims(text, start)
