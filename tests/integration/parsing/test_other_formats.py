"""What files of other formats than PDF give, and what hostile and broken ones do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rag_core.errors import DamagedDocument, DocumentTooLarge, EncryptedDocument, RejectedDocument
from rag_core.parsing.parser import DocumentParser
from rag_core.parsing.workers.document_reader import Attachment, DocumentHeader
from rag_core.types.documents import Page
from tests.support.documents import (
    HEADING,
    ROWS,
    change_part,
    encrypt_office,
    make_csv,
    make_docx,
    make_epub,
    make_html,
    make_mail,
    make_markdown,
    make_opendocument,
    make_picture,
    make_pptx,
    make_rtf,
    make_xlsx,
    make_zip,
    with_part,
)

SENTENCE = "The ferry was launched in 1931 and refitted twice."
ENTITY = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
LAUGHS = '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY x "&a;&a;&a;">]>'
REMOTE = '<img src="http://203.0.113.1/a.png"><iframe src="http://203.0.113.1/"></iframe><script>document.write("Ran")</script>'

FILES = {
    "a.docx": make_docx(SENTENCE),
    "a.pptx": make_pptx(SENTENCE),
    "a.xlsx": make_xlsx(SENTENCE),
    "a.odt": make_opendocument("text", SENTENCE),
    "a.ods": make_opendocument("spreadsheet", SENTENCE),
    "a.odp": make_opendocument("presentation", SENTENCE),
    "a.rtf": make_rtf(SENTENCE),
    "a.epub": make_epub(SENTENCE),
    "a.html": make_html(SENTENCE, REMOTE),
    "a.md": make_markdown(SENTENCE),
    "a.eml": make_mail("Plain.", make_html(SENTENCE, REMOTE).decode()),
    "a.csv": make_csv([*ROWS, (SENTENCE, "", "")]),
}


@pytest.fixture(scope="module")
def parser() -> Iterator[DocumentParser]:
    with closing(DocumentParser(ocr="auto", max_decompressed_mb=60)) as parser:
        yield parser


class Reading:
    """What a file gives."""

    def __init__(self, parser: DocumentParser, path: Path, name: str, data: bytes, password: str | None = None) -> None:
        path.write_bytes(data)
        parts = list(parser.parse(path, name=name, password=password))
        self.header = next(part for part in parts if isinstance(part, DocumentHeader))
        self.pages = [part for part in parts if isinstance(part, Page)]
        self.attached = {part.name: part.data for part in parts if isinstance(part, Attachment)}
        self.text = "\n".join(page.text for page in self.pages)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "0a1b2c"


@pytest.mark.parametrize("name", FILES)
def test_text_heading_table_and_highlight(parser: DocumentParser, path: Path, name: str) -> None:
    reading = Reading(parser, path, name, FILES[name])
    page = reading.pages[0]
    assert "Ran" not in reading.text
    assert "hidden" not in reading.text
    start = page.text.index(SENTENCE)
    assert len(page.boxes.find_overlapping(start, start + len(SENTENCE))) == len(SENTENCE.split())
    if name not in ("a.rtf", "a.csv"):  # RTF shows it in bold only
        assert [heading.title for heading in page.headings or ()][:1] == [HEADING]
    (table,) = page.tables
    assert table.column_header(2) == "2024"
    row = next(row for row in table.body if row.label == "Ferry")
    cell = row.cell(2)
    assert cell is not None
    assert [page.text[slice(*span)] for span in cell.spans] == [cell.text] == ["1,310"]
    x0, _, x1, _ = page.boxes.find_overlapping(*cell.spans[0])[0] * page.width
    assert table.columns[2][0] <= x0 < x1 <= table.columns[2][1]


def test_pages_of_sheets_are_called_by_their_cells(parser: DocumentParser, path: Path) -> None:
    reading = Reading(parser, path, "a.xlsx", make_xlsx(SENTENCE, rows=60))
    assert [page.page_label for page in reading.pages] == ["Boats!A1:C27", "Boats!A28:C54", "Boats!A55:C65"]
    assert [page.tables[0].column_header(1) for page in reading.pages] == ["2023"] * 3
    assert [page.tables[0].first_page for page in reading.pages] == [None, 0, 0]


def test_merged_cell_covers_no_row_below_its_last_one(parser: DocumentParser, path: Path) -> None:
    rows = "".join(
        f'<row r="{row}"><c r="B{row}" t="str"><v>Barge {row}</v></c><c r="C{row}"><v>{row}</v></c></row>'
        for row in (14, 15, 18, 19)
    )
    merged = '<mergeCells><mergeCell ref="A14:A17"/></mergeCells>'
    rows = rows.replace('<c r="B14"', '<c r="A14" t="str"><v>Docked</v></c><c r="B14"')
    data = change_part(FILES["a.xlsx"], "xl/worksheets/sheet1.xml", "</sheetData>", f"{rows}</sheetData>{merged}")
    reading = Reading(parser, path, "a.xlsx", data)
    docked = [row.number for row in reading.pages[0].tables[0].rows if "Docked" in [cell.text for cell in row.cells]]
    assert docked == [14, 15]


def test_files_in_a_mail_are_attached(parser: DocumentParser, path: Path) -> None:
    inner = make_mail("An inner mail.", rates_csv=FILES["a.csv"])
    reading = Reading(parser, path, "a.eml", make_mail(SENTENCE, b_docx=FILES["a.docx"], inner_eml=inner))
    assert reading.attached == {"b.docx": FILES["a.docx"], "inner.eml": inner}
    assert reading.pages[0].heading == HEADING


def test_each_frame_of_a_picture_is_a_page(parser: DocumentParser, path: Path) -> None:
    reading = Reading(
        parser, path, "a.tiff", make_picture("Berth seven is closed.", "Berth nine is open.", kind="TIFF")
    )
    assert [page.text for page in reading.pages] == ["Berth seven is closed.", "Berth nine is open."]
    assert all(len(page.boxes.rects) == 4 for page in reading.pages)


def test_encrypted_office_file_needs_its_password(parser: DocumentParser, path: Path) -> None:
    data = encrypt_office(FILES["a.docx"], "secret")
    for password in (None, "wrong"):
        with pytest.raises(EncryptedDocument, match=r"^a\.docx is encrypted.* Give its password"):
            Reading(parser, path, "a.docx", data, password)
    assert SENTENCE in Reading(parser, path, "a.docx", data, "secret").text


LINK = '<w:p><w:hyperlink r:id="rId9" xmlns:r="r"><w:r><w:t>Follow me</w:t></w:r></w:hyperlink></w:p>'


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("macro.docm", with_part(FILES["a.docx"], "word/vbaProject.bin", b"Sub Run()")),
        (
            "link.docx",
            change_part(FILES["a.docx"], "word/document.xml", "<w:sectPr", f"{LINK}<w:sectPr"),
        ),
        ("link.html", FILES["a.html"]),
        ("entity.html", FILES["a.html"].replace(b"<!doctype html>", f"<!doctype html>{ENTITY}<p>&x;</p>".encode())),
    ],
)
def test_macros_and_links_do_nothing(parser: DocumentParser, path: Path, name: str, data: bytes) -> None:
    reading = Reading(parser, path, name, data)
    assert SENTENCE in reading.text
    assert Path("/etc/hostname").read_text().strip() not in reading.text


def bomb() -> bytes:
    return make_zip({"word/document.xml": b"<a>" + b" " * 50_000_000 + b"</a>"})


@pytest.mark.parametrize(
    ("name", "data", "error", "reason"),
    [
        ("a.docx", bomb(), DocumentTooLarge, "unpacks to more than 200 times its size"),
        (
            "a.xlsx",
            make_zip({"xl/workbook.xml": b" " * 9_000_000} | {str(n): b" " * 9_000_000 for n in range(8)}),
            DocumentTooLarge,
            "unpacks to 81 MB",
        ),
        *(
            (name, change_part(FILES[name], part, "?>", f"?>{attack}"), DamagedDocument, "defines entities")
            for name, part in (
                ("a.docx", "word/document.xml"),
                ("a.xlsx", "xl/sharedStrings.xml"),
                ("a.pptx", "ppt/slides/slide1.xml"),
                ("a.odt", "content.xml"),
            )
            for attack in (ENTITY, LAUGHS)
        ),
        *(
            (name, with_part(FILES[name], part, data), DamagedDocument, f"{part} defines entities")
            for name, part, data in (
                ("a.pptx", "ppt/drawings/vmlDrawing1.vml", f"{LAUGHS}<xml>&x;</xml>".encode()),
                ("a.pptx", "ppt/slides/slide1.xml", f"{LAUGHS}<a>&x;</a>".encode("utf-16")),
                ("a.docx", "word/styles.xml", f"\n{ENTITY}<a>&x;</a>".encode("utf-16-be")),
            )
        ),
        (
            "a.ods",
            change_part(
                FILES["a.ods"],
                "content.xml",
                "<table:table-row><table:table-cell><text:p>Tug",
                '<table:table-row table:number-rows-repeated="1000000000"><table:table-cell><text:p>Tug',
            ),
            DocumentTooLarge,
            "repeats a row with text more than 100,000 times",
        ),
        ("a.docx", FILES["a.docx"][:-9000], DamagedDocument, "it is cut off"),
        ("a.xlsx", FILES["a.xlsx"][:3000], DamagedDocument, "it is cut off"),
        ("a.rtf", FILES["a.rtf"][:-1], DamagedDocument, "it is cut off"),
        ("a.png", make_picture("Half a picture.")[:-900], DamagedDocument, "damaged"),
        (
            "a.odt",
            make_zip({"META-INF/manifest.xml": "<encryption-data/>"}, "application/vnd.oasis.opendocument.text"),
            DamagedDocument,
            "it is encrypted; save it without a password",
        ),
        ("a.html", b"<!doctype html><p hidden>Nothing to see</p>", RejectedDocument, "has no text on any page"),
    ],
)
def test_hostile_and_broken_files_are_refused(
    parser: DocumentParser, path: Path, name: str, data: bytes, error: type[RejectedDocument], reason: str
) -> None:
    with pytest.raises(error, match=reason) as caught:
        Reading(parser, path, name, data)
    assert str(caught.value).startswith(f"{name} ")


def test_large_table_is_read_to_its_end(parser: DocumentParser, path: Path) -> None:
    lines = "\n".join(f"{number},Barge {number},{number * 3}" for number in range(1, 20_000))
    reading = Reading(parser, path, "a.csv", f"Number,Name,Tons\n{lines}".encode())
    assert reading.header.page_count == len(reading.pages)
    assert reading.pages[-1].text.endswith("19999 Barge 19999 59997")
    assert reading.pages[-1].tables[0].column_header(2) == "Tons"
