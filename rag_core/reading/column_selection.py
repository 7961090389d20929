"""Find the columns and cells of a table that a question over its rows is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.reading.excerpts import build_row_excerpt
from rag_core.reading.table_questions import Operation, TableQuestion, find_measures
from rag_core.reading.table_rows import PlacedRow, TableRows, find_lemmas
from rag_core.text.dates import Period, match_period
from rag_core.text.numbers import CURRENCIES, SCALES
from rag_core.text.words import Word, find_lemma
from rag_core.types import Passage, ReadTexts

# Least probability with which the model must find the value in a column.
MIN_PROBABILITY = 0.9

_UNITS = {find_lemma(word) for word in (*CURRENCIES, *SCALES)}
_PERCENT = re.compile(r"%|\b(?:per ?cent(?:age)?|share|proportion)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Selection:
    """The parts of a table that a question is about.

    Attributes
    ----------
    answer_column : int or None
        The column whose texts answer the question; ``None`` if the question asks for the value itself.
    column : int or None
        The column whose numbers are compared.
    compared_columns : (int, int) or None
        The columns of an earlier and a later period, or of two measures.
    text_conditions : tuple of (int, str)
        Columns, and the text that a row must have in them.
    date_condition : (int, Period) or None
        A column, and the period in which its date must be.
    named_rows : tuple of PlacedRow
        The rows that the question names, in its order.
    explained : int
        Number of words of the question that the table explains.
    """

    answer_column: int | None
    column: int | None = None
    compared_columns: tuple[int, int] | None = None
    text_conditions: tuple[tuple[int, str], ...] = ()
    date_condition: tuple[int, Period] | None = None
    named_rows: tuple[PlacedRow, ...] = ()
    explained: int = 0


@dataclass(slots=True)
class _Unexplained:
    """The words of a question that no part of the table explains yet."""

    words: list[Word]

    def explain(self, known: set[str]) -> None:
        self.words = [word for word in self.words if find_lemma(word.folded) not in known]

    def explain_periods(self, periods: Sequence[Period]) -> None:
        spans = [span for one in periods for span in one.spans]
        self.words = [word for word in self.words if not any(start <= word.start < end for start, end in spans)]


class ColumnSelector:
    """Selects the cells of a table for a question.

    The words of the question must be those of headers, cells and captions. The reading model decides about other
    words: if it finds the value of "weigh" in a column of weights, the word means this column.

    Parameters
    ----------
    passage : Passage
        The best passage of the document.
    read : callable
        Arguments: question, texts. Returns an iterator over the readings of the texts.
    """

    def __init__(self, passage: Passage, read: ReadTexts) -> None:
        self._passage = passage
        self._read = read

    def select(self, question: TableQuestion, rows: TableRows) -> Selection | None:
        """Return the cells of a table for a question; ``None`` if they are not clear or the table is about others."""
        left = _Unexplained(list(question.words))
        noun_column, is_value = _find_answer_column(question, rows)
        if noun_column is None and not is_value:
            return None
        labels = rows.find_mentioned_texts(question.text, 0)
        is_difference = question.operation is Operation.DIFFERENCE
        if bool(labels) != is_difference or len(labels) > 2:
            return None
        if noun_column is not None and question.nouns:
            left.explain(rows.header_lemmas(noun_column))
        named = sorted(labels, key=lambda label: question.text.casefold().find(label.casefold()))
        left.explain(find_lemmas(" ".join(labels)))
        if labels and rows.is_by_period:
            left.explain_periods(question.periods)
        texts = () if is_difference else _find_texts(question, rows, {noun_column, 0})
        if texts is None:
            return None
        for column, text in texts:
            left.explain(find_lemmas(text) | rows.header_lemmas(column))
        columns = [column for column in rows.columns if column and column not in {one for one, _ in texts}]
        numeric = [column for column in columns if rows.header(column) and rows.quantities(column) is not None]
        dated = None if is_difference else _find_dates(question, rows, numeric)
        if dated is not None:
            left.explain(rows.header_lemmas(dated[0]))
            left.explain_periods(question.periods)
        measured = list(left.words)
        left.explain(rows.context)
        found: int | tuple[int, int] | None = None
        needs_pair = question.operation is Operation.CHANGE or (is_difference and len(labels) == 1)
        if needs_pair:
            found = self._select_periods(question, rows, numeric, left, measured)
            if found is None and is_difference:
                found = _select_pair(question, rows, numeric, left, measured)
        elif question.operation in (Operation.GREATEST, Operation.LEAST) or question.condition or is_difference:
            if dated is None and not (is_difference and rows.is_by_period):
                numeric = _with_periods(question, rows, numeric, left)
            found = self._select_column(question, rows, numeric, left, measured)
        elif not _selects_rows(question, rows, texts, dated, left):
            return None
        if found is None and (
            needs_pair or not (texts or dated) or question.condition or question.operation in _MEASURED
        ):
            return None
        return Selection(
            noun_column,
            column=found if isinstance(found, int) else None,
            compared_columns=found if isinstance(found, tuple) else None,
            text_conditions=texts,
            date_condition=dated,
            named_rows=tuple(row for name in named for row in rows.rows if row.text(0) == name),
            explained=len(question.words) - len(left.words),
        )

    def _select_column(
        self, question: TableQuestion, rows: TableRows, numeric: Sequence[int], left: _Unexplained, measured: list[Word]
    ) -> int | None:
        columns = [column for column in numeric if not rows.contradicts(column, question.text)]
        if not _PERCENT.search(question.text):
            # Of an amount and its share of the total, the amount is meant.
            columns = [one for one in columns if not _is_share(rows, one)] or columns
        condition = question.condition
        unit = condition.unit.casefold() if condition else ""
        if condition is not None and (condition.number.currency or unit):
            same = [column for column in columns if _is_same_unit(rows.unit(column), condition.number.currency or unit)]
            if same:
                columns = same
                left.explain(find_lemmas(unit) | {unit})
                if len(same) == 1 and [word for word in left.words if word is not question.verb] == []:
                    return same[0]
                measured = [word for word in measured if word.folded != unit]
            elif condition.number.currency or condition.number.kind == "percent":
                return None
        asked = {find_lemma(word.folded) for word in measured}
        scores = {
            column: len(rows.header_lemmas(column) & asked) + rows.count_numbered(column, question.text)
            for column in columns
        }
        best = [column for column in columns if scores[column] == max(scores.values()) and scores[column]]
        if len(best) > 1:
            shares = {column: scores[column] / len(rows.header_lemmas(column)) for column in best}
            best = [column for column in best if shares[column] == max(shares.values())]
        if len(best) == 1:
            left.explain(rows.header_lemmas(best[0]))
            if all(word == question.verb and question.condition is None for word in left.words):
                return best[0]
        elif not scores or best:
            return None
        # Columns that contain only a year or a unit in their header are explained by the caption.
        is_named = len(columns) == 1 and not rows.header_lemmas(columns[0]) - _UNITS
        if is_named and not left.words and not question.adjective:
            return columns[0]
        named = [column for column in columns if rows.header_lemmas(column) & find_measures(question.adjective)]
        if len(named) == 1 and not best and not [word for word in left.words if word != question.verb]:
            return named[0]
        candidates = best or columns
        phrase = [word for word in measured if word in left.words or find_lemma(word.folded) not in rows.context]
        chosen = self._read_column(question, rows, left, " ".join(word.text for word in phrase))
        return chosen if chosen in candidates else None

    def _select_periods(
        self, question: TableQuestion, rows: TableRows, numeric: Sequence[int], left: _Unexplained, measured: list[Word]
    ) -> tuple[int, int] | None:
        """Return the columns of two periods of the same measure."""
        groups: dict[tuple[frozenset[str], str], list[tuple[Period, int]]] = {}
        for column in numeric:
            named = rows.header_periods(column)
            if len(named) == 1 and not rows.contradicts(column, question.text):
                key = frozenset(rows.header_lemmas(column)), rows.unit(column)
                groups.setdefault(key, []).append((named[0], column))
        asked = {find_lemma(word.folded) for word in measured}
        groups = {key: columns for key, columns in groups.items() if len(columns) > 1}
        best = [key for key in groups if len(key[0] & asked) == max(len(other[0] & asked) for other in groups)]
        if len(best) != 1:
            return None
        columns = sorted(groups[best[0]])
        known = [period for period, _ in columns]
        wanted = list(question.periods)
        if len(wanted) == 1 and not wanted[0].part:
            wanted.insert(0, Period(wanted[0].year - 1))
        pairs = [match_period(one, known) for one in wanted] or ([[one] for one in known] if len(known) == 2 else [])
        # Equal periods are in several columns, or dates in several months are of the year that is asked for.
        if len(pairs) != 2 or any(len(pair) != 1 for pair in pairs):
            return None
        (earlier,), (later,) = sorted(pairs)
        if known.count(earlier) != 1 or known.count(later) != 1 or earlier.kind != later.kind:
            return None
        left.explain(set(best[0][0]))
        left.explain_periods(question.periods)
        places = dict(columns)
        return None if left.words or earlier == later else (places[earlier], places[later])

    def _read_column(self, question: TableQuestion, rows: TableRows, left: _Unexplained, phrase: str) -> int | None:
        """Return the column in which the model finds the value that some words of the question are about."""
        if any(_is_name(word) for word in left.words) or not (left.words or question.adjective):
            return None
        adjective = question.adjective
        if question.after_most is not None and left.words == [question.after_most]:
            adjective = question.after_most.text
        column = _find_answer_column(question, rows)[0] or 0
        found = set()
        for row in (rows.rows[0], rows.rows[len(rows.rows) // 2]):
            excerpt = build_row_excerpt(self._passage, 0, row.table, row.row)
            if excerpt is None:
                return None
            label = row.text(column)
            asked = f"How {adjective} is {label}?" if adjective else f"What is the {phrase} of {label}?"
            (reading,) = self._read(asked, [excerpt.text])
            place = excerpt.locate(reading.start, reading.end)
            if reading.probability < MIN_PROBABILITY or place is None or place.cell is None:
                return None
            found.add(place.cell.column)
        return found.pop() if len(found) == 1 else None


_MEASURED = (Operation.GREATEST, Operation.LEAST, Operation.DIFFERENCE, Operation.CHANGE)


def _select_pair(
    question: TableQuestion, rows: TableRows, numeric: Sequence[int], left: _Unexplained, measured: Sequence[Word]
) -> tuple[int, int] | None:
    """Return the two columns that a question compares: that of "budget" and of "costs" in "costs exceed the budget"."""
    asked = [find_lemma(word.folded) for word in measured]
    places = {
        column: min(asked.index(one) for one in named)
        for column in numeric
        if (named := rows.header_lemmas(column) & set(asked))
    }
    if question.periods or len(set(places.values())) != 2 or len(places) != 2:
        return None
    later, earlier = sorted(places, key=places.__getitem__)
    if rows.unit(later) != rows.unit(earlier):
        return None
    left.explain(rows.header_lemmas(later) | rows.header_lemmas(earlier))
    return None if left.words else (earlier, later)


def _find_answer_column(question: TableQuestion, rows: TableRows) -> tuple[int | None, bool]:
    """Return the column that says what the question asks for, and whether it asks for a value instead."""
    for noun in question.nouns:
        for column in rows.columns:
            if find_lemma(noun.folded) in rows.header_lemmas(column) and (
                column == 0 or rows.quantities(column) is None
            ):
                return column, False
    if not question.nouns or find_lemma(question.nouns[0].folded) in rows.context:
        return 0, False
    return None, question.is_value


def _find_texts(
    question: TableQuestion, rows: TableRows, without: set[int | None]
) -> tuple[tuple[int, str], ...] | None:
    """Return the texts of cells that the question contains, by column; ``None`` if a column has several of them."""
    found = []
    for column in rows.columns:
        if column in without:
            continue
        texts = rows.find_mentioned_texts(question.text, column)
        if len(texts) > 1:
            return None
        found += [(column, text) for text in texts]
    return tuple(found)


def _find_dates(question: TableQuestion, rows: TableRows, numeric: Sequence[int]) -> tuple[int, Period] | None:
    """Return the only column with dates whose header the question contains, and the only period that it names."""
    if len(question.periods) != 1 or any(rows.header_periods(column) for column in numeric):
        return None
    asked = find_lemmas(question.text)
    columns = [column for column in rows.columns if rows.header_lemmas(column) & asked and rows.dates(column)]
    if len(columns) != 1:
        return None
    return columns[0], question.periods[0]


def _is_of_table(periods: Sequence[Period], rows: TableRows, texts: Sequence[tuple[int, str]]) -> bool:
    """Return whether all periods are those of the table, from its caption or document, or of a text in its cells."""
    known = [*rows.periods, *(one for _, text in texts for one in rows.find_periods(text))]
    return all(match_period(one, known) for one in periods)


def _with_periods(question: TableQuestion, rows: TableRows, columns: Sequence[int], left: _Unexplained) -> list[int]:
    """Return the columns of the periods that the question names, in their headers or for the whole table."""
    named = {column: rows.header_periods(column) for column in columns}
    known = [one for periods in named.values() for one in periods]
    if not question.periods:
        return list(columns)
    if not known:
        fits = all(match_period(one, rows.periods) for one in question.periods)
        return list(columns) if fits else []
    left.explain_periods(question.periods)
    wanted = [match_period(one, known) for one in question.periods]
    return [
        column
        for column, periods in named.items()
        if periods and all(any(one in periods for one in fitting) for fitting in wanted)
        and all(any(one in fitting for fitting in wanted) for one in periods)
    ]  # fmt: skip


def _is_share(rows: TableRows, column: int) -> bool:
    """Return whether a header says that a column contains shares, such as "% of total"."""
    return re.search(r"(?:%|\bper ?cent(?:age)?|\bshare) of\b", rows.header(column), re.IGNORECASE) is not None


def _is_same_unit(unit: str, asked: str) -> bool:
    asked = asked.casefold()
    return bool(unit) and (unit == asked or unit == CURRENCIES.get(asked, asked.removesuffix("s")))


def _selects_rows(
    question: TableQuestion,
    rows: TableRows,
    texts: Sequence[tuple[int, str]],
    dated: tuple[int, Period] | None,
    left: _Unexplained,
) -> bool:
    """Return whether the texts and dates that the question names select the rows, and it names nothing else.

    Only verbs such as "marked" may be left, at most one for each text or date.
    """
    number = len(texts) + (dated is not None)
    is_explained = len(left.words) <= number and not any(_is_name(word) for word in left.words)
    return number > 0 and is_explained and (dated is not None or _is_of_table(question.periods, rows, texts))


def _is_name(word: Word) -> bool:
    return any(char.isdigit() for char in word.text) or (word.start > 0 and word.text[:1].isupper())
