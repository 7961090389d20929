"""Remove the reasoning that models write before their answers."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing

from rag_core.llm.answer_stream import Pieces
from rag_core.types.answers import AskEvent, Delta, Restart

REASONING_REMOVED = "The model's reasoning before the answer was removed."
_NAMES = ("think", "thinking", "thought", "thoughts", "reasoning", "seed:think")
_BLOCKS = (*((f"<{name}>", f"</{name}>") for name in _NAMES), ("[THINK]", "[/THINK]"))


def strip_reasoning(pieces: Pieces) -> Pieces:
    """Yield the pieces of a reply without the reasoning block, such as ``<think>…</think>``, at its start.

    ``None`` is yielded for each piece that may belong to the block.
    """
    buffer = start = ""
    end: str | None = None
    with closing(pieces):
        for piece in pieces:
            if piece is None:
                yield None
                continue
            buffer += piece
            start = buffer.lstrip()
            end = end or next((closing_tag for opening, closing_tag in _BLOCKS if start.startswith(opening)), None)
            may_open = not end and any(opening.startswith(start) for opening, _ in _BLOCKS)
            if end:
                start = start.partition(end)[2].lstrip()
            if start and not may_open:
                yield start
                yield from pieces
                return
            yield None
    # The whole text is only the beginning of an opening tag, such as a single "<", so the text is not reasoning.
    if start and not end:
        yield start.rstrip()


def strip_unopened_reasoning(text: str) -> str:
    """Return the text after reasoning that has a closing tag but no opening tag; the whole text if there is none.

    The opening tag is missing if the server already puts it into the prompt.
    """
    for opening, closing_tag in _BLOCKS:
        if closing_tag in text and opening not in text.partition(closing_tag)[0]:
            return text.rpartition(closing_tag)[2].lstrip()
    return text


def retract_reasoning(pieces: Iterable[str]) -> Generator[AskEvent, None, str]:
    """Return the joined pieces without reasoning, as `strip_unopened_reasoning` does.

    The pieces have already been shown. If they contain reasoning, yield events that replace the shown text.
    """
    written = "".join(pieces)
    text = strip_unopened_reasoning(written)
    if text != written:
        yield Restart(REASONING_REMOVED)
        yield Delta(text)
    return text
