"""Measure how many cells of drawn tables are found, each with the right row label and column header.

    python -m benchmarks.tables [--each N] [--seed SEED] [--show KIND]

`benchmarks.table_documents` draws N documents in each layout. A cell is right if its text, the label of its row and the
header of its column are those that were drawn. The table has precision and recall of cells by layout; for layouts
without a table, it has the number of cells that were found.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.table_documents import LAYOUTS, Cell
from rag_core.parsing.parser import DocumentParser
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.documents import Page
from rag_core.types.tables import Table


def find_cells(table: Table) -> list[Cell]:
    """Return the cells below the header and right of the labels, with row label and column header."""
    return [
        (row.label, table.column_header(cell.column).replace(HEADING_SEPARATOR, " "), cell.text)
        for row in table.body
        for cell in row.cells
        if cell.column
    ]


def _normalize(cell: Cell) -> tuple[str, ...]:
    return tuple("".join(part.split()) for part in cell)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=4, help="documents of each layout")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", metavar="KIND", help="print the wrong tables of a layout")
    options = parser.parse_args()
    reader = DocumentParser(ocr="off")
    total: Counter[str] = Counter()
    print(f"{'layout':32}{'tables':>7}{'cells':>7}{'precision':>11}{'recall':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for kind, draw in LAYOUTS.items():
            count: Counter[str] = Counter()
            for number in range(options.each):
                path = Path(folder) / f"{kind}-{number}.pdf"
                truth = draw(random.Random(f"{options.seed} {kind} {number}"), path)
                tables = [table for page in reader.parse(path) if isinstance(page, Page) for table in page.tables]
                found = Counter(map(_normalize, (cell for table in tables for cell in find_cells(table))))
                wanted = Counter(map(_normalize, truth))
                right = (found & wanted).total()
                count.update(tables=len(tables), found=found.total(), wanted=wanted.total(), right=right)
                if options.show == kind and right < max(found.total(), wanted.total()):
                    print(*(table.to_markdown() for table in tables), f"missing: {wanted - found}", sep="\n\n")
            total.update(count)
            _print_row(kind, count)
    _print_row("all", total)
    reader.close()


def _print_row(kind: str, count: Counter[str]) -> None:
    precision = f"{count['right'] / count['found']:.3f}" if count["found"] else "-"
    recall = f"{count['right'] / count['wanted']:.3f}" if count["wanted"] else "-"
    print(f"{kind:32}{count['tables']:7}{count['found']:7}{precision:>11}{recall:>8}")


if __name__ == "__main__":
    main()
