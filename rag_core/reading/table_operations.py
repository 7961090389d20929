"""Answer questions over the rows of a table from its cells, in decimals."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from rag_core.reading.cell_values import DIGITS, NUMBER_MARKS, Quantity, count_decimal_places, find_column_scale
from rag_core.reading.column_selection import ColumnSelector, Selection
from rag_core.reading.table_questions import Operation, TableQuestion
from rag_core.reading.table_rows import PlacedRow, TableRows
from rag_core.reading.table_transposition import transpose_row
from rag_core.text.numbers import SCALES
from rag_core.text.tables import parse_scale

_RELATIONS: dict[str, Callable[[Decimal, Decimal], bool]] = {
    ">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le,
}  # fmt: skip
# Most rows that a list names, that a count names, and that share the largest value.
MAX_LISTED, MAX_NAMED, MAX_TIED = 40, 12, 3
_FIGURE = re.compile(DIGITS)


@dataclass(frozen=True, slots=True)
class RowPiece:
    """A part of an answer, and the rows that it states."""

    text: str
    rows: tuple[PlacedRow, ...] = ()


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """An answer from the rows of a table.

    Attributes
    ----------
    short : str
        The row label, number, difference or list that the question asks for.
    pieces : tuple of RowPiece
        The parts of the text, which begins with ``short``.
    compared : tuple of PlacedRow
        The rows that were compared or counted.
    explained : int
        Number of words of the question that the table explains.
    """

    short: str
    pieces: tuple[RowPiece, ...]
    compared: tuple[PlacedRow, ...]
    explained: int


def answer_from_rows(question: TableQuestion, rows: TableRows, selector: ColumnSelector) -> TableAnswer | None:
    """Return the answer of one table; ``None`` if the table has none, or if its cells do not determine it."""
    selection = selector.select(question, rows) if rows.is_plain else None
    if selection is None and (transposed := transpose_row(question, rows)) is not None:
        rows = transposed
        selection = selector.select(question, rows) if rows.is_plain else None
    if selection is None:
        return None
    if question.operation is Operation.DIFFERENCE:
        return _subtract(question, rows, selection)
    if question.operation is Operation.CHANGE:
        return _find_largest_change(question, rows, selection)
    if question.operation in (Operation.GREATEST, Operation.LEAST):
        return _find_largest(question, rows, selection)
    return _filter(question, rows, selection)


def _keep(rows: TableRows, selection: Selection) -> list[PlacedRow]:
    """Return the rows that have the texts, or dates in the period, which the question names."""
    kept = [row for row in rows.rows if all(row.text(column) == text for column, text in selection.text_conditions)]
    if selection.date_condition is None:
        return kept
    column, period = selection.date_condition
    dates = rows.dates(column) or []
    fitting = [row for row, date in zip(rows.rows, dates, strict=True) if period.contains(date)]
    return [row for row in kept if row in fitting]


def _values(rows: TableRows, kept: Sequence[PlacedRow], column: int) -> list[Decimal] | None:
    quantities = rows.quantities(column)
    if quantities is None:
        return None
    return [one.value for row, one in zip(rows.rows, quantities, strict=True) if row in kept]


def _find_largest(question: TableQuestion, rows: TableRows, selection: Selection) -> TableAnswer | None:
    kept = _keep(rows, selection)
    values = _values(rows, kept, selection.column) if selection.column is not None else None
    if selection.column is None or values is None or len(values) < 2:
        return None
    is_greatest = question.operation is Operation.GREATEST
    best = max(values) if is_greatest else min(values)
    winners = [row for row, value in zip(kept, values, strict=True) if value == best]
    if len(winners) > MAX_TIED:
        return None
    header, kind = rows.header(selection.column), "highest" if is_greatest else "lowest"
    value = winners[0].state_value(selection.column)
    end = f", the {kind} of {len(kept)} {rows.counted}{_describe(question, rows, selection)}"
    if selection.answer_column is None:
        names = " and ".join(row.text(0) for row in winners)
        pieces = [RowPiece(f"{value} · {names}, {header}", tuple(winners)), RowPiece(end)]
        return TableAnswer(value, tuple(pieces), tuple(kept), selection.explained)
    short = " and ".join(row.text(selection.answer_column) for row in winners)
    pieces = [RowPiece(f"{short} · {header}: {value}", tuple(winners)), RowPiece(end)]
    return TableAnswer(short, tuple(pieces), tuple(kept), selection.explained)


def _filter(question: TableQuestion, rows: TableRows, selection: Selection) -> TableAnswer | None:
    kept, compared = _keep(rows, selection), rows.rows
    condition, described = question.condition, _describe(question, rows, selection)
    if condition is not None:
        limit = _find_limit(question, rows, selection)
        values = _values(rows, kept, selection.column) if selection.column is not None else None
        if selection.column is None or values is None or limit is None:
            return None
        relation = _RELATIONS[condition.relation]
        kept = [row for row, value in zip(kept, values, strict=True) if relation(value, limit)]
        words = " ".join(question.text[condition.start : condition.end].split())
        described += f"{' and' if described else ' with'} {rows.header(selection.column)} {words}"
    elif not selection.text_conditions and selection.date_condition is None:
        return None
    column = selection.answer_column or 0
    names = list(dict.fromkeys(row.text(column) for row in kept))
    end = f"{len(kept)} of {len(compared)} {rows.counted}{described}"
    if question.operation is Operation.COUNT:
        shown = kept if len(kept) <= MAX_NAMED else []
        listed = "; ".join(_name(row, column, selection, condition is not None) for row in shown)
        text = f"{len(kept)} · {end}{f': {listed}' if listed else ''}"
        return TableAnswer(str(len(kept)), (RowPiece(text, tuple(shown)),), tuple(compared), selection.explained)
    if not kept or len(kept) > MAX_LISTED or not all(names):
        return None
    short = "; ".join(names)
    return TableAnswer(short, (RowPiece(f"{short} · {end}", tuple(kept)),), tuple(compared), selection.explained)


def _name(row: PlacedRow, column: int, selection: Selection, with_value: bool) -> str:
    value = row.state_value(selection.column) if with_value and selection.column is not None else ""
    return f"{row.text(column)} ({value})" if value else row.text(column)


def _find_limit(question: TableQuestion, rows: TableRows, selection: Selection) -> Decimal | None:
    """Return the number of the condition in the scale of the column; ``None`` if the scale is not clear."""
    condition = question.condition
    if condition is None or selection.column is None:
        return None
    scale = _find_scale(rows, selection.column)
    values = sorted(condition.number.values)
    if condition.number.currency:
        values = values[-1:] if len(values) > 1 else values
    if scale and not condition.number.unscaled:
        return values[-1].scaleb(-scale)
    return None if scale and condition.number.currency else values[0]


def _find_scale(rows: TableRows, column: int) -> int:
    """Return the power of ten of the numbers of a column, from its cells, its header or the caption."""
    quantities = rows.quantities(column) or []
    if any(one.power for one in quantities):
        return 0
    scales = (SCALES.get(one.unit, parse_scale(one.unit)) for one in quantities)
    own = next((scale for scale in scales if scale is not None), None)
    return find_column_scale(rows.table, column) if own is None else own


def _subtract(question: TableQuestion, rows: TableRows, selection: Selection) -> TableAnswer | None:
    """Return the difference between two periods of a row, or between two rows of a column."""
    if len(selection.named_rows) == 1 and selection.compared_columns is not None:
        (row,) = selection.named_rows
        return _subtract_cells(question, rows, [row, row], selection.compared_columns, selection.explained)
    if len(selection.named_rows) == 2 and selection.column is not None:
        columns = (selection.column, selection.column)
        labels = (
            sorted(selection.named_rows, key=lambda row: rows.find_periods(row.text(0)))
            if rows.is_by_period
            else selection.named_rows
        )
        return _subtract_cells(question, rows, labels, columns, selection.explained)
    return None


def _subtract_cells(
    question: TableQuestion, rows: TableRows, cells: Sequence[PlacedRow], columns: tuple[int, int], explained: int
) -> TableAnswer | None:
    """Return the difference of two cells: later less earlier period, or the row that is named first less the other."""
    quantities = [_read_quantity(rows, row, column) for row, column in zip(cells, columns, strict=True)]
    if quantities[0] is None or quantities[1] is None:
        return None
    first, second = quantities[0].value, quantities[1].value
    written = [row.state_value(column) for row, column in zip(cells, columns, strict=True)]
    is_change = cells[0] is cells[1] or rows.is_by_period
    difference = second - first if is_change else first - second
    shown = _write_like(written, abs(difference), [quantities[0].power, quantities[1].power])
    if is_change:
        sign = "+" if difference > 0 else "−" if difference < 0 else ""
        short = f"{sign}{shown}"
        if question.is_yes_no:
            short = f"{'Yes' if difference * (question.direction or 1) > 0 else 'No'}, {short}"
        name, headers = cells[0].text(0), [rows.header(column) for column in columns]
        if cells[0] is not cells[1]:
            name, headers = headers[0], [row.text(0) for row in cells]
        share = f" ({difference / first * 100:+.1f}%)" if first > 0 and "percent" not in shown else ""
        pieces = [
            RowPiece(f"{short}{share} · {name}: from {written[0]} ({headers[0]})", (cells[0],)),
            RowPiece(f" to {written[1]} ({headers[1]})", (cells[1],)),
        ]
    else:
        short = f"{shown} {'more' if difference > 0 else 'less'}" if difference else "no difference"
        pieces = [
            RowPiece(f"{short} · {rows.header(columns[0])}: {cells[0].text(0)} {written[0]}", (cells[0],)),
            RowPiece(f", {cells[1].text(0)} {written[1]}", (cells[1],)),
        ]
    return TableAnswer(short, tuple(pieces), (cells[0], cells[1]), explained)


def _find_largest_change(question: TableQuestion, rows: TableRows, selection: Selection) -> TableAnswer | None:
    if selection.compared_columns is None or selection.answer_column is None:
        return None
    kept = _keep(rows, selection)
    columns = [_values(rows, kept, column) for column in selection.compared_columns]
    if columns[0] is None or columns[1] is None:
        return None
    changes = [later - earlier for earlier, later in zip(columns[0], columns[1], strict=True)]
    keys = [change * question.direction if question.direction else abs(change) for change in changes]
    if len(keys) < 2 or max(keys) <= 0 or keys.count(max(keys)) > 1:
        return None
    row = kept[keys.index(max(keys))]
    found = _subtract_cells(
        replace(question, is_yes_no=False), rows, [row, row], selection.compared_columns, selection.explained
    )
    if found is None:
        return None
    short = row.text(selection.answer_column)
    kind = {1: "largest rise", -1: "largest fall", 0: "largest change"}[question.direction]
    first, second = found.pieces
    start = replace(first, text=f"{short} · {first.text}")
    end = RowPiece(f", the {kind} of {len(kept)} {rows.counted}{_describe(question, rows, selection)}")
    return TableAnswer(short, (start, second, end), tuple(kept), selection.explained)


def _read_quantity(rows: TableRows, row: PlacedRow, column: int) -> Quantity | None:
    quantities = rows.quantities(column)
    return None if quantities is None else quantities[rows.rows.index(row)]


def _write_like(written: Sequence[str], value: Decimal, powers: Sequence[int]) -> str:
    """Return a difference with the decimals, the digit groups and the unit of the given cells.

    If the cells have different scales, as in "€1.2bn" and "€300m", it is written with the lower one.
    """
    figures = [match[0].rstrip(NUMBER_MARKS) for text in written if (match := _FIGURE.search(text))]
    lowest_power = min(powers)
    places = [count_decimal_places(figure) for figure in figures]
    decimals = max(0, *(place + lowest_power - power for place, power in zip(places, powers, strict=True)))
    wholes = [figure[:-place] if place else figure for figure, place in zip(figures, places, strict=True)]
    point = next((whole[-1] for whole, place in zip(wholes, places, strict=True) if place), ".")
    group = next((mark for whole in wholes for mark in whole if mark in NUMBER_MARKS and mark != point), "")
    number = f"{value.scaleb(-lowest_power):,.{decimals}f}".translate({ord(","): group, ord("."): point})
    model_cell = next(
        text for text, power in zip(reversed(written), reversed(powers), strict=True) if power == lowest_power
    )
    text = re.sub(r"^[−–-]|[−–-]\s?(?=[\d$€£¥])", "", model_cell.replace("(", "").replace(")", ""))
    return re.sub(r"\s?%$", " percentage points", _FIGURE.sub(lambda _: number, text, count=1))


def _describe(question: TableQuestion, rows: TableRows, selection: Selection) -> str:
    """Return the conditions on the rows in words, such as " with Status DONE"; empty if there are none."""
    parts = [f"{rows.header(column)} {text}".strip() for column, text in selection.text_conditions]
    if selection.date_condition is not None:
        column, period = selection.date_condition
        parts.append(f"{rows.header(column)} in {' '.join(question.text[start:end] for start, end in period.spans)}")
    return f" with {' and '.join(parts)}" if parts else ""
