"""Sentences of a text as offsets, by sentencex."""

from __future__ import annotations

import re

# A table or a list without full stops is one "sentence" to any splitter; as a quote it would be a page.
_LONGEST = 400
_UNSAFE = re.compile(r"(?![\x00-\x7f])\s|[\ud800-\udfff]")
_LINE = re.compile(r"[^\r\n\f]+")


def sentences(text: str, language: str = "en") -> list[tuple[int, int]]:
    """Spans of the sentences of a text, in order, not overlapping, without surrounding white space.

    Together they hold every character that is not white space. A sentence of more than 400
    characters is cut at its line breaks into pieces of at most that length where the lines allow.

    Parameters
    ----------
    text : str
    language : str
        ISO 639-1 code; sentencex falls back to a related language, then to English.

    Returns
    -------
    list[tuple[int, int]]
        ``(start, end)`` with ``end`` exclusive.
    """
    from sentencex import get_sentence_boundaries

    # sentencex 1.0 panics at blanks outside ASCII, such as the no-break space; lone surrogates it refuses.
    plain = _UNSAFE.sub(lambda match: "\n" if match[0] in "\x85\u2028\u2029" else " ", text)
    spans = []
    for boundary in get_sentence_boundaries(language, plain):
        start, end = _trimmed(text, boundary["start_index"], boundary["end_index"])
        if start < end:
            spans += _pieces(text, start, end) if end - start > _LONGEST else [(start, end)]
    return spans


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    pieces: list[tuple[int, int]] = []
    for line in _LINE.finditer(text, start, end):
        left, right = _trimmed(text, *line.span())
        if left == right:
            continue
        if pieces and right - pieces[-1][0] <= _LONGEST:
            pieces[-1] = (pieces[-1][0], right)
        else:
            pieces.append((left, right))
    return pieces
