"""Create the PDFs and questions of a small office, for `benchmarks.with_model`.

    python -m benchmarks.office_documents OUT

The six documents are text files in ``benchmarks/office``. In these files, a line that starts with ``#`` is a heading,
a line that starts with ``|`` is a table row, a line with only ``=`` is a page break, and any other line is a paragraph.
Of the 40 questions, 28 have an answer in the documents; the other 12 are about facts that the documents do not state.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate, Table

SOURCES = Path(__file__).with_name("office")


def blocks(text: str) -> Iterator[Flowable]:
    """Yield the headings, paragraphs, tables and page breaks of a document, in order."""
    styles = getSampleStyleSheet()
    for is_table, group in groupby(text.splitlines(), key=lambda line: line.startswith("|")):
        lines = list(group)
        if is_table:
            rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
            yield Table(rows, style=[("LINEBELOW", (0, 0), (-1, 0), 0.5, colors.black)], hAlign="LEFT", spaceAfter=8)
            continue
        for line in lines:
            mark, _, heading = line.partition(" ")
            if line == "=":
                yield PageBreak()
            elif mark in ("#", "##"):
                yield Paragraph(escape(heading), styles["Heading1" if mark == "#" else "Heading2"])
            else:
                yield Paragraph(escape(line), styles["BodyText"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    folder = parser.parse_args().out
    (folder / "pdfs").mkdir(parents=True, exist_ok=True)
    for source in sorted(SOURCES.glob("*.txt")):
        document = SimpleDocTemplate(str(folder / "pdfs" / f"{source.stem}.pdf"), pagesize=A4, title=source.stem)
        document.build(list(blocks(source.read_text("utf-8"))))
    shutil.copy(SOURCES / "questions.jsonl", folder / "questions.jsonl")


if __name__ == "__main__":
    main()
