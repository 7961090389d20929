"""Find wrong values in rows of Markdown tables, by comparison with rows of sources that have the same other values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from rag_core.text.annotated import AnnotatedText
from rag_core.text.dates import is_year
from rag_core.text.scales import find_table_scales
from rag_core.text.values import Value, find_values, is_same_value
from rag_core.verification.claims import TableHeader
from rag_core.verification.support import SourceSentence, SplitPassage
from rag_core.verification.value_marks import ValueMark, write_value

# Minimum result of `_compare_labels` for a row of a source that is compared with a row of the answer.
_MIN_LABEL = 0.5
# The head of a column in a cell, as in "71.9 (Q3 2024)".
_BRACKETS = re.compile(r"\([^()|]*[^\W\d][^()|]*\)")
_HEAD_WORD, _MAX_HEAD_WORDS = re.compile(r"[^\W\d_]{2,}"), 2
_CELL = re.compile(r"[^|]+")


def is_table_row(claim: AnnotatedText) -> bool:
    """Return whether a claim is a row of a Markdown table, with several cells."""
    return "|" in claim.text


def find_wrong_cell(claim: AnnotatedText, sources: Sequence[SplitPassage]) -> ValueMark | None:
    """Return the mark of the only value of a row that differs from the most similar row of the sources.

    Both rows have the same label and the same other values, in the same order. The result is ``None``

    - if several rows are equally similar,
    - if not exactly one value differs, or
    - if the source does not have exactly one value in the place of the differing value.
    """
    first, *cells = _CELL.finditer(claim.text)
    label = {word.stem for word in claim.content if word.end <= first.end()}
    values = [value for cell in cells for value in _list_cell_values(claim, cell)]
    found: list[tuple[float, SourceSentence, list[Value], list[tuple[int, int]]]] = []
    for source in sources:
        for row in source.sentences:
            shared = _compare_labels(label, row) if label else 1.0
            if shared >= _MIN_LABEL:
                # A blank may separate thousands or columns.
                readings = (row.reading.values, row.reading.separate_values)
                known, pairs = max(((one, _align(values, one, row)) for one in readings), key=lambda one: len(one[1]))
                if pairs:
                    found.append((len(pairs) + shared, row, known, pairs))
    most = max((score for score, *_ in found), default=0.0)
    best = [one for one in found if one[0] == most]
    if len(best) != 1:
        return None
    _, row, known, pairs = best[0]
    aligned = {mine for mine, _ in pairs}
    wrong = [place for place in range(len(values)) if place not in aligned]
    if len(wrong) != 1 or len(values) < 2 or row.source.title_states(values[wrong[0]]):
        return None
    rival = _find_in_place(wrong[0], known, pairs)
    value = values[wrong[0]]
    if rival is None or (value.number is None) != (rival.number is None):
        return None
    return ValueMark(write_value(claim, value), row, write_value(row.reading, rival))


def list_headed_cells(row: str, header: TableHeader) -> Iterator[tuple[AnnotatedText, int]]:
    """Yield each cell of a row as the text "label, head: cell", and the number of values in label and head.

    Columns whose head has more than `_MAX_HEAD_WORDS` words are left out.
    """
    label, *cells = (one.strip() for one in row.strip(" |").split("|"))
    for head, cell in zip(header.cells[1:], cells, strict=False):
        # A head of more words may only mention a year.
        if len(_HEAD_WORD.findall(head)) > _MAX_HEAD_WORDS:
            continue
        before = f"{label}, {head}: "
        yield AnnotatedText(before + cell), len(find_values(before))


def is_cell_stated(
    value: Value, claim: AnnotatedText, sources: Sequence[SplitPassage], header: TableHeader | None
) -> bool:
    """Return whether any source states the value of a cell of the answer.

    The scale that the head of the cell's column may state, and the scales of the source, are taken into account.
    """
    column = claim.text[: value.start].lstrip(" |").count("|")
    scales = find_table_scales(header.cells[column]) if header and column < len(header.cells) else frozenset()
    return any(
        _is_same(value, one, source.scales) or _is_same(one, value, scales)
        for source in sources
        for one in (*source.reading.values, *source.reading.separate_values)
    )


def _compare_labels(label: set[str], row: SourceSentence) -> float:
    """Return the share of the words of ``label`` in a row, or of the row's own label in ``label`` if it is higher."""
    values = row.reading.values
    own = {word.stem for word in row.reading.content if values and word.end <= values[0].start}
    return max(len(label & row.reading.stems) / len(label), len(label & own) / len(own) if own else 0.0)


def _find_in_place(wrong: int, known: Sequence[Value], pairs: Sequence[tuple[int, int]]) -> Value | None:
    """Return the value of the source's row that stands in the place of the wrong value; ``None`` if it is uncertain.

    ``wrong`` is the position of the wrong value, and ``pairs`` are the positions of equal values in both rows. The
    place is between the neighbouring pairs. If these leave several places, and the positions of all pairs differ by the
    same number, the position of the place differs by this number too.
    """
    start = max((its for mine, its in pairs if mine < wrong), default=-1)
    end = min((its for mine, its in pairs if mine > wrong), default=len(known))
    between = known[start + 1 : end]
    offsets = {its - mine for mine, its in pairs}
    if len(between) > 1 and len(offsets) == 1 and len(pairs) > 1:
        between = known[wrong + min(offsets) : wrong + min(offsets) + 1]
    return between[0] if len(between) == 1 else None


def _list_cell_values(claim: AnnotatedText, cell: re.Match[str]) -> Iterator[Value]:
    """Yield the values of a cell, without values that may repeat the head of its column.

    - Values in brackets with a letter, as in "71.9 (Q3 2024)", are left out.
    - If exactly one number other than a year is left, all other values are left out.
    """
    brackets = [one.span() for one in _BRACKETS.finditer(claim.text, *cell.span())]
    inside = [one for one in claim.values if cell.start() <= one.start < cell.end()]
    outside = [one for one in inside if not any(begin <= one.start < end for begin, end in brackets)]
    numbers = [one for one in outside if one.number and not is_year(one.text)]
    yield from outside if len(numbers) != 1 or len(outside) == 1 else numbers


def _align(values: Sequence[Value], known: Sequence[Value], row: SourceSentence) -> list[tuple[int, int]]:
    """Return the longest common subsequence of the values of two rows, as pairs of positions.

    ``values`` are those of the answer's row, and ``known`` those of ``row``, the row of a source.
    """

    @cache
    def align(mine: int, its: int) -> tuple[tuple[int, int], ...]:
        if mine == len(values) or its == len(known):
            return ()
        options = [align(mine, its + 1), align(mine + 1, its)]
        if _is_same(values[mine], known[its], row.source.scales):
            options.insert(0, ((mine, its), *align(mine + 1, its + 1)))
        return max(options, key=len)

    return list(align(0, 0))


def _is_same(value: Value, other: Value, scales: frozenset[int]) -> bool:
    # Often only the head of a column of percentages has the sign.
    if value.number and other.number and {value.number.kind, other.number.kind} == {"", "percent"}:
        value = replace(value, number=replace(value.number, kind=other.number.kind))
    return is_same_value(value, other, scales)
