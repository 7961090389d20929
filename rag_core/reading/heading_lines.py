"""Detection of headings and titles in a passage, which announce a topic and answer nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_core.reading.answer_types import Kind, find_new_numbers, is_date_part
from rag_core.reading.clauses import count_items, is_item
from rag_core.text.tables import is_table_row, is_year_header

_FINAL_MARK = re.compile(r"[.!?:;。！？]$")
_NUMBERED = re.compile(r"\d{1,2}[.)]\s")
# A section number, with or without a full stop.
_SECTION = re.compile(r"(\d{1,2}(?:\.\d{1,2})*|[A-Z](?:\.\d{1,2})+)\.?\s+(?=[^\W\d_])")
# The reference number of a document, as in "Invoice No. 8841".
_REFERENCE = re.compile(r"\b(?:No|Nr|Ref)\b\.?:?\s?[\w/-]*\d[\w/-]*|№\s?\d+", re.IGNORECASE)
MAX_HEADING_WORDS = 8
# A title may be longer than a heading and have several lines.
MAX_TITLE_WORDS = 25
MAX_TITLE_LINES = 3


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence or line of a passage, with its position.

    Attributes
    ----------
    text : str
    before, after : str
        Adjacent lines in the passage; empty if there are none.
    alone : bool
        Whether the line is a whole paragraph.
    first : bool
        Whether the line is the first of its page.
    announced : bool
        Whether the sentence before the line introduces the line.
    """

    text: str
    before: str
    after: str
    alone: bool
    first: bool
    announced: bool


def is_heading(line: Line, path: str, question: str, kind: Kind | None) -> bool:
    """Return whether a line is a heading, a title or the header of a table.

    A heading is a short line without a figure or final punctuation. The first line of a page may be a title with a
    date, unless the question asks for a date. Announced lines and most list items are not headings, because an
    answer such as a command may be as short as a heading.

    Parameters
    ----------
    line : Line
    path : str
        Headings above the passage.
    question : str
    kind : Kind or None
        Kind of answer that the question asks for.
    """
    words = " ".join(line.text.split())
    section = _SECTION.match(words)
    if words and path.casefold().endswith((words.casefold(), words[section.end() if section else 0 :].casefold())):
        return True
    if is_year_header(words) and is_table_row(line.after) and not is_year_header(line.after):
        return True
    if line.announced or _FINAL_MARK.search(words):
        return False
    short = words.count(" ") < MAX_HEADING_WORDS
    if section and short and line.alone and _is_section_heading(section[1], line.after):
        # If the question asks for a number, a paragraph such as "3.5 million users" may be the answer.
        return kind not in (Kind.NUMBER, Kind.PERCENT)
    if is_item(words):
        return (
            short and line.alone and _is_numbered(words) and not (_is_numbered(line.before) or _is_numbered(line.after))
        )
    has_figure = bool(re.search(r"\d", words))
    if not has_figure and (short or is_table_row(line.after)):
        return True
    is_title = (
        line.first
        and line.after
        and not count_items(line.text)
        and words.count(" ") < MAX_TITLE_WORDS
        and line.text.count("\n") < MAX_TITLE_LINES
    )
    above_prose = short and len(line.after.split()) > MAX_HEADING_WORDS and bool(_FINAL_MARK.search(line.after))
    return (
        line.alone and bool(is_title or (above_prose and has_figure)) and _has_only_known_figures(words, question, kind)
    )


def _is_section_heading(number: str, after: str) -> bool:
    """Return whether a line with this section number is followed by a subsection or by the text of a section."""
    return after.startswith(f"{number}.") or ("." in number and len(after.split()) > MAX_HEADING_WORDS)


def _is_numbered(text: str) -> bool:
    """Return whether a line begins with a number and is not a sentence, as headings and some list items are."""
    return bool(_NUMBERED.match(text)) and not _FINAL_MARK.search(text.rstrip())


def _has_only_known_figures(words: str, question: str, kind: Kind | None) -> bool:
    """Return whether a title has no figure that may be the answer.

    Figures of the question cannot be the answer. Neither can dates or reference numbers, unless the question asks for a
    date or a number.
    """
    if kind is not Kind.NUMBER:
        words = _REFERENCE.sub("", words)
    numbers = find_new_numbers(words, question)
    return not numbers if kind is Kind.DATE else all(is_date_part(number, words) for number in numbers)
