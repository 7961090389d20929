"""Running headers and footers, headings, and sections that continue on later pages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core.parsing.layout.assembly import PageAssembler
from rag_core.parsing.layout.headers_footers import HeadersFooters, find_edges, find_headers_footers
from rag_core.parsing.layout.headings import Sections
from rag_core.text.outline import shorten_heading
from rag_core.types.documents import WATERMARK, HeadingLine, Page, PageState, ParsedPage, WordBoxes, insert_text
from rag_core.types.tables import Table, TableCell, TableRow
from tests.support.drawn_pdfs import PROSE, lines, make, read


def assemble(texts: list[str], name: str = "acme_annual_report.pdf") -> list[Page]:
    assembler = PageAssembler(name=name)
    pages = []
    for index, text in enumerate(texts):
        pages += assembler.add(ParsedPage(Page(index, str(index + 1), text, PageState.TEXT)))
    return pages + list(assembler.flush())


def skipped(page: Page) -> list[str]:
    return [page.text[start:end] for start, end in page.skip]


def test_headers_and_footers_are_marked_and_kept_in_the_text() -> None:
    texts = [
        f"ACME Annual Report\nParagraph {n} says {word} things.\nAnd {word} ones no more.\nPage {n} of 9"
        for n, word in enumerate(("new", "old", "odd", "big", "red", "few", "sad", "own", "low"), 1)
    ]
    for number, page in enumerate(assemble(texts), 1):
        assert skipped(page) == ["ACME Annual Report", f"Page {number} of 9"]
        assert page.text == texts[number - 1]


SECTION_BODY = "\n".join(f"line {number}" for number in range(9))
BODIES = [f"Visit to the {place} doctor.\nAll is {word} there." for place, word in zip("abcdef", "uvwxyz", strict=True)]


def test_first_page_keeps_an_informative_header() -> None:
    header = "Patient: Anna Berg Blood group: AB negative"
    pages = assemble([f"{header}\nPage {n} of 6\n{body}\n{n}" for n, body in enumerate(BODIES, 1)])
    assert skipped(pages[0]) == ["1"]  # the line between header and text is kept with both
    assert [skipped(page) for page in pages[1:]] == [[header, f"Page {n} of 6", str(n)] for n in range(2, 7)]


def test_changed_header_is_kept_once() -> None:
    texts = [f"Account {4471 + n // 6} page {n + 1}\n{body}" for n, body in enumerate(BODIES * 2)]
    assert [number for number, page in enumerate(assemble(texts)) if not page.skip] == [0, 6]


@pytest.mark.parametrize(
    "line",
    [
        "Acme Report {n}",
        "{n}/6",
        "– {n} –",
        "11/23/26, 1:05 PM Acme report",
        "https://acme.com/a.html {n}/6",
        "Contents",
    ],
)
def test_uninformative_line_is_left_out_on_every_page(line: str) -> None:
    pages = assemble([f"{body}\n{line.format(n=n)}" for n, body in enumerate(BODIES, 1)])
    assert [skipped(page) for page in pages] == [[line.format(n=n)] for n in range(1, 7)]


NUMBERS = "one two three four five six seven eight".split()


@pytest.mark.parametrize(
    "texts",
    [
        [f"2022 2021 2020\n{name} 1 2 3\nTotal {name} 4 5 6" for name in NUMBERS[:6]],
        [f"NOTE {number // 2}\nText of {number // 2}.\nNo. {number // 2} ends." for number in range(40, 56)],
        [f"{'Cash Flows' if n < 3 else f'Section {name}'}\n{name} text\nmore {name}" for n, name in enumerate(NUMBERS)],
        ["Hello world"] * 5,
    ],
    ids=["table header", "numbers of notes", "title of three pages", "pages of one line"],
)
def test_other_repeated_lines_are_kept(texts: list[str]) -> None:
    assert [page.skip for page in assemble(texts)] == [()] * len(texts)


def test_ocr_pages_are_passed_on_at_once() -> None:
    assembler = PageAssembler()
    read_pages = [ParsedPage(Page(index, "", "text", PageState.OCR)) for index in range(3)]
    assert [len(list(assembler.add(page))) for page in read_pages] == [1, 1, 1]


def test_empty_page_has_no_headers_or_footers() -> None:
    assert find_headers_footers(find_edges(0, ""), [find_edges(1, "Header\ntext")]) == HeadersFooters()


def test_outline_gives_the_section_of_a_page() -> None:
    sections = Sections(((1, "Item 1"), (1, "Item 1 › Risks"), (4, "Item 2")))
    headings = [sections.find_heading(index, "", (), ()) for index in range(6)]
    assert headings == ["", "Item 1", "Item 1 › Risks", "Item 1 › Risks", "Item 2", "Item 2"]


def test_outline_with_one_entry_is_ignored() -> None:
    text = "Liquidity\nWe have cash."
    assert Sections(((0, "Untitled"),)).find_heading(0, text, ((0, 9),), ()) == "Liquidity"


def test_page_without_heading_inherits_the_last_one() -> None:
    sections = Sections()
    body = SECTION_BODY
    first = f"Risks\n{body}\nMarket risk\n{body}"
    start = first.index("Market risk")
    assert sections.find_heading(0, first, ((0, 5), (start, start + 11)), ()) == "Risks"
    assert sections.find_heading(1, body, (), ()) == "Market risk"
    late = f"{body}\nOutlook"
    assert sections.find_heading(2, late, ((len(late) - 7, len(late)),), ()) == "Market risk"
    assert sections.find_heading(3, body, (), ()) == "Outlook"


@pytest.mark.parametrize(
    ("heading", "short"),
    [
        ("Item 7 › Liquidity", "Item 7 › Liquidity"),
        ("x" * 70 + " › Liquidity", "Liquidity"),
        ("y" * 99, "y" * 79 + "…"),
    ],
)
def test_long_heading_is_shortened(heading: str, short: str) -> None:
    assert shorten_heading(heading) == short
    assert len(short) <= 80


def draw_headings(*headings: tuple[str, str, float], top: float = 780):
    """Draw lines in their fonts and sizes above prose."""

    def draw(canvas: Canvas) -> None:
        height = top
        for text, font, size in headings:
            canvas.setFont(font, size)
            canvas.drawString(72, height, text)
            height -= 1.3 * size
        canvas.setFont("Helvetica", 11)
        for number, text in enumerate(PROSE * 3):
            canvas.drawString(72, height - 20 - 14 * number, text)

    return draw


def headings_of(path: Path, *draw) -> list[str]:
    parsed = read(make(path / "a.pdf", *draw))
    return [" ".join(parsed.page.text[one.start : one.end].split()) for one in parsed.headings]


@pytest.mark.parametrize(("font", "size"), [("Helvetica-Bold", 11), ("Helvetica", 16)])
def test_bold_or_large_line_is_a_heading(tmp_path: Path, font: str, size: float) -> None:
    parsed = read(make(tmp_path / "a.pdf", draw_headings(("Liquidity and Capital", font, size))))
    assert [parsed.page.text[one.start : one.end] for one in parsed.headings] == ["Liquidity and Capital"]
    assert parsed.page.text.startswith("Liquidity and Capital\n\n")


def test_heading_of_a_short_page_is_found(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica-Bold", 14)
        canvas.drawString(72, 720, "The keepers of the lighthouse")
        lines("See the list in the hall.", top=690)(canvas)

    parsed = read(make(tmp_path / "page.pdf", draw))
    assert [parsed.page.text[one.start : one.end] for one in parsed.headings] == ["The keepers of the lighthouse"]


@pytest.mark.parametrize("text", ["Outlook for 2023", "Phase 2", "Exhibit 14", "Sustainability Report 2022"])
def test_heading_may_end_in_a_number(tmp_path: Path, text: str) -> None:
    assert headings_of(tmp_path, draw_headings((text, "Helvetica-Bold", 14))) == [text]


def test_lines_of_a_table_of_contents_are_not_headings(tmp_path: Path) -> None:
    titles = ["Our Company", "Chapter 2 The Outlook for the Years to 2030 and for All of the Years Behind", "Risks"]

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica-Bold", 11)
        for number, (text, page) in enumerate(zip([*titles, "The Board"], (4, 9, 27, 31), strict=True)):
            canvas.drawString(72, 760 - 16 * number, text)
            canvas.drawString(max(490, 76 + canvas.stringWidth(text)), 760 - 16 * number, str(page))
        lines(*PROSE * 3, top=600)(canvas)

    assert headings_of(tmp_path, draw) == []


def test_bold_or_large_prose_is_not_a_heading(tmp_path: Path) -> None:
    long = "The Company sells its tools to all of those who repair the bridges here and"
    assert headings_of(tmp_path, draw_headings(*((long, "Helvetica-Bold", 11) for _ in range(2)))) == []

    def draw(canvas: Canvas) -> None:
        lines(f"{long} in the countries next to it, a trade", "it has done since it was founded.", size=9)(canvas)
        lines(*PROSE * 9, top=600, size=6)(canvas)

    assert headings_of(tmp_path, draw) == []


def test_label_is_joined_with_the_title_below() -> None:
    body = SECTION_BODY
    sections = Sections()
    text = f"NOTE 2\nLoans and Receivables\n{body}"
    assert sections.find_heading(0, text, ((0, 6), (7, 28)), ()) == "NOTE 2 › Loans and Receivables"
    assert sections.find_heading(1, body, (), ()) == "NOTE 2 › Loans and Receivables"
    far = f"Exhibit 3\n{body * 3}\nStores"
    assert sections.find_heading(2, far, ((0, 9), (len(far) - 6, len(far))), ()) == "Exhibit 3"


BENCH = "The bench in the yard is painted green.\nIt was a present of the school.\nNobody sits on it in winter."


def assemble_headed(*pages: tuple[str, str]) -> list[Page]:
    """Assemble pages of a text and the heading in it."""
    assembler = PageAssembler()
    done: list[Page] = []
    for index, (text, heading) in enumerate(pages):
        spans = (HeadingLine(text.index(heading), text.index(heading) + len(heading)),) if heading else ()
        done += assembler.add(ParsedPage(Page(index, str(index + 1), text, PageState.TEXT), spans))
    return done + list(assembler.flush())


@pytest.mark.parametrize(
    ("foot", "following", "left_out", "section"),
    [
        ("Care of the lamps", (BENCH, ""), ["Care of the lamps"], "Care of the lamps"),
        (
            "Chapter 4 Light",
            (f"The lamps\n\n{BENCH}", "The lamps"),
            ["Chapter 4 Light"],
            "Chapter 4 Light › The lamps",
        ),
        ("Approved by Ada Holm", (f"Notes on paint\n\n{BENCH}", "Notes on paint"), [], "Notes on paint"),
        ("Gross total of lamps 12", (BENCH, ""), [], "Gross total of lamps 12"),
        ("Care of the lamps", ("goes on with this list\nof lamps.", ""), [], "Care of the lamps"),
    ],
)
def test_heading_at_the_foot_belongs_to_the_next_page(
    foot: str, following: tuple[str, str], left_out: list[str], section: str
) -> None:
    first, second = assemble_headed((f"{BENCH}\n\n{foot}", foot), following)
    assert skipped(first) == left_out
    assert second.heading == section
    assert second.text == "\n\n".join([*left_out, following[0]])
    assert first.heading != foot or not left_out


def test_repeated_heading_moves_the_words_and_tables_below_it() -> None:
    table = Table((TableRow((TableCell("Oil", ((9, 12),), 0),)),), 0, ((72.0, 90.0),))
    boxes = WordBoxes(np.array([0, 9], np.int32), np.array([8, 12], np.int32), np.zeros((2, 4), np.float32))
    page = Page(1, "2", "Port log\nOil", PageState.TEXT, boxes=boxes, skip=((0, 8),), tables=(table,))
    moved = insert_text(page, 9, "Lamps\n\n")
    assert moved.text == "Port log\nLamps\n\nOil"
    assert [moved.text[start:end] for start, end in zip(moved.boxes.starts, moved.boxes.ends, strict=True)] == [
        "Port log",
        "Oil",
    ]
    assert skipped(moved) == ["Port log"]
    assert moved.tables[0].rows[0].cells[0].spans == ((16, 19),)


@pytest.mark.parametrize(
    ("foot", "left_out"),
    [
        ("tap, which the warden opens\nin May.", []),
        ("The lists are part of the\nrules of the garden.", ["The lists are part of the", "rules of the garden."]),
        ("\nrules of the garden", ["rules of the garden"]),
    ],
)
def test_footer_does_not_begin_inside_a_sentence(foot: str, left_out: list[str]) -> None:
    bodies = [
        f"Plot {place} lies by the wall.\nIt is {word} and has its"
        for place, word in zip("abcdef", "uvwxyz", strict=True)
    ]
    assert skipped(assemble([f"{body}\n{foot}" for body in bodies])[-1]) == left_out


def test_number_of_the_only_page_is_left_out() -> None:
    assert [skipped(page) for page in assemble([f"{BODIES[0]}\n\n- 1 -"])] == [["- 1 -"]]
    assert [skipped(page) for page in assemble([f"{BODIES[0]}\n\n14"])] == [[]]


def test_watermark_is_kept_once() -> None:
    pages = assemble([f"{body}\n\n{n}\n\n{WATERMARK}DRAFT" for n, body in enumerate(BODIES, 1)])
    assert [skipped(page) for page in pages] == [["1"], *([str(n), f"{WATERMARK}DRAFT"] for n in range(2, 7))]


def test_heading_at_the_foot_of_the_last_page_is_kept() -> None:
    assert [skipped(page) for page in assemble_headed((f"{BENCH}\n\nThe lamps", "The lamps"))] == [[]]


def test_page_of_a_heading_alone_gives_its_heading_to_the_next_page() -> None:
    pages = assemble_headed((BENCH, ""), ("Care of the lamps", "Care of the lamps"), (BENCH, ""))
    assert [(skipped(page), page.heading) for page in pages[1:]] == [
        (["Care of the lamps"], ""),
        ([], "Care of the lamps"),
    ]


def test_mail_goes_on_with_its_heading_on_the_next_page() -> None:
    mail = "From: Ada Holm <a@h.no>\nDate: 2 March 2020\n\nThe kiln is cold."
    pages = assemble_headed((mail, ""), (BENCH, ""), (f"Inventory\n\n{BENCH}", "Inventory"))
    assert [page.heading for page in pages] == ["", "From: Ada Holm, Date: 2 March 2020", "Inventory"]
