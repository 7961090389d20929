"""Remove the reasoning that models write before their answers."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing

from rag_core.types import AskEvent, Delta, Restart

_THOUGHT = "The model's reasoning before the answer was removed."
_NAMES = ("think", "thinking", "thought", "thoughts", "reasoning", "seed:think")
_BLOCKS = (*((f"<{name}>", f"</{name}>") for name in _NAMES), ("[THINK]", "[/THINK]"))


def strip_reasoning(pieces: Generator[str, None, None]) -> Generator[str, None, None]:
    """Yield the pieces without a reasoning block at the start, such as ``<think>``, which some servers send."""
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
    # The text ended while it was still a prefix of an opening tag, such as a single "<".
    if start and not end:
        yield start.rstrip()


def text_after_reasoning(text: str) -> str:
    """Return a text without reasoning that only has a closing tag, since some prompts contain the opening tag."""
    for begun, closed in _BLOCKS:
        if closed in text and begun not in text.partition(closed)[0]:
            return text.rpartition(closed)[2].lstrip()
    return text


def retract_reasoning(pieces: Iterable[str]) -> Generator[AskEvent, None, str]:
    """Return the text after the reasoning; if reasoning was already shown, yield events that replace it."""
    written = "".join(pieces)
    text = text_after_reasoning(written)
    if text != written:
        yield Restart(_THOUGHT)
        yield Delta(text)
    return text
