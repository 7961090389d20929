"""Running headers and footers, headings, and pages that inherit them."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core.parsing.layout.assembly import PageAssembler
from rag_core.parsing.layout.headers_footers import HeadersFooters, edges_of, find_headers_footers
from rag_core.parsing.layout.headings import Sections, shorten_heading
from rag_core.types import Page, PageState
from rag_core.types.documents import ParsedPage
from tests.support.drawn_pdfs import PROSE, lines, make, read


def assemble(texts: list[str], name: str = "acme_annual_report.pdf") -> list[Page]:
    assembler = PageAssembler(Sections(), name)
    pages = []
    for index, text in enumerate(texts):
        pages += assembler.add(ParsedPage(Page(index, str(index + 1), text, PageState.TEXT)))
    return pages + list(assembler.flush())


def skipped(page: Page) -> list[str]:
    return [page.text[start:end] for start, end in page.skip]


def test_headers_footers_and_page_numbers_are_reported_and_kept() -> None:
    texts = [
        f"ACME Annual Report\nParagraph {n} says {word} things.\nAnd {word} ones no more.\nPage {n} of 9"
        for n, word in enumerate(("new", "old", "odd", "big", "red", "few", "sad", "own", "low"), 1)
    ]
    for number, page in enumerate(assemble(texts), 1):
        assert skipped(page) == ["ACME Annual Report", f"Page {number} of 9"]
        assert page.text == texts[number - 1]


BODIES = [f"Visit to the {place} doctor.\nAll is {word} there." for place, word in zip("abcdef", "uvwxyz", strict=True)]


def test_what_a_header_says_is_left_out_once_a_page_has_told_it() -> None:
    header = "Patient: Anna Berg Blood group: AB negative"
    pages = assemble([f"{header}\nPage {n} of 6\n{body}\n{n}" for n, body in enumerate(BODIES, 1)])
    assert skipped(pages[0]) == ["1"]  # what stands between the header and the text stays with both
    assert [skipped(page) for page in pages[1:]] == [[header, f"Page {n} of 6", str(n)] for n in range(2, 7)]


def test_the_header_of_another_account_is_told_as_well() -> None:
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
def test_what_says_nothing_is_told_by_no_page(line: str) -> None:
    pages = assemble([f"{body}\n{line.format(n=n)}" for n, body in enumerate(BODIES, 1)])
    assert [skipped(page) for page in pages] == [[line.format(n=n)] for n in range(1, 7)]


def test_what_heads_tables_is_no_running_header() -> None:
    bodies = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta"]
    for page in assemble([f"2022 2021 2020\n{body} 1 2 3\nTotal {body} 4 5 6" for body in bodies]):
        assert skipped(page) == []


def test_numbers_that_do_not_count_pages_are_no_page_numbers() -> None:
    notes = [f"NOTE {number}\nText of {name}.\n{name} ends." for number, name in enumerate("abcdefgh", 20)]
    for page in assemble([note for note in notes for _ in (0, 1)]):
        assert skipped(page) == []


def test_a_title_on_three_pages_is_no_running_header() -> None:
    texts = [f"Statement of Cash Flows\n{word} text\nmore {word}" for word in ("one", "two", "three")]
    texts += [f"Section {word}\n{word} text\nmore {word}" for word in ("four", "five", "six", "seven", "eight")]
    assert [skipped(page) for page in assemble(texts)] == [[]] * 8


def test_pages_that_say_nothing_else_keep_it() -> None:
    assert [skipped(page) for page in assemble(["Hello world"] * 5)] == [[]] * 5


def test_recognised_pages_are_not_held_back() -> None:
    assembler = PageAssembler(Sections())
    read_pages = [ParsedPage(Page(index, "", "text", PageState.OCR)) for index in range(3)]
    assert [len(list(assembler.add(page))) for page in read_pages] == [1, 1, 1]


def test_furniture_of_an_empty_page() -> None:
    assert find_headers_footers(edges_of(0, ""), [edges_of(1, "Header\ntext")]) == HeadersFooters()


def test_outline_gives_the_section_a_page_begins_in() -> None:
    sections = Sections(((1, "Item 1"), (1, "Item 1 › Risks"), (4, "Item 2")))
    found = [sections.heading(index, "", (), ()) for index in range(6)]
    assert found == ["", "Item 1", "Item 1 › Risks", "Item 1 › Risks", "Item 2", "Item 2"]


def test_an_outline_of_one_entry_is_left_aside() -> None:
    text = "Liquidity\nWe have cash."
    assert Sections(((0, "Untitled"),)).heading(0, text, ((0, 9),), ()) == "Liquidity"


def test_without_outline_a_page_has_its_own_heading_or_inherits() -> None:
    sections = Sections()
    body = "\n".join(f"line {number}" for number in range(9))
    first = f"Risks\n{body}\nMarket risk\n{body}"
    start = first.index("Market risk")
    assert sections.heading(0, first, ((0, 5), (start, start + 11)), ()) == "Risks"
    assert sections.heading(1, body, (), ()) == "Market risk"
    late = f"{body}\nOutlook"
    assert sections.heading(2, late, ((len(late) - 7, len(late)),), ()) == "Market risk"
    assert sections.heading(3, body, (), ()) == "Outlook"


@pytest.mark.parametrize(
    ("heading", "short"),
    [
        ("Item 7 › Liquidity", "Item 7 › Liquidity"),
        ("x" * 70 + " › Liquidity", "Liquidity"),
        ("y" * 99, "y" * 79 + "…"),
    ],
)
def test_headings_are_short(heading: str, short: str) -> None:
    assert shorten_heading(heading) == short
    assert len(short) <= 80


@pytest.mark.parametrize(("font", "size"), [("Helvetica-Bold", 11), ("Helvetica", 16)])
def test_heading_lines_stand_out(tmp_path: Path, font: str, size: float) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont(font, size)
        canvas.drawString(72, 770, "Liquidity and Capital")
        canvas.setFont("Helvetica", 11)
        for number, text in enumerate(PROSE * 3):
            canvas.drawString(72, 740 - 14 * number, text)

    found = read(make(tmp_path / "a.pdf", draw))
    assert [found.page.text[start:end] for start, end in found.headings] == ["Liquidity and Capital"]
    assert found.page.text.startswith("Liquidity and Capital\n\n")


def draw_headings(*headings: tuple[str, str, float], top: float = 780):
    """A page with lines of the font and size that each has, above prose."""

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
    found = read(make(path / "a.pdf", *draw))
    return [" ".join(found.page.text[start:end].split()) for start, end in found.headings]


@pytest.mark.parametrize("text", ["Outlook for 2023", "Phase 2", "Exhibit 14", "Sustainability Report 2022"])
def test_a_heading_may_end_in_a_number(tmp_path: Path, text: str) -> None:
    assert headings_of(tmp_path, draw_headings((text, "Helvetica-Bold", 14))) == [text]


def test_lines_of_a_list_of_contents_are_no_headings(tmp_path: Path) -> None:
    titles = ["Our Company", "Chapter 2 The Outlook for the Years to 2030 and for All of the Years Behind", "Risks"]

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica-Bold", 11)
        for number, (text, page) in enumerate(zip([*titles, "The Board"], (4, 9, 27, 31), strict=True)):
            canvas.drawString(72, 760 - 16 * number, text)
            canvas.drawString(max(490, 76 + canvas.stringWidth(text)), 760 - 16 * number, str(page))
        lines(*PROSE * 3, top=600)(canvas)

    assert headings_of(tmp_path, draw) == []


def test_a_label_of_a_table_that_ends_in_a_figure_is_no_heading(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica-Bold", 11)
        canvas.drawString(72, 760, "Total Number of Stores")
        canvas.drawRightString(500, 760, "160")
        lines(*PROSE * 3, top=700)(canvas)

    assert headings_of(tmp_path, draw) == []


TITLE = (
    "Effects of Prolonged Salt Water Exposure on the Fatigue",
    "Strength of Cold Drawn Steel Wires in Suspension",
    "Bridges of the North Sea Coast",
)


def test_the_title_of_a_document_is_a_heading_however_long_it_is(tmp_path: Path) -> None:
    rows = [
        *((text, "Helvetica-Bold", 17) for text in TITLE),
        ("", "Helvetica", 17),
        ("Abstract", "Helvetica-Bold", 12),
    ]
    assert headings_of(tmp_path, draw_headings(*rows)) == [" ".join(TITLE), "Abstract"]


def test_prose_that_is_bold_or_larger_than_a_table_is_no_heading(tmp_path: Path) -> None:
    long = "The Company sells its tools to all of those who repair the bridges here and"
    assert headings_of(tmp_path, draw_headings(*((long, "Helvetica-Bold", 11) for _ in range(2)))) == []

    def draw(canvas: Canvas) -> None:
        lines(f"{long} in the countries next to it, a trade", "it has done since it was founded.", size=9)(canvas)
        lines(*PROSE * 9, top=600, size=6)(canvas)

    assert headings_of(tmp_path, draw) == []


def test_a_label_is_told_with_the_title_below_it() -> None:
    body = "\n".join(f"line {number}" for number in range(9))
    sections = Sections()
    text = f"NOTE 2\nLoans and Receivables\n{body}"
    assert sections.heading(0, text, ((0, 6), (7, 28)), ()) == "NOTE 2 › Loans and Receivables"
    assert sections.heading(1, body, (), ()) == "NOTE 2 › Loans and Receivables"
    far = f"Exhibit 3\n{body * 3}\nStores"
    assert sections.heading(2, far, ((0, 9), (len(far) - 6, len(far))), ()) == "Exhibit 3"
