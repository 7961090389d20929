"""Create PDFs and their questions, for `benchmarks.with_model` and `benchmarks.list_answers`.

    python -m benchmarks.office_documents OUT [--set office|answers]

Each set has 40 questions. ``benchmarks/office`` has six documents of a small office; 28 of its questions have an answer
in the documents, and the other 12 are about facts that the documents do not state. ``benchmarks/answers`` has a
contract, a manual, a standard, a scientific paper and minutes; 36 of its questions have an answer.

The documents are text files. In these files, a line that starts with ``#`` is a heading, a line that starts with ``|``
is a table row, a line with only ``=`` is a page break, and any other line is a paragraph.
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
    parser.add_argument("--set", choices=("office", "answers"), default="office")
    arguments = parser.parse_args()
    folder, sources = arguments.out, SOURCES.with_name(arguments.set)
    (folder / "pdfs").mkdir(parents=True, exist_ok=True)
    for source in sorted(sources.glob("*.txt")):
        document = SimpleDocTemplate(str(folder / "pdfs" / f"{source.stem}.pdf"), pagesize=A4, title=source.stem)
        document.build(list(blocks(source.read_text("utf-8"))))
    shutil.copy(sources / "questions.jsonl", folder / "questions.jsonl")


if __name__ == "__main__":
    main()
