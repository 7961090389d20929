"""Tables that go on over a page end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

from rag_core.parsing.layout.hyphenation import Vocabulary, join_hyphenated
from rag_core.parsing.parser import DocumentParser
from rag_core.parsing.workers.messages import decode_message, encode_message, pack_page, unpack_page
from rag_core.types.documents import Page
from tests.support.drawn_pdfs import SALES, make, read, rows

STYLES = getSampleStyleSheet()
HEAD = ["Station", "2022", "2023"]
BODY = [[f"Station {number}", str(2 * number + 301), str(3 * number + 302)] for number in range(60)]


@pytest.fixture(scope="module")
def parser():
    parser = DocumentParser(ocr="off")
    yield parser
    parser.close()


def parse(parser: DocumentParser, path: Path, *flow, footer: str = "") -> list[Page]:
    def draw_footer(canvas, _) -> None:
        canvas.drawString(72, 30, footer)

    document = SimpleDocTemplate(str(path / "tables.pdf"), pagesize=A4)
    document.build(list(flow), onFirstPage=draw_footer, onLaterPages=draw_footer)
    return [item for item in parser.parse(path / "tables.pdf") if isinstance(item, Page)]


@pytest.mark.parametrize("repeat", [0, 1])
@pytest.mark.parametrize("footer", ["", "Rain report of the weather service"])
def test_second_part_has_the_headers_of_the_first(
    tmp_path: Path, parser: DocumentParser, repeat: int, footer: str
) -> None:
    pages = parse(parser, tmp_path, Table([HEAD, *BODY], repeatRows=repeat), footer=footer)
    (first,), (second,) = (page.tables for page in pages)
    assert (first.first_page, second.first_page) == (None, 0)
    assert [second.column_header(column) for column in range(3)] == HEAD
    row = next(row for row in second.body if row.label == "Station 55")
    assert [cell.text for cell in row.cells] == BODY[55]
    assert all(bool(cell.spans) == bool(repeat) for cell in second.headers[0].cells)


def test_part_after_prose_is_another_table(tmp_path: Path, parser: DocumentParser) -> None:
    prose = Paragraph("The stations of the north are listed on this page. " * 5, STYLES["BodyText"])
    pages = parse(parser, tmp_path, Table([HEAD, *BODY[:36]]), Spacer(1, 100), prose, Table(BODY[40:45]))
    assert [table.first_page for page in pages for table in page.tables] == [None, None]


def test_table_with_other_headers_is_another_table(tmp_path: Path, parser: DocumentParser) -> None:
    other = Table([["Town", "2020", "2021"], *BODY[:5]])
    pages = parse(parser, tmp_path, Table([HEAD, *BODY[:36]]), Spacer(1, 60), other)
    assert [table.first_page for page in pages for table in page.tables] == [None, None]
    assert pages[1].tables[0].column_header(0) == "Town"


def test_tables_survive_the_message_of_a_worker(tmp_path: Path) -> None:
    parsed = read(make(tmp_path / "page.pdf", rows(*SALES)))
    assert unpack_page(decode_message(encode_message(pack_page(parsed)))).page.tables == parsed.page.tables != ()


def test_cells_move_with_the_text_when_hyphens_are_removed(tmp_path: Path) -> None:
    parsed = read(make(tmp_path / "page.pdf", rows(*SALES)))
    page = parsed.page
    divided = ((0, "infor", "mation"), (page.text.index("3,642"), "avail", "able"))
    text = f"-{page.text[: divided[1][0] - 1]}-{page.text[divided[1][0] - 1 :]}"
    shifted = [table.map_offsets(lambda place: place + 1 + (place >= divided[1][0])) for table in page.tables]
    moved = replace(parsed, page=replace(page, text=text, tables=tuple(shifted)), divided=divided)
    assert join_hyphenated(moved, Vocabulary()).page.tables == page.tables
