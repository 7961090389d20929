"""Stream the reply of a model: pieces of text, and the pauses between them."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing

from rag_core.llm.request import RequestReport
from rag_core.llm.tool_calls import ToolCall
from rag_core.types.answers import Delta, Stage
from rag_core.types.usage import Usage

# A piece of a reply's text; ``None`` if the model reasons, or if nothing arrived for a moment.
Piece = str | None
Pieces = Generator[Piece, None, None]
THINKING = "The model is thinking"
WAITING = "Waiting until the endpoint accepts the request"
# Seconds without a piece after which a pause is reported, so that a user can stop the reply.
PAUSE_S = 0.5
# Seconds without text after which the label of the stage is `THINKING`, even if the endpoint reports no reasoning.
_SILENT_S = 3.0
# Longest wait in seconds for the end of a thread whose connection was closed.
_END_S = 1.0


class AnswerStream(Iterator[str]):
    """Iterator over the pieces of one answer.

    Parameters
    ----------
    pieces : Callable[[AnswerStream], Pieces]
        Returns a generator of the pieces, which sets the attributes of the stream.

    Attributes
    ----------
    notices : tuple[str, ...]
        Messages for the user, for example about passages that do not fit. They are complete when the iterator is
        exhausted.
    cut : str
        Why the text is incomplete although the endpoint did not fail, for example because of the token limit; also one
        of the ``notices``. Empty if the text is complete.
    usage : Usage
        The usage so far; it remains available after an error or `close`.
    calls : tuple of ToolCall
        The calls of tools in the reply, complete when the iterator is exhausted.
    is_waiting : bool
        Whether the stream pauses before it repeats a failed request.
    is_reasoning : bool
        Whether the model has reasoned since its last piece of text.
    reports_pauses : bool
        Whether the generator of the pieces yields ``None`` while nothing arrives, as `events` requires. Iteration
        over the stream skips ``None``.
    """

    def __init__(self, pieces: Callable[[AnswerStream], Pieces]) -> None:
        self.notices: tuple[str, ...] = ()
        self.cut = ""
        self.usage = Usage()
        self.calls: tuple[ToolCall, ...] = ()
        self.is_waiting = False
        self.is_reasoning = False
        self.reports_pauses = False
        self._pieces = pieces(self)

    def __next__(self) -> str:
        while (piece := next(self._pieces)) is None:
            pass
        return piece

    def events(self, label: str) -> Generator[Stage | Delta, None, None]:
        """Yield a `Delta` for each piece and, about twice a second in each pause, the stage ``generate``.

        The consumer can stop the reply at each event. The label of the stage is

        - `WAITING` before a repeated request,
        - `THINKING` while the model reasons or has sent no text for `_SILENT_S` seconds,
        - ``label`` otherwise, and once more when text follows one of the other labels.
        """
        self.reports_pauses = True
        last, shown = time.monotonic(), label
        for piece in self._pieces:
            if piece is None:
                is_thinking = self.is_reasoning or time.monotonic() - last > _SILENT_S
                shown = WAITING if self.is_waiting else THINKING if is_thinking else label
                yield Stage("generate", shown)
                continue
            if shown != label:
                shown = label
                yield Stage("generate", label)
            last = time.monotonic()
            yield Delta(piece)

    def pause_before_retry(self, seconds: float, sleep: Callable[[float], None]) -> Pieces:
        """Sleep before the next request; yield ``None`` once, or every `PAUSE_S` seconds if pauses are reported."""
        self.is_waiting = True
        part = PAUSE_S if self.reports_pauses else seconds
        while seconds > 0:
            yield None
            sleep(min(part, seconds))
            seconds -= part
        self.is_waiting = False

    def close(self) -> None:
        """Close the connection; servers then stop generating."""
        self._pieces.close()


def read_in_background(pieces: Pieces, report: RequestReport) -> Pieces:
    """Read a stream in a thread; yield its pieces, and ``None`` after every `PAUSE_S` seconds without a piece.

    Closing the iterator also closes the connection, with ``report.disconnect``, so that the thread ends.
    """
    arrived: queue.SimpleQueue[Piece | BaseException | _End] = queue.SimpleQueue()
    is_closed = threading.Event()

    def read() -> None:
        try:
            with closing(pieces):
                for piece in pieces:
                    arrived.put(piece)
                    if is_closed.is_set():
                        return
            arrived.put(_End())
        except BaseException as error:  # noqa: BLE001 - the consumer raises it
            arrived.put(error)

    thread = threading.Thread(target=read, name="reply", daemon=True)
    thread.start()
    try:
        while not isinstance(item := _receive(arrived), _End):
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        is_closed.set()
        if thread.is_alive():
            report.disconnect()
            thread.join(_END_S)


class _End:
    """Marks the end of a stream in its queue."""


def _receive(arrived: queue.SimpleQueue[Piece | BaseException | _End]) -> Piece | BaseException | _End:
    try:
        return arrived.get(timeout=PAUSE_S)
    except queue.Empty:
        return None
