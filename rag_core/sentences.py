"""Where sentences and table rows begin and end: used to cut chunks and to quote answers."""

from __future__ import annotations

import re

_LINE = re.compile(r"[^\n]+")
# A run longer than this with line ends in it is a table or a list, not a sentence.
LONGEST_SENTENCE_CHARS = 600
# Two or more figures in short lines are how a row of a table looks once it is text.
_FIGURE = re.compile(r"\d[\d.,]*")
# sentencex 1.0 panics at blanks outside ASCII, such as the no-break space that models and PDFs are
# full of, and refuses half surrogate pairs; a panic is no Exception and would end the thread.
_UNSAFE = re.compile(r"(?![\x00-\x7f])\s|[\ud800-\udfff]")


def sentence_spans(text: str, language: str = "en") -> list[tuple[int, int]]:
    """Spans of sentences, and of lines where there are none, trimmed of white space, in order.

    Every character that is not white space lies in exactly one span. Sentence ends come from
    sentencex; a run that has no sentence end for long, as a table has none, is cut into its lines.
    """
    import sentencex

    spans: list[tuple[int, int]] = []
    for boundary in sentencex.get_sentence_boundaries(language, _UNSAFE.sub(_plain, text)):
        start, end = boundary["start_index"], boundary["end_index"]
        if _is_tabular(text[start:end]):
            spans += [(start + m.start(), start + m.end()) for m in _LINE.finditer(text[start:end])]
        else:
            spans.append((start, end))
    trimmed = (_trim(text, start, end) for start, end in spans)
    return [(start, end) for start, end in trimmed if start < end]


def _plain(blank: re.Match[str]) -> str:
    return "\n" if blank[0] in "\x85\u2028\u2029" else " "


def _is_tabular(run: str) -> bool:
    lines = run.strip().split("\n")
    if len(lines) < 2:
        return False
    if len(run) > LONGEST_SENTENCE_CHARS:
        return True
    rows = sum(len(_FIGURE.findall(line)) >= 2 and len(line) < 90 for line in lines)
    return rows >= 2 and rows * 2 >= len(lines)


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
