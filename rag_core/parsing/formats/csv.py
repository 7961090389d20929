"""The format CSV, with any of the usual separators."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import BinaryIO

from rag_core.parsing.flow.content import Content
from rag_core.parsing.flow.recognition import is_text
from rag_core.parsing.formats.base import UnreadableError
from rag_core.parsing.formats.flow import FlowFormat, build_parser_version, describe

_SEPARATORS = ",;\t|"
_SAMPLE_ROWS = 50
_MAX_FIELD = 1_000_000


class CsvFormat(FlowFormat):
    """Tables as text."""

    description = describe("CSV", "CSV file", (".csv", ".tsv"), "text/csv")
    parser_version = build_parser_version("csv", 2)
    needs_suffix = True

    def recognizes(self, file: BinaryIO) -> bool:
        return is_text(file)

    def read(self, path: Path, password: str | None, max_unpacked: int | None) -> Content:
        from rag_core.parsing.flow.plain_text import read_text
        from rag_core.parsing.flow.sheets import SheetCell, lay_out_sheet

        text = read_text(path)
        csv.field_size_limit(_MAX_FIELD)
        try:
            rows = list(csv.reader(text.splitlines(keepends=True), delimiter=_find_separator(text)))
        except csv.Error as error:
            raise UnreadableError(f"{error}") from None
        cells = (
            (number, [SheetCell(column, value) for column, value in enumerate(row) if value.strip()])
            for number, row in enumerate(rows, 1)
        )
        return Content(lay_out_sheet("", cells))


def _find_separator(text: str) -> str:
    """Return the separator with which the largest share of the first rows has the same number of columns, at least two.

    If several separators have this share, the one with the most columns is returned. If no
    separator gives two columns, a comma is returned.
    """
    lines = text.splitlines(keepends=True)[:_SAMPLE_ROWS]
    best, most = ",", (0.0, 0)
    for separator in _SEPARATORS:
        counts = [len(row) for row in csv.reader(lines, delimiter=separator) if row]
        usual = max(set(counts), key=counts.count, default=0)
        if usual > 1 and (rank := (counts.count(usual) / len(counts), usual)) > most:
            best, most = separator, rank
    return best
