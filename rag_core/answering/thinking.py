"""What models think aloud before they answer."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing

_THINK, _THOUGHT = "<think>", "</think>"


def without_thinking(pieces: Generator[str, None, None]) -> Generator[str, None, None]:
    """Leave out a ``<think>`` block at the start, which some servers send as part of the text."""
    held = ""
    with closing(pieces):
        for piece in pieces:
            held += piece
            start = held.lstrip()
            if start.startswith(_THINK):
                start = start.partition(_THOUGHT)[2].lstrip()
            elif _THINK.startswith(start):
                continue
            if start:
                yield start
                yield from pieces
                return
    # The answer ended where it could still have become a block: a lone "<" is all the text there is.
    if held.strip() and not held.lstrip().startswith(_THINK):
        yield held.strip()
