"""Find the page numbers that are printed in headers or footers of files without page labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_core.parsing.layout.headers_footers import EdgeLine, find_edges
from rag_core.text.words import LETTERS

# Number of lines at each page edge that may contain the page number.
_LINES = 2
# At least this many pages, and this share of all pages, have printed page numbers.
_MIN_PAGES = 3
_MIN_SHARE = 0.5
# A line with more words, or with such an end, is text and not a header.
_MAX_WORDS = 10
_SENTENCE_ENDS = (".", "!", "?", ":", ";", ",")
# A line that is only a page number, possibly with the number of pages or in ornaments: "Page 12 of 40", "p. 7/19",
# "~ 203 ~", "A-4".
_ORNAMENTS = r"[\s\-–—|\[\]()~*•·.:]*"
_PAGE_NUMBER = re.compile(
    rf"{_ORNAMENTS}(?:(?:pages?|p|pp|pg|seite|s|pagina|página|pág|page n°|side|sida|strona|str)\b{_ORNAMENTS})?"
    rf"(?P<prefix>[a-z]{{1,2}}-)?(?P<number>\d{{1,4}}){_ORNAMENTS}(?:(?:of|/|von|sur|de|di|van|av|z)\s*\d{{1,4}}{_ORNAMENTS})?",
    re.IGNORECASE,
)
# Words after which a number is not a page number, as in "Table 7".
_COUNTED_THINGS = frozenset(
    "accounts appendix article case chapter exhibit figure file form invoice issue item kapitel lot no note number nr "
    "nummer of order part paragraph rechnung section step table teil version vol volume year".split()
)
# Numbers that are more often years, which may rise from page to page.
_YEARS = range(1900, 2100)
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50}


@dataclass(frozen=True, slots=True)
class _PrintedNumber:
    """A number at a page edge.

    Attributes
    ----------
    value : int
    label : str
        The number as printed.
    kind : str
        "roman", or the prefix, such as "a-"; empty for a plain number.
    is_alone : bool
        Whether the line contains nothing else.
    """

    value: int
    label: str
    kind: str = ""
    is_alone: bool = False


def find_printed_numbers(texts: Sequence[str]) -> list[str] | None:
    """Return the label of each page if the pages have consecutive printed numbers, else ``None``.

    A number counts if at least three pages have numbers of the same sequence. If most pages have a number alone in a
    line, numbers beside words do not count, because headings may be numbered, as in "Unit 200", "Unit 201". If two
    sequences beside words fit equally many pages, neither counts.

    A page without a number, such as the first page of a chapter, gets the number that its neighbours imply. Any other
    page gets its position in the file, as in ``PDF 3``, because another page may have the plain number.

    Parameters
    ----------
    texts : sequence of str
        Text of each page, in order.
    """
    candidates = [list(_find_candidates(index, text)) for index, text in enumerate(texts)]
    enough = max(_MIN_PAGES, _MIN_SHARE * len(texts))
    numbers = _select_numbers([[number for number in page if number.is_alone] for page in candidates])
    if sum(number is not None for number in numbers) < enough:
        numbers = _select_numbers(candidates)
    found = [number for number in numbers if number is not None]
    if len(found) < enough:
        return None
    offsets = [number.value - index if number and not number.kind else None for index, number in enumerate(numbers)]
    labels = [number.label if number else _imply_label(offsets, index) for index, number in enumerate(numbers)]
    printed = {number.label for number in found}
    return [
        label if label and (numbers[index] or label not in printed) else f"PDF {index + 1}"
        for index, label in enumerate(labels)
    ]


def _find_candidates(page_index: int, text: str) -> Iterator[_PrintedNumber]:
    """Yield the numbers in the first and last lines of a page that may be its page number."""
    edges = find_edges(page_index, text)
    for line in (*edges.top[:_LINES], *edges.bottom[:_LINES]):
        written = text[line.start : line.end].strip()
        if match := _PAGE_NUMBER.fullmatch(written):
            prefix = match["prefix"] or ""
            yield _PrintedNumber(int(match["number"]), f"{prefix}{match['number']}", prefix, is_alone=True)
        elif line.is_candidate:
            yield from _read_numbers(line)


def _read_numbers(line: EdgeLine) -> Iterator[_PrintedNumber]:
    """Yield the Roman number of a line, or the numbers at its start and end."""
    words = line.literal.strip(" -–—|[]()").split()
    letters = LETTERS.findall(line.literal) if line.is_roman else []
    roman = next((word for word in letters if set(word) <= _ROMAN_VALUES.keys()), "")
    if roman:
        yield _PrintedNumber(_parse_roman(roman), roman, "roman", is_alone=len(letters) == 1)
    elif words and len(words) <= _MAX_WORDS and not line.literal.endswith(_SENTENCE_ENDS):
        counts_thing = len(words) > 1 and words[-2].strip(".#:") in _COUNTED_THINGS
        ends = dict.fromkeys(word.strip("-–—|[]().") for word in (words[0], *([] if counts_thing else [words[-1]])))
        yield from (_PrintedNumber(int(word), word) for word in ends if word.isdecimal() and len(word) < 5)


def _select_numbers(candidates: Sequence[Sequence[_PrintedNumber]]) -> list[_PrintedNumber | None]:
    """Return for each page the candidate whose sequence has the most pages; see `_select_number`."""
    pages = Counter(
        sequence
        for index, page in enumerate(candidates)
        for sequence in {_identify_sequence(number, index) for number in page}
    )
    return [_select_number(page, index, pages) for index, page in enumerate(candidates)]


def _select_number(
    candidates: Sequence[_PrintedNumber], page_index: int, pages: Mapping[tuple[str, int], int]
) -> _PrintedNumber | None:
    """Return the candidate whose sequence has the most pages; ``pages`` contains the number of pages of each sequence.

    If several sequences have the most pages, a number alone in its line is preferred. Return ``None`` if two sequences
    are still equal, if no sequence has enough pages, or if the number may be a year.
    """
    most = max((pages[_identify_sequence(number, page_index)] for number in candidates), default=0)
    best = [number for number in candidates if pages[_identify_sequence(number, page_index)] == most]
    best = [number for number in best if number.is_alone] or best
    is_clear = len({_identify_sequence(number, page_index) for number in best}) == 1 and best[0].value not in _YEARS
    return best[0] if most >= _MIN_PAGES and is_clear else None


def _identify_sequence(number: _PrintedNumber, page_index: int) -> tuple[str, int]:
    """Return a key that is the same for the numbers of consecutive pages."""
    return number.kind, number.value - page_index


def _imply_label(offsets: Sequence[int | None], index: int) -> str:
    """Return the number that the nearest numbered pages imply for a page without a number; empty if they differ."""
    before = next((offset for offset in reversed(offsets[:index]) if offset is not None), None)
    after = next((offset for offset in offsets[index + 1 :] if offset is not None), None)
    implied = {offset + index for offset in (before, after) if offset is not None}
    return str(implied.pop()) if len(implied) == 1 and min(implied) > 0 else ""


def _parse_roman(roman: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in roman]
    return sum(-value if value < max(values[place:]) else value for place, value in enumerate(values))
