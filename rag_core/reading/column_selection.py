"""Find the columns and cells of a table that a question over its rows is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from rag_core.reading.excerpts import build_row_excerpt
from rag_core.reading.table_questions import Operation, TableQuestion
from rag_core.reading.table_rows import PlacedRow, TableRows, find_lemmas
from rag_core.text.numbers import CURRENCIES
from rag_core.text.words import Word, find_lemma
from rag_core.types import Passage, Reading

# Least probability with which the model must find the value in a column.
MIN_PROBABILITY = 0.9

Read = Callable[[str, Sequence[str]], Iterator[Reading]]


@dataclass(frozen=True, slots=True)
class Selection:
    """The parts of a table that a question is about.

    Attributes
    ----------
    answer : int or None
        The column whose texts answer the question; ``None`` if the question asks for the value itself.
    column : int or None
        The column whose numbers are compared.
    years : (int, int) or None
        The columns of an earlier and a later year.
    texts : tuple of (int, str)
        Columns, and the text that a row must have in them.
    labels : tuple of PlacedRow
        The rows that the question names, in its order.
    explained : int
        Number of words of the question that the table explains.
    """

    answer: int | None
    column: int | None = None
    years: tuple[int, int] | None = None
    texts: tuple[tuple[int, str], ...] = ()
    labels: tuple[PlacedRow, ...] = ()
    explained: int = 0


@dataclass(slots=True)
class _Unexplained:
    """The words of a question that no part of the table explains yet."""

    words: list[Word]
    known: set[str] = field(default_factory=set)

    def explain(self, known: set[str]) -> None:
        self.known |= known
        self.words = [word for word in self.words if find_lemma(word.folded) not in known]


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

    def __init__(self, passage: Passage, read: Read) -> None:
        self._passage = passage
        self._read = read

    def select(self, question: TableQuestion, rows: TableRows) -> Selection | None:
        """Return the cells of a table for a question; ``None`` if they are not clear or the table is about others."""
        left = _Unexplained(list(question.words))
        noun_column, is_value = _find_answer_column(question, rows)
        if noun_column is None and not is_value:
            return None
        labels = rows.mentioned(question.text, 0)
        is_difference = question.operation is Operation.DIFFERENCE
        if bool(labels) != is_difference or len(labels) > 2:
            return None
        if noun_column is not None and question.nouns:
            left.explain(rows.header_lemmas(noun_column))
        named = sorted(labels, key=lambda label: question.text.casefold().find(label.casefold()))
        left.explain(find_lemmas(" ".join(labels)))
        texts = () if is_difference else _find_texts(question, rows, {noun_column, 0})
        if texts is None:
            return None
        for column, text in texts:
            left.explain(find_lemmas(text) | rows.header_lemmas(column))
        measured = list(left.words)
        left.explain(rows.context)
        columns = [column for column in rows.columns if column and column not in {one for one, _ in texts}]
        numeric = [column for column in columns if rows.header(column) and rows.quantities(column) is not None]
        found: int | tuple[int, int] | None = None
        needs_years = question.operation is Operation.CHANGE or (is_difference and len(labels) == 1)
        if needs_years:
            found = self._select_years(question, rows, numeric, left, measured)
            if found is None and is_difference:
                found = _select_pair(question, rows, numeric, left, measured)
        elif question.operation in (Operation.GREATEST, Operation.LEAST) or question.comparison or is_difference:
            found = self._select_column(question, rows, numeric, left, measured)
        elif not texts or not _is_explained(left, len(texts), question):
            return None
        if found is None and (needs_years or not texts or question.comparison or question.operation in _MEASURED):
            return None
        return Selection(
            noun_column,
            column=found if isinstance(found, int) else None,
            years=found if isinstance(found, tuple) else None,
            texts=texts,
            labels=tuple(row for name in named for row in rows.rows if row.text(0) == name),
            explained=len(question.words) - len(left.words),
        )

    def _select_column(
        self, question: TableQuestion, rows: TableRows, numeric: Sequence[int], left: _Unexplained, measured: list[Word]
    ) -> int | None:
        columns = _with_years(question, rows, numeric, left)
        comparison = question.comparison
        unit = comparison.unit.casefold() if comparison else ""
        if comparison is not None and (comparison.number.currency or unit):
            same = [
                column for column in columns if _is_same_unit(rows.unit(column), comparison.number.currency or unit)
            ]
            if same:
                columns = same
                left.explain(find_lemmas(unit) | {unit})
                if len(same) == 1 and [word for word in left.words if word is not question.verb] == []:
                    return same[0]
                measured = [word for word in measured if word.folded != unit]
            elif comparison.number.currency or comparison.number.kind == "percent":
                return None
        asked = {find_lemma(word.folded) for word in measured}
        scores = {column: len(rows.header_lemmas(column) & asked) for column in columns}
        best = [column for column in columns if scores[column] == max(scores.values()) and scores[column]]
        if len(best) > 1:
            shares = {column: scores[column] / len(rows.header_lemmas(column)) for column in best}
            best = [column for column in best if shares[column] == max(shares.values())]
        if len(best) == 1:
            left.explain(rows.header_lemmas(best[0]))
            if all(word == question.verb and question.comparison is None for word in left.words):
                return best[0]
        elif not scores or best:
            return None
        # Columns that contain only a year in their header are explained by the caption.
        if len(columns) == 1 and not rows.header_lemmas(columns[0]) and not left.words and not question.adjective:
            return columns[0]
        candidates = best or columns
        phrase = [word for word in measured if word in left.words or find_lemma(word.folded) not in rows.context]
        chosen = self._read_column(question, rows, left, " ".join(word.text for word in phrase))
        return chosen if chosen in candidates else None

    def _select_years(
        self, question: TableQuestion, rows: TableRows, numeric: Sequence[int], left: _Unexplained, measured: list[Word]
    ) -> tuple[int, int] | None:
        """Return the columns of two years of the same measure."""
        groups: dict[tuple[frozenset[str], str], dict[int, int]] = {}
        for column in numeric:
            named = rows.header_years(column)
            if len(named) == 1:
                key = frozenset(rows.header_lemmas(column)), rows.unit(column)
                groups.setdefault(key, {}).setdefault(min(named), column)
        asked = {find_lemma(word.folded) for word in measured}
        groups = {key: by_year for key, by_year in groups.items() if len(by_year) > 1}
        best = [key for key in groups if len(key[0] & asked) == max(len(other[0] & asked) for other in groups)]
        if len(best) != 1:
            return None
        columns = groups[best[0]]
        years: list[int] = question.years or (sorted(columns) if len(columns) == 2 else [])
        if len(years) == 1:
            years = [years[0] - 1, years[0]]
        if len(years) != 2 or any(year not in columns for year in years):
            return None
        left.explain({*best[0][0], *map(str, years)})
        return None if left.words else (columns[years[0]], columns[years[1]])

    def _read_column(self, question: TableQuestion, rows: TableRows, left: _Unexplained, phrase: str) -> int | None:
        """Return the column in which the model finds the value that some words of the question are about."""
        if any(_is_name(word, question) for word in left.words) or not (left.words or question.adjective):
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
    if question.years or len(set(places.values())) != 2 or len(places) != 2:
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
        texts = rows.mentioned(question.text, column)
        if len(texts) > 1:
            return None
        found += [(column, text) for text in texts]
    return tuple(found)


def _with_years(question: TableQuestion, rows: TableRows, columns: Sequence[int], left: _Unexplained) -> list[int]:
    """Return the columns of the year that the question names; all if the headers contain no years."""
    if not any(rows.header_years(column) for column in columns):
        return list(columns)
    years = set(question.years)
    if not years:
        return list(columns)
    left.explain({str(year) for year in years})
    return [column for column in columns if rows.header_years(column) == years]


def _is_same_unit(unit: str, asked: str) -> bool:
    asked = asked.casefold()
    return bool(unit) and (unit == asked or unit == CURRENCIES.get(asked, asked.removesuffix("s")))


def _is_explained(left: _Unexplained, number: int, question: TableQuestion) -> bool:
    """Return whether only verbs such as "marked" may be left: as many words as there are texts, and no names."""
    return len(left.words) <= number and not any(_is_name(word, question) for word in left.words)


def _is_name(word: Word, question: TableQuestion) -> bool:
    return any(char.isdigit() for char in word.text) or (word.start > 0 and word.text[:1].isupper())
