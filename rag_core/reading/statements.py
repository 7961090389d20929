"""Split text into statements: sentences, headings, and lines of lists and forms."""

from __future__ import annotations

import re

from rag_core.text.sentences import find_sentence_spans
from rag_core.text.words import find_content_stems, tokenize

# A line is complete if the next word would have fit into this share of the longest line near it.
FILLED_SHARE = 0.85
_BREAK, _BOX = re.compile(r"\n\s*"), re.compile("[☐☒]")
# The unit at the end of a label, as in "Fee in euros" and "Fee (EUR)".
_UNIT = re.compile(r"\s+in\s+\w+$|\s*\([^()]*\)$")
_LABELLED = re.compile(r"(?P<label>[^\W\d_][^\n:.!?\d]{0,40}): ?(?=\S)")


def split_statements(text: str) -> list[tuple[int, int]]:
    """Return the spans of sentences, without headings and lines that only a missing full stop joins to them.

    A sentence is split at an empty line, after a line with a tick box, between two lines with a label, and after a line
    into which the next word would have fit, unless the text continues in lower case.

    >>> text = "2 Rooms\\n\\nThe Alder room is open.\\nSurname: Berg\\nFirst name: Maren"
    >>> [text[start:end] for start, end in split_statements(text)]
    ['2 Rooms', 'The Alder room is open.', 'Surname: Berg', 'First name: Maren']
    """
    longest = max((len(line) for line in text.split("\n")), default=0)
    spans = []
    for start, end in find_sentence_spans(text):
        first = start
        for gap in _BREAK.finditer(text, start, end):
            if gap.end() < end and _is_end(text, gap, longest):
                spans.append((first, gap.start()))
                first = gap.end()
        spans.append((first, end))
    return spans


def read_label(statement: str) -> tuple[str, str]:
    """Return the label and the value of a line such as "Surname: Berg"; empty strings for another statement.

    A label with a number, such as "Section 2", is a heading.

    >>> read_label("Surname: Berg"), read_label("The rooms are open: Alder, Birch.")
    (('Surname', 'Berg'), ('', ''))
    """
    match = _LABELLED.match(statement)
    if match is None or statement.endswith((".", "!", "?")):
        return "", ""
    return match["label"], statement[match.end() :].strip()


def names_label(question: str, statement: str) -> bool:
    """Return whether a statement has a label all of whose words are in the question.

    A unit at the end of the label need not be. Words that the question capitalizes are names, and a name before a colon
    is no label of a value.
    """
    asked = {word.stem for word in tokenize(question) if word.content and word.text[0].islower()}
    label = _UNIT.sub("", read_label(statement)[0])
    named = find_content_stems(label)
    return bool(named) and named <= asked


def _is_end(text: str, gap: re.Match[str], longest: int) -> bool:
    """Return whether a statement ends at a line break."""
    if text[gap.end()].islower():
        return False
    if gap[0].count("\n") > 1:
        return True
    begin = text.rfind("\n", 0, gap.start()) + 1
    if _BOX.search(text, begin, gap.start()):
        return True
    if _LABELLED.match(text, begin, gap.start()) and _LABELLED.match(text, gap.end()):
        return True
    if not begin:
        # The text may begin in the middle of a line.
        return False
    line = text[begin : gap.start()]
    following = text[gap.end() :].split(maxsplit=1)[0]
    return len(line) + 1 + len(following) < FILLED_SHARE * longest
