"""Find the cells that a question names with all its words: their row, their columns and their document."""

from __future__ import annotations

import re

from rag_core.reading.cell_values import parse_quantity, remove_unit
from rag_core.reading.table_rows import find_acronyms, find_joined_names, find_lemmas, find_lemmas_without_periods
from rag_core.text.dates import find_periods, match_period
from rag_core.text.words import find_lemma, tokenize
from rag_core.types.tables import Table, TableCell, TableRow

_PERCENT = re.compile(r"%|\b(?:per ?cent(?:age)?|share|proportion|rate|ratio|margin|growth|change)\b", re.IGNORECASE)
# Words of questions for values that say nothing about the value, or only its scale.
_REPORTING = frozenset(
    map(find_lemma, "amount billion book disclose have million much post record report show state thousand".split())
)


# The noun after the name of a segment, which tables give without it. "Acme's segment profit" is another measure.
_NAMED_SEGMENT = re.compile(r"\b[A-Z][\w&-]+ (segment|division)\b")


def list_asked_words(question: str, document: str) -> list[str]:
    """Return the content words of a question in lower case, without its periods and the name of a document."""
    asked = find_lemmas_without_periods(question) - find_joined_names(question, document) - find_lemmas(document)
    words = (word for word in tokenize(question) if word.content and find_lemma(word.folded) in asked)
    return list(dict.fromkeys(word.text.casefold() for word in words))


def list_named_sections(question: str, row: TableRow) -> list[str]:
    """Return the sections of a row of which a question contains all words."""
    asked = find_lemmas_without_periods(question)
    return [one for one in row.section if (names := find_lemmas_without_periods(remove_unit(one))) and names <= asked]


def find_named_cells(
    question: str, table: Table, row: TableRow, document: str, heading: str, *, with_caption: bool
) -> list[TableCell]:
    """Return the cells with figures that a question asks for, one for each period that it names.

    The list is empty unless the question contains all words of the row label and of the headers, and each of its other
    content words is in the name of the document, the sections, the headers or, with ``with_caption``, the caption. The
    heading above the table explains only names.

    Parameters
    ----------
    question : str
    table : Table
    row : TableRow
    document : str
        The name and the title of the document.
    heading : str
    with_caption : bool
    """
    asked, label = find_lemmas_without_periods(question), find_lemmas_without_periods(remove_unit(row.label))
    if not label or not label <= asked:
        return []
    asks_percent = _PERCENT.search(question) is not None
    headers = {
        cell.column: remove_unit(table.column_header(cell.column))
        for cell in row.cells
        if cell.column and (quantity := parse_quantity(cell.text)) and (asks_percent or quantity.unit != "%")
    }
    company = find_lemmas(document) | find_joined_names(question, f"{document} {heading}")
    # "Blizzard" in "Activision Blizzard" names the company, not the column of a segment.
    named = {column for column, header in headers.items() if find_lemmas_without_periods(header) <= asked - company}
    captions = table.caption if with_caption else ()
    # "Organic net sales" does not explain "net sales".
    sections = list_named_sections(question, row)
    known = find_lemmas(" ".join([*captions, *sections, *(headers[one] for one in named)]))
    missing = asked - label - known - company - _REPORTING
    missing -= {find_lemma(noun) for noun in _NAMED_SEGMENT.findall(question)}
    if missing and missing - find_acronyms(question, "\n".join([*captions, *sections, *headers.values()])):
        return []
    dated = {column: find_periods(headers[column]) for column in named}
    periods = [one for found in dated.values() for one in found]
    # Without periods in the headers, all cells are of the period in the caption.
    above = [] if periods else find_periods(" ".join([*table.caption, *row.section]))
    wanted = [match_period(one, periods or above) for one in find_periods(question)]
    columns = [[one for one in named if dated[one] and all(part in fit for part in dated[one])] for fit in wanted]
    if not wanted or (above and len(wanted) == 1 and wanted[0]):
        columns = [sorted(named)]
    if any(len(fitting) != 1 for fitting in columns):
        return []
    cells = {cell.column: cell for cell in row.cells}
    return [cells[column] for (column,) in columns]
