"""Detection of names and numbers in a statement that replace a different name or number of the source.

A name may be wrong although the source contains it, for example if a sentence is about two kings and the statement
names the wrong one. Such a substitution is detected by position: in the source, a different name is between the same
words.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise, product

from rapidfuzz.distance import Indel, Opcode

from rag_core.text.annotated import AnnotatedText
from rag_core.text.contradictions import contains_expansion, contains_name_word
from rag_core.text.dates import YEAR
from rag_core.text.numbers import Number, numbers_equal
from rag_core.text.tables import YEARS
from rag_core.text.words import Word

# Most words in a run of differing words. A longer run is a different clause, not a substitution.
_MAX_SLOT_WORDS = 5
_ANCHOR_WORDS = 2
_MAX_ASIDE_WORDS = 12
_EVERY_SCALE = frozenset({3, 6, 9})
# The words between a figure and its year, and the year.
_OF_YEAR = re.compile(
    r"\s*(?:\(|(?:in|for|during|at the end of|by the end of|as of)\s+)"
    rf"(?:the\s+)?(?:fiscal\s+|financial\s+)?(?:year\s+)?({YEAR})\b"
)
# Titles and professions. "President" in "President Lincoln" does not replace the first name in "Abraham Lincoln".
_TITLES = frozenset(
    "author captain ceo cfo chair chairman chairwoman chief coo cto dame director dr founder general governor judge "
    "justice king lady lord major mayor minister miss mr mrs ms pope president prince princess prof professor queen "
    "saint senator sir st".split()
)
# A block of words that both texts contain: its start and end as word indexes of the statement, whether it is the
# beginning of both texts, and whether it is the end of both texts.
_Block = tuple[int, int, bool, bool]
# Figures, each with its year, or with an empty string if the text gives no year for the figure.
_DatedFigures = list[tuple[Number, str]]
_Anchors = dict[tuple[bool, tuple[str, ...]], list[int]]


def find_substitutions(statement: AnnotatedText, source: AnnotatedText) -> Iterator[str]:
    """Yield a message for each name or number of a statement that replaces a different one of the source."""
    yield from _find_renamed(statement, source)
    figures, source_figures = _find_figures(statement), _find_figures_with_years(source)
    yield from _find_redated(figures, source_figures)
    dated_alike = _is_dated_alike(figures, source_figures)
    anchors, (slots, agreeing) = _index_anchors(source), _align(statement, source)
    for start, end in _find_runs(statement):
        if dated_alike and all(statement.number_at(word) for word in statement.words[start:end]):
            continue
        if _is_in_common_block(statement, start, end, agreeing):
            continue
        around = [(before, pair) for before in (True, False) for pair in _find_anchors(statement, start, end, before)]
        places = [place for anchor in around for place in anchors.get(anchor, [])]
        run_keys = set(statement.keys[start:end])
        if any(
            run_keys & set(source.keys[first:last]) for first, last in (_find_run(source, place) for place in places)
        ):
            continue
        if _is_before_aside(source, run_keys, places):
            continue
        facing = [*places, *(other for at in range(start, end) for other in slots[at])]
        for at, other in product(range(start, end), facing):
            if _is_substitution(statement, statement.words[at], source, source.words[other]):
                yield f"“{source.words[other].text}” appears instead of “{statement.words[at].text}”"
                break


def _find_renamed(statement: AnnotatedText, source: AnnotatedText) -> Iterator[str]:
    """Yield a message for each name whose first word differs in the source, as in "Jane Doe" for "John Doe"."""
    for first, name in _find_name_pairs(statement):
        beside = [before for before, word in _find_name_pairs(source) if word.folded == name.folded]
        alone = sum(word.folded == name.folded for word in source.words) > len(beside)
        if alone or contains_name_word(source, first) or {first.folded, *(word.folded for word in beside)} & _TITLES:
            continue
        if beside and not any(contains_name_word(statement, word) for word in beside):
            yield f"“{beside[0].text}” appears instead of “{first.text}”"


def _find_redated(figures: _DatedFigures, source_figures: _DatedFigures) -> Iterator[str]:
    """Yield a message for each figure of a statement that the source gives for a different year."""
    for figure, year in figures:
        source_years = [other for number, other in source_figures if numbers_equal(figure, number)]
        if (
            year
            and source_years
            and all(source_years)
            and year not in source_years
            and any(other == year for _, other in source_figures)
        ):
            yield f"the number {figure.text} is for {', '.join(sorted(set(source_years)))}"


def _is_dated_alike(figures: _DatedFigures, source_figures: _DatedFigures) -> bool:
    """Return whether the source gives each figure of a statement for the same year."""
    return bool(figures) and all(
        year and any(numbers_equal(figure, number) and year == other for number, other in source_figures)
        for figure, year in figures
    )


def _find_figures(statement: AnnotatedText) -> _DatedFigures:
    """Return the figures of a statement with their years; a single figure and a single year belong together."""
    said = _find_figures_with_years(statement)
    years = [number.text for number in statement.numbers if YEARS.fullmatch(number.text)]
    return [(said[0][0], years[0])] if len(said) == len(years) == 1 else said


def _find_figures_with_years(reading: AnnotatedText) -> _DatedFigures:
    """Return the figures of a text that are not parts of dates, each with the year after it, if any."""
    figures: _DatedFigures = []
    if "respectively" in reading.folded:
        return figures
    for number in reading.numbers:
        if number.kind != "month" and not YEARS.fullmatch(number.text):
            year = _OF_YEAR.match(reading.text, number.end)
            figures.append((number, year[1] if year else ""))
    return figures


def _find_name_pairs(reading: AnnotatedText) -> Iterator[tuple[Word, Word]]:
    """Yield each pair of capitalized words with only blanks between them."""
    names = set(reading.names)
    for first, second in pairwise(reading.words):
        if {first, second} <= names and reading.text[first.end : second.start].isspace():
            yield first, second


def _is_before_aside(source: AnnotatedText, run_keys: set[str], places: Sequence[int]) -> bool:
    """Return whether an aside, such as a parenthesis, separates a word of the run from its anchor in the source."""
    for place in places:
        for at in range(max(0, place - _MAX_ASIDE_WORDS), place):
            end = source.words[at].end
            if source.keys[at] in run_keys and source.text[end : end + 2].lstrip()[:1] in (",", "(", "["):
                return True
    return False


def _is_fact(reading: AnnotatedText, word: Word) -> bool:
    return word.content and (word.text[0].isupper() or reading.number_at(word) is not None)


def _find_runs(reading: AnnotatedText) -> Iterator[tuple[int, int]]:
    """Yield the start and end, as word indexes, of each run of capitalized words and numbers."""
    at = 0
    while at < len(reading.words):
        first, last = _find_run(reading, at)
        if first < last:
            yield first, last
        at = max(last, at + 1)


def _find_run(reading: AnnotatedText, at: int) -> tuple[int, int]:
    """Return the start and end of the run that contains a word; they are equal if the word is not in a run."""
    first = last = at
    while first > 0 and _is_fact(reading, reading.words[first - 1]):
        first -= 1
    while last < len(reading.words) and _is_fact(reading, reading.words[last]):
        last += 1
    return (first, last) if at < last else (at, at)


def _find_anchors(reading: AnnotatedText, start: int, end: int, before: bool) -> Iterator[tuple[str, ...]]:
    """Yield the anchors on one side of a run: words by which the position of the run is found in the source.

    The anchors are the two adjacent words and, if it is a content word, the nearest word alone.
    """
    words = reading.words[max(0, start - _ANCHOR_WORDS) : start] if before else reading.words[end : end + _ANCHOR_WORDS]
    nearest = words[-1:] if before else words[:1]
    if len(words) == _ANCHOR_WORDS and any(word.content for word in words):
        yield tuple(word.stem for word in words)
    if nearest and nearest[0].content:
        yield (nearest[0].stem,)


def _index_anchors(source: AnnotatedText) -> _Anchors:
    """Return, for each anchor, the indexes of the source words next to it."""
    places: _Anchors = defaultdict(list)
    for at in range(len(source.words)):
        for before in (True, False):
            for pair in _find_anchors(source, at, at + 1, before):
                places[before, pair].append(at)
    return places


def _is_in_common_block(statement: AnnotatedText, start: int, end: int, agreeing: Sequence[_Block]) -> bool:
    """Return whether a run overlaps a block of words that both texts contain and that has enough other words."""
    for first, last, at_start, at_end in agreeing:
        if first < end and start < last:
            beside = [*statement.words[first : max(first, start)], *statement.words[end : max(end, last)]]
            if at_start or at_end or len(beside) > 1 or any(word.content for word in beside):
                return True
    return False


def _align(statement: AnnotatedText, source: AnnotatedText) -> tuple[dict[int, range], list[_Block]]:
    """Return an alignment of both texts by their longest common subsequence of words.

    The first value maps the index of each differing word in the statement to the indexes of the source words in its
    position. The second value contains the blocks of equal words.
    """
    statement_keys, source_keys = statement.keys, source.keys
    facing: dict[int, range] = defaultdict(lambda: range(0))
    agreeing: list[_Block] = []
    start = source_start = 0
    ends = (len(statement_keys), len(statement_keys), len(source_keys), len(source_keys))
    equal = [op for op in Indel.opcodes(statement_keys, source_keys) if op.tag == "equal"]
    for begin, stop, source_begin, source_stop in [*map(_get_spans, equal), ends]:
        if max(begin - start, source_begin - source_start) <= _MAX_SLOT_WORDS:
            facing |= dict.fromkeys(range(start, begin), range(source_start, source_begin))
        both_end = stop == len(statement_keys) and source_stop == len(source_keys)
        agreeing.append((begin, stop, begin == source_begin == 0, both_end))
        start, source_start = stop, source_stop
    return facing, agreeing


def _get_spans(op: Opcode) -> tuple[int, int, int, int]:
    return op.src_start, op.src_end, op.dest_start, op.dest_end


def _is_substitution(statement: AnnotatedText, word: Word, source: AnnotatedText, source_word: Word) -> bool:
    """Return whether two words are different names or numbers of one kind and the statement lacks ``source_word``."""
    if not word.content or not source_word.content:
        return False
    figure, source_figure = statement.number_at(word), source.number_at(source_word)
    if figure and source_figure:
        # A year does not replace an amount.
        if bool(YEARS.fullmatch(figure.text)) != bool(YEARS.fullmatch(source_figure.text)):
            return False
        return figure.kind == source_figure.kind and not any(
            numbers_equal(number, source_figure, _EVERY_SCALE) for number in statement.possible_numbers
        )
    if figure or source_figure or not (word.text[0].isupper() and source_word.text[0].isupper()):
        return False
    if source.begins_sentence(source_word) and statement.begins_sentence(word):
        return False
    return not (contains_name_word(statement, source_word) or contains_expansion(source, word))
