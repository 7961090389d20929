"""What models think aloud before they answer."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing

from rag_core.types import AskEvent, Delta, Restart

_THOUGHT = "What the model thought before it answered was left out."
_NAMES = ("think", "thinking", "thought", "thoughts", "reasoning", "seed:think")
_BLOCKS = (*((f"<{name}>", f"</{name}>") for name in _NAMES), ("[THINK]", "[/THINK]"))


def strip_reasoning(pieces: Generator[str, None, None]) -> Generator[str, None, None]:
    """Leave out a block of thought at the start, as ``<think>``, which some servers send as part of the text."""
    held = start = ""
    end: str | None = None
    with closing(pieces):
        for piece in pieces:
            held += piece
            start = held.lstrip()
            end = end or next((closed for begun, closed in _BLOCKS if start.startswith(begun)), None)
            if end:
                start = start.partition(end)[2].lstrip()
            elif any(begun.startswith(start) for begun, _ in _BLOCKS):
                continue
            if start:
                yield start
                yield from pieces
                return
    # The answer ended where it could still have become a block: a lone "<" is all the text there is.
    if start and not end:
        yield start.rstrip()


def text_after_reasoning(text: str) -> str:
    """A whole text without thought whose end alone is marked: its beginning stands in the prompt of some models."""
    for begun, closed in _BLOCKS:
        if closed in text and begun not in text.partition(closed)[0]:
            return text.rpartition(closed)[2].lstrip()
    return text


def retract_reasoning(pieces: Iterable[str]) -> Generator[AskEvent, None, str]:
    """What was written, `text_after_reasoning`; what was shown of the thought is taken back."""
    written = "".join(pieces)
    text = text_after_reasoning(written)
    if text != written:
        yield Restart(_THOUGHT)
        yield Delta(text)
    return text
