"""Checks that the figures of a statement are in the table row and the year column that the statement names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_core.text.annotated import AnnotatedText
from rag_core.text.dates import QUARTER
from rag_core.text.numbers import Number, find_table_scales, numbers_equal
from rag_core.text.tables import YEARS, FigureRow, parse_year
from rag_core.text.words import stem

# The sum of two shares must exceed this: the share of a label's words that a statement contains, and the share of the
# statement's words that the row and its surroundings contain. So the label and the statement may each have some words
# that the other one lacks.
_MIN_SIMILARITY = 1.0
# Words for measures. A row or its surroundings must contain every measure that a statement names.
_MEASURES = tuple(
    frozenset(map(stem, group.split()))
    for group in (
        "revenue sales turnover", "profit", "income", "earnings", "loss", "cost", "price", "expense", "expenditure",
        "assets", "liabilities", "equity", "debt borrowings", "cash", "margin", "dividends", "tax", "interest",
        "growth", "employees staff headcount", "shares", "inventory", "receivables", "payables", "goodwill",
        "depreciation", "amortization", "provision", "customers", "average", "percentage",
    )
)  # fmt: skip
# Words in the labels of rows whose figures may be a gain or a loss. Rows of costs are excluded, because brackets do not
# indicate a loss there.
_GAIN = re.compile(r"\b(?:profit|income(?! tax)|earnings|result|ebitda?|margin|gain|cash flow|surplus)", re.IGNORECASE)
_COST = re.compile(r"\b(?:expenses?|costs?|provision|charges?|paid|interest)\b", re.IGNORECASE)
_LOSS = re.compile(r"\b(?:loss(?:es)?|deficit|negative|minus|outflow)\b|[(−–-]\s?[$€£¥]?\s?\d", re.IGNORECASE)
_ROSE = re.compile(r"\b(?:rose|risen|rising|increas\w*|grew|grown|up|higher)\b", re.IGNORECASE)
_FELL = re.compile(r"\b(?:fell|fallen|falling|decreas\w*|declin\w*|dropp\w*|down|lower|shrank)\b", re.IGNORECASE)
# Parts of a year, whose figures must not be confused with those of the whole year.
_PART = re.compile(
    rf"\b(?:{QUARTER}|quarter\w*|(?:three|six|nine|[369])[ -]months|half|H[12]|13 weeks)\b", re.IGNORECASE
)
_OTHER_YEAR = re.compile(
    r"\b(?:prior|previous|last|preceding|next)\s(?:\w+\s)?year\b|\byear\s(?:before|earlier|ago)\b", re.IGNORECASE
)
_COMPARED = re.compile(r"\b(?:from|than|with|to|against|versus|vs\.?)\s+(?:about\s+)?$", re.IGNORECASE)
_FROM = re.compile(r"\bfrom\s+$")
_TO = re.compile(r"\s*(?:in\s+(?:\w+\s+)?\d{4}\s+)?to\s+")
_MAX_DAY_GAP = 3


@dataclass(frozen=True, slots=True)
class _PlacedFigure:
    """A figure of a statement, the table row that contains the figure, and its columns in this row."""

    figure: Number
    row: FigureRow
    columns: tuple[int, ...]


def check_table_claim(
    statement: AnnotatedText,
    rows: Sequence[FigureRow],
    table: Sequence[FigureRow],
    rest: AnnotatedText,
    title: AnnotatedText,
) -> list[str] | None:
    """Return a message for each difference between a statement and the rows whose figures it gives.

    A figure is correct if it is in the row whose label is most similar to the statement, in the column of the
    statement's year, with the same scale and sign. A statement without a year is about the latest year.

    Parameters
    ----------
    statement : AnnotatedText
    rows : sequence of FigureRow
        Rows of the evidence that the statement is compared with.
    table : sequence of FigureRow
        All rows of the passage, since the statement may mean a row outside the evidence.
    rest : AnnotatedText
        Other text of the evidence, including the labels of its rows.
    title : AnnotatedText
        Document and heading of the passage; the first line is the document's name.

    Returns
    -------
    list of str or None
        ``None`` if the rows must be checked like other text: the statement gives no figure of the rows, or the years of
        their columns are not clear and the statement names no year that is missing in ``rest``.
    """
    figures = _find_figures(statement, rest)
    years = [(match.start(), parse_year(match[0])) for match in YEARS.finditer(statement.text)]
    if not figures:
        return None
    if not any(row.columns for row in rows):
        unsaid = [year for _, year in years if year not in rest.text and any(row.head for row in rows)]
        return [f"it is not clear which figure is for {unsaid[0]}"] if unsaid else None
    placed = _place_figures(statement, figures, rows, table, title)
    if isinstance(placed, str):
        return [placed]
    return [
        *_check_dates(statement, placed, rest),
        *_check_years(statement, placed, rest, [year for _, year in years]),
        *_check_sign_and_scale(statement, placed, title),
    ]


def check_direction(statement: AnnotatedText) -> Iterator[str]:
    """Yield a message if a statement says that a figure rose to a lower number or fell to a higher number."""
    rose, fell = _ROSE.search(statement.text), _FELL.search(statement.text)
    said = rose or fell
    if said is None or (rose and fell):
        return
    for first, second in pairwise(number for number in statement.numbers if not YEARS.fullmatch(number.text)):
        between = statement.text[first.end : second.start]
        if _FROM.search(statement.text, 0, first.start) and _TO.fullmatch(between) and first.kind == second.kind:
            fallen, risen = min(first.values) > max(second.values), max(first.values) < min(second.values)
            if fallen if rose else risen:
                yield f"the figures of the statement contradict “{said[0]}”"


def find_row_scales(row: FigureRow, title: AnnotatedText) -> frozenset[int]:
    """Return the possible scales of a row's figures, as powers of ten."""
    return find_table_scales(title.text) if row.scale is None else frozenset({row.scale} - {0})


def _find_figures(statement: AnnotatedText, rest: AnnotatedText) -> list[Number]:
    """Return the numbers of a statement that are neither parts of dates nor in ``rest``."""
    taken = [match.span() for match in YEARS.finditer(statement.text)]
    taken += [(date.start, date.end) for date in _find_dates(statement)]
    return [
        number
        for number in statement.numbers
        if not any(start < number.end and number.start < end for start, end in taken)
        and not any(numbers_equal(number, other) for other in rest.numbers)
    ]


def _find_dates(statement: AnnotatedText) -> Iterator[Number]:
    """Yield the months of a statement and the days next to them."""
    for at, number in enumerate(statement.numbers):
        beside = [
            other
            for other in statement.numbers[max(0, at - 1) : at + 2]
            if max(number.start - other.end, other.start - number.end) <= _MAX_DAY_GAP
        ]
        if any(other.kind == "month" for other in beside) and not YEARS.fullmatch(number.text):
            yield number


def _place_figures(
    statement: AnnotatedText,
    figures: Sequence[Number],
    rows: Sequence[FigureRow],
    table: Sequence[FigureRow],
    title: AnnotatedText,
) -> list[_PlacedFigure] | str:
    """Return each figure with the row that the statement means, or a message if a figure has no such row."""
    whole = _find_named_rows(_find_label_words(statement, 0, len(statement.text), title), rows, table, title)
    placed = [_find_in_rows(figure, whole, title) for figure in figures]
    if len(rows) > 1 and not all(placed):
        # In a statement about several rows, the words before each figure name the row of the figure.
        placed, start = [], 0
        for figure in figures:
            whole = (
                _find_named_rows(_find_label_words(statement, start, figure.start, title), rows, table, title) or whole
            )
            placed.append(_find_in_rows(figure, whole, title))
            start = figure.end
    if not whole:
        return "no table row has this name"
    missing = next((figure for figure, place in zip(figures, placed, strict=True) if place is None), None)
    return f"the number {missing.text} is missing" if missing else [place for place in placed if place]


def _find_in_rows(figure: Number, rows: Sequence[FigureRow], title: AnnotatedText) -> _PlacedFigure | None:
    for row in rows:
        columns = [
            at
            for at, value in enumerate(row.values)
            if value and numbers_equal(figure, value, find_row_scales(row, title))
        ]
        if columns and row.columns:
            return _PlacedFigure(figure, row, tuple(columns))
    return None


def _find_label_words(statement: AnnotatedText, start: int, end: int, title: AnnotatedText) -> frozenset[str]:
    """Return the stems of the words from ``start`` to ``end`` that may name a row, without the document's name."""
    document = AnnotatedText(title.text.partition("\n")[0]).stems
    return frozenset(
        word.stem
        for word in statement.content
        if start <= word.start < end
        and statement.number_at(word) is None
        and not (word.text[0].isupper() and word.stem in document)
        and not word.text[0].isdigit()
    )


def _find_named_rows(
    said: frozenset[str], rows: Sequence[FigureRow], table: Sequence[FigureRow], title: AnnotatedText
) -> list[FigureRow]:
    """Return the rows whose label is most similar to the words ``said``; empty in doubt.

    The result is also empty if a row of the table that is not in ``rows`` is the most similar one.
    """

    def likeness(row: FigureRow) -> tuple[int, int, int]:
        return len(said & row.stems), -len(row.stems - said), len(said & row.section)

    most = max(map(likeness, table))
    best = [row for row in table if likeness(row) == most]
    if not most[0] or len({row.stems for row in best}) > 1:
        return []
    return [row for row in best if row in rows and _is_meant(said, row, table, title)]


def _is_meant(said: frozenset[str], row: FigureRow, table: Sequence[FigureRow], title: AnnotatedText) -> bool:
    """Return whether a row is similar enough to the words ``said`` and is not about another measure."""
    totals = [other.stems for other in table if other.label.casefold().startswith("total")]
    around = row.stems.union(row.section, title.stems, *totals)
    if len(said & row.stems) / len(row.stems) + len(said & around) / len(said) <= _MIN_SIMILARITY:
        return False
    return not any(said & measure and not around & measure for measure in _MEASURES)


def _check_dates(statement: AnnotatedText, placed: Sequence[_PlacedFigure], rest: AnnotatedText) -> Iterator[str]:
    """Yield a message for each date that the table lacks.

    A further message is yielded if only the statement, or only the table, is about a part of a year.
    """
    for row in {place.row for place in placed}:
        above = AnnotatedText("\n".join(row.above))
        known = [*rest.numbers, *above.numbers]
        months = {min(number.values) for number in above.numbers if number.kind == "month"}
        for date in _find_dates(statement):
            if len(months) > 1 or not any(numbers_equal(date, number) for number in known):
                yield f"the number {date.text} is missing"
        part = _PART.search(statement.text)
        if part and not _PART.search(f"{above.text}\n{row.label}"):
            yield f"the source does not say “{part[0]}”"
        elif not part and (whole := _PART.search(above.text)):
            yield f"the source says “{whole[0]}”"


def _check_years(
    statement: AnnotatedText, placed: Sequence[_PlacedFigure], rest: AnnotatedText, years: Sequence[str]
) -> Iterator[str]:
    """Yield a message for each figure that is not in the column of its year."""
    heads = {year for place in placed for year in place.row.columns}
    for year in years:
        if year not in heads and year not in rest.text:
            yield f"the number {year} is missing"
    headed = [year for year in years if year in heads]
    # The year in the label "Notes due 2022" is not the year of the figures if the statement gives another year as well.
    given = [year for year in headed if not any(year in place.row.label for place in placed)] or headed
    if not years and _is_copied(placed):
        return
    if not given and _OTHER_YEAR.search(statement.text):
        yield "it is not clear which year is meant"
    elif len(set(given)) > 1 and len(given) != len(placed):
        yield "it is not clear which figure is for which year"
    else:
        only = given[0] if given else max(heads)
        each = given if len(set(given)) > 1 else [only] * len(placed)
        all_years = [_get_years(place) for place in placed]
        for place, year, figure_years in zip(placed, each, all_years, strict=True):
            if year not in figure_years and not (
                len(set(given)) < 2 and _is_previous_year(statement, place, figure_years, only, all_years)
            ):
                yield f"the number {place.figure.text} is for {', '.join(sorted(figure_years))}"
        yield from _check_row_direction(statement, placed, max(each))


def _is_copied(placed: Sequence[_PlacedFigure]) -> bool:
    """Return whether a statement gives all figures of a row in order, as in a copy of the table."""
    row = placed[0].row
    columns = [at for at, value in enumerate(row.values) if value]
    return len(columns) == len(placed) > 1 and all(
        place.row is row and at in place.columns for at, place in zip(columns, placed, strict=True)
    )


def _get_years(placed: _PlacedFigure) -> set[str]:
    return {placed.row.columns[at] for at in placed.columns} - {""}


def _is_previous_year(
    statement: AnnotatedText, placed: _PlacedFigure, figure_years: set[str], year: str, all_years: Sequence[set[str]]
) -> bool:
    """Return whether a statement gives a figure of the previous year for comparison, as in "up from 5 million"."""
    compared = _COMPARED.search(statement.text, 0, placed.figure.start)
    return bool(compared) and str(int(year) - 1) in figure_years and any(year in years for years in all_years)


def _check_row_direction(statement: AnnotatedText, placed: Sequence[_PlacedFigure], year: str) -> Iterator[str]:
    """Yield a message if a statement says that a figure rose, but the figure fell in its row, or the reverse."""
    rose, fell = _ROSE.search(statement.text), _FELL.search(statement.text)
    row = placed[0].row
    before = max((column for column in row.columns if column and column < year), default="")
    if bool(rose) == bool(fell) or any(place.row is not row for place in placed) or not before:
        return
    now, then = (_get_signed_value(row, row.columns.index(column)) for column in (year, before))
    if now is not None and then is not None and (now > then) != bool(rose):
        said = rose or fell
        yield f"the source says the opposite of “{said[0] if said else ''}”"


def _get_signed_value(row: FigureRow, at: int) -> float | None:
    number = row.values[at]
    return None if number is None else float(min(number.values)) * (-1 if row.cells[at].negative else 1)


def _check_sign_and_scale(
    statement: AnnotatedText, placed: Sequence[_PlacedFigure], title: AnnotatedText
) -> Iterator[str]:
    """Yield a message for each figure that has the wrong sign, or a currency but not the scale of the table."""
    lost = bool(_LOSS.search(statement.text))
    for place in placed:
        figure, row = place.figure, place.row
        negative = any(row.cells[at].negative for at in place.columns)
        if _GAIN.search(row.label) and not _COST.search(row.label) and lost != negative:
            yield f"the number {figure.text} has the opposite sign"
        whole = all((value := row.values[at]) and "." not in value.text for at in place.columns)
        if figure.currency and figure.unscaled and whole and find_row_scales(row, title):
            yield f"the number {figure.text} has another scale"
