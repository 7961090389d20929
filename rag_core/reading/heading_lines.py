"""Which lines of a passage say what follows is about, and answer nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_core.reading.answer_types import Kind, dated, unasked
from rag_core.reading.clauses import is_item, items
from rag_core.text.tables import is_row, is_year_header

_END = re.compile(r"[.!?:;。！？]$")
_NUMBERED = re.compile(r"\d{1,2}[.)]\s")
# The number of a section, with or without a point behind it.
_SECTION = re.compile(r"(\d{1,2}(?:\.\d{1,2})*|[A-Z](?:\.\d{1,2})+)\.?\s+(?=[^\W\d_])")
# "Invoice No. 8841": what a document is called by.
_REFERENCE = re.compile(r"\b(?:No|Nr|Ref)\b\.?:?\s?[\w/-]*\d[\w/-]*|№\s?\d+", re.IGNORECASE)
MOST_WORDS = 8
# A title may be longer, and stand on several lines.
MOST_TITLE_WORDS = 25
MOST_TITLE_LINES = 3


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence or line of a passage, and where it stands.

    Attributes
    ----------
    text : str
    before, after : str
        Its neighbours in the passage, empty where there are none.
    alone : bool
        Whether nothing else stands in its paragraph.
    first : bool
        Whether it is the first of its page.
    announced : bool
        Whether the sentence before has announced it.
    """

    text: str
    before: str
    after: str
    alone: bool
    first: bool
    announced: bool


def is_heading(line: Line, path: str, question: str, kind: Kind | None) -> bool:
    """Whether a line is a heading, a title or the head of a table's columns.

    A few words without a figure or an end say what follows is about; so does the first line of a page
    with a date, unless that is asked for. What a sentence has announced and an item of a list are none:
    a command may be as short.

    Parameters
    ----------
    line : Line
    path : str
        The headings that the passage stands below.
    question : str
    kind : Kind or None
        Of the answer that it asks for.
    """
    words = " ".join(line.text.split())
    section = _SECTION.match(words)
    if words and path.casefold().endswith((words.casefold(), words[section.end() if section else 0 :].casefold())):
        return True
    if is_year_header(words) and is_row(line.after) and not is_year_header(line.after):
        return True
    if line.announced or _END.search(words):
        return False
    short = words.count(" ") < MOST_WORDS
    if section and short and line.alone and _heads(section[1], line.after):
        # "3.5 million users" alone in its paragraph may be what is asked for.
        return kind not in (Kind.NUMBER, Kind.PERCENT)
    if is_item(words):
        return (
            short and line.alone and _is_numbered(words) and not (_is_numbered(line.before) or _is_numbered(line.after))
        )
    has_figure = bool(re.search(r"\d", words))
    if not has_figure and (short or is_row(line.after)):
        return True
    is_title = (
        line.first
        and line.after
        and not items(line.text)
        and words.count(" ") < MOST_TITLE_WORDS
        and line.text.count("\n") < MOST_TITLE_LINES
    )
    above_prose = short and len(line.after.split()) > MOST_WORDS and bool(_END.search(line.after))
    return line.alone and bool(is_title or (above_prose and has_figure)) and _only_names(words, question, kind)


def _heads(number: str, after: str) -> bool:
    """Whether a line with such a number stands above the text of a section, or above the first of its own."""
    return after.startswith(f"{number}.") or ("." in number and len(after.split()) > MOST_WORDS)


def _is_numbered(text: str) -> bool:
    """Whether a line is numbered and no sentence, as headings and the items of some lists are."""
    return bool(_NUMBERED.match(text)) and not _END.search(text.rstrip())


def _only_names(words: str, question: str, kind: Kind | None) -> bool:
    """Whether the figures of a title answer nothing: they date or number it, or stand in the question."""
    if kind is not Kind.NUMBER:
        words = _REFERENCE.sub("", words)
    told = unasked(words, question)
    return not told if kind is Kind.DATE else all(dated(number, words) for number in told)
