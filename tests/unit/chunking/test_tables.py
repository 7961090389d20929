"""Table headers on pages read from PDFs, and chunks that repeat them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import SimpleDocTemplate, Table, TableStyle

from rag_core.chunking.chunker import ChunkConfig, Chunker
from rag_core.chunking.table_heads import find_headed_tables
from rag_core.embedding.embedder import Embedder
from rag_core.types.chunks import ChunkSpan
from rag_core.types.documents import Page, WordBoxes
from tests.support.drawn_pdfs import make, read
from tests.support.tokenizer import words

ITEMS = ["bridges", "canals", "tolls", "locks", "ferries", "piers", "quays", "cranes", "dredgers"]
ROWS = [(f"Item {name} of the year", f"1,{n}04", f"({n})", f"3,{n}17") for n, name in enumerate(ITEMS, 1)]
TITLE, UNITS, YEARS = "Statement of Cash Flows", "(in millions)", ("", "2022", "2021", "2020")
Row = str | Sequence[str]


def page(folder: Path, *rows: Row, columns: Sequence[float] = (330, 420, 510)) -> Page:
    """Return a page with lines of text and rows of cells; an empty text leaves a gap."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 10)
        for number, row in enumerate(rows):
            label, *cells = [row] if isinstance(row, str) else row
            canvas.drawString(72, 760 - 13 * number, label)
            for right, cell in zip(columns, cells, strict=False):
                canvas.drawRightString(right, 760 - 13 * number, cell)

    return read(make(folder / "table.pdf", draw)).page


def headers(page: Page) -> list[list[str]]:
    return [[page.text[start:end] for start, end in table.head] for table in find_headed_tables(page)]


def chunk(page: Page, tokens: int = 40, window: int = 256, overlap: float = 0.0) -> list[ChunkSpan]:
    return Chunker(ChunkConfig(tokens, overlap, window, 2), words).chunk("report.pdf", [page])


PROSE = "The table above leaves out what the company paid to those that it had bought before."
TRAFFIC = ("Share of", "Tons", "Ships", "Days")
STACKED = [("", "", "Unobservable", "Total"), ("(Millions)", "Level 2", "Level 3", "Fair Value")]
INCOMPLETE = [("of former years", "(1,204)"), ("Leases", "—", "—", "—")]


@pytest.mark.parametrize(
    ("rows", "expected", "end"),
    [
        ([TITLE, UNITS, YEARS, *ROWS], [[TITLE, UNITS, "2022 2021 2020"]], "3,917"),
        ([YEARS, "", "Operating activities", "Receipts:", *ROWS], [["2022 2021 2020"]], "3,917"),
        (
            [TITLE, YEARS, *ROWS[:3], "", "Debts paid, less those", *INCOMPLETE, "", "Other", *ROWS[3:]],
            [[TITLE, "2022 2021 2020"]],
            "3,917",
        ),
        (
            [TITLE, YEARS, *ROWS[:4], "", "Harbour traffic", TRAFFIC, *ROWS[4:]],
            [[TITLE, "2022 2021 2020"], ["Harbour traffic", "Share of Tons Ships Days"]],
            "3,417",
        ),
        (
            [TITLE, YEARS, *ROWS[:3], "", PROSE, "", *ROWS[3:6], "", PROSE, "", YEARS, *ROWS[6:]],
            [[TITLE, "2022 2021 2020"], ["2022 2021 2020"]],
            "3,317",
        ),
        ([*STACKED, *ROWS], [["Unobservable Total", "(Millions) Level 2 Level 3 Fair Value"]], "3,917"),
        (ROWS, [], ""),
        (["The following were paid:", *ROWS], [], ""),
        ([("", "2022"), *ROWS], [], ""),
        (["Ships that came into the harbour in the course of the year and left it in the next one", *ROWS], [], ""),
        ([("Part", "One", "Two", "Three"), "- 51 -", ("", "", "- 51 -")], [], ""),
    ],
    ids=[
        "lines above rows",
        "labels between header and rows",
        "incomplete rows",
        "two tables",
        "prose between tables",
        "several lines",
        "nothing above",
        "label above",
        "not above the last column",
        "prose above",
        "page number",
    ],
)
def test_table_headers(tmp_path: Path, rows: list[Row], expected: list[list[str]], end: str) -> None:
    read = page(tmp_path, *rows)
    assert headers(read) == expected
    if expected:
        assert read.text[: find_headed_tables(read)[0].end].endswith(end)


def mark_as_skipped(page: Page, *texts: str) -> Page:
    starts = [page.text.index(text) for text in texts]
    return replace(page, skip=tuple((start, start + len(text)) for start, text in zip(starts, texts, strict=True)))


def test_column_headers_repeated_on_every_page_are_used(tmp_path: Path) -> None:
    account = ("First Valley Bank", "", "", "Account 4471")
    read = page(tmp_path, account, "", ("Date", "Paid out", "Paid in", "Balance"), "", *ROWS)
    read = mark_as_skipped(read, "First Valley Bank Account 4471", "Date Paid out Paid in Balance")
    assert headers(read) == [["Date Paid out Paid in Balance"]]
    assert [span.prefix for span in chunk(read)] == ["report\nDate Paid out Paid in Balance"] * len(chunk(read))


def test_running_header_is_not_a_table_header(tmp_path: Path) -> None:
    header, prose = ("Acme Inc.", "", "", "Report"), "The company has sold all of its bridges to the town."
    assert headers(mark_as_skipped(page(tmp_path, header, "", YEARS, *ROWS), "Acme Inc. Report")) == [
        ["2022 2021 2020"]
    ]
    assert headers(mark_as_skipped(page(tmp_path, header, "", prose, "", *ROWS), "Acme Inc. Report")) == []


def test_page_without_boxes_has_no_table_header(tmp_path: Path) -> None:
    assert headers(replace(page(tmp_path, YEARS, *ROWS), boxes=WordBoxes.empty())) == []


def test_later_chunks_of_a_table_repeat_its_header(tmp_path: Path) -> None:
    read = page(tmp_path, TITLE, UNITS, YEARS, *ROWS, "", "The company paid no dividend in any of the years shown.")
    first, *later, last = chunk(read)
    assert first.prefix == "report"
    assert len(later) > 1
    for span in later:
        assert span.prefix == f"report\n{TITLE}\n{UNITS}\n2022 2021 2020"
        assert span.text == read.text[span.start : span.end]
        assert TITLE not in span.text
        assert span.tokens == len(words([f"{span.prefix}\n{span.text}"])[0]) + 2
        assert span.sentences[0] == len(words([span.prefix])[0])
    assert last.text.endswith("shown.")


def test_chunk_within_the_header_repeats_the_lines_above(tmp_path: Path) -> None:
    read = page(tmp_path, TITLE, "Harbours and canals of the northern coast and its islands", UNITS, YEARS, *ROWS)
    within = [span for span in chunk(read, tokens=16) if span.text.startswith(UNITS)]
    assert [span.prefix.split("\n") for span in within] == [["report", *read.text.split("\n")[:2]]]


def test_long_header_keeps_the_lines_next_to_the_rows(tmp_path: Path) -> None:
    read = page(tmp_path, TITLE, "of " * 38 + "all", YEARS, *ROWS)
    assert chunk(read)[-1].prefix == "report\n2022 2021 2020"


@pytest.mark.parametrize(("window", "repeated"), [(72, []), (74, ["2022 2021 2020"]), (80, [TITLE, "2022 2021 2020"])])
def test_header_fits_the_window(tmp_path: Path, window: int, repeated: list[str]) -> None:
    read = replace(page(tmp_path, TITLE, YEARS, *ROWS), heading="quay " * 60)
    span = chunk(read, tokens=30, window=window)[2]
    assert span.prefix.split("\n")[1:] == repeated
    assert span.tokens <= window


def test_title_equal_to_the_heading_is_not_repeated(tmp_path: Path) -> None:
    read = replace(page(tmp_path, TITLE, YEARS, *ROWS), heading=f"Item 8 › {TITLE}")
    assert chunk(read)[-1].prefix == f"report › Item 8 › {TITLE}\n2022 2021 2020"


def test_years_of_the_header_are_in_the_prefix(tmp_path: Path, embedder: Embedder) -> None:
    read = page(tmp_path, TITLE, UNITS, YEARS, *ROWS)
    rule = ChunkConfig(64, 0.18, embedder.window, embedder.special_tokens)
    *_, last = Chunker(rule, embedder.offsets).chunk("report.pdf", [read])
    assert "dredgers" in last.text
    assert "2022" not in last.text
    assert "2022" in last.prefix


def test_chunk_names_the_label_over_several_rows_that_is_above_it(tmp_path: Path) -> None:
    kinds = ["rowing boats", "sailing boats", "motor boats", "rafts"]
    rows = [
        ("" if number else f"Harbour {one}", kind, f"1,{number}0{one}")
        for one in range(1, 6)
        for number, kind in enumerate(kinds)
    ]
    drawn = [("GRID", (0, 0), (-1, -1), 0.5, "black"), *(("SPAN", (0, n), (0, n + 3)) for n in range(1, 20, 4))]
    table = Table([("Place", "Boats", "Dues"), *rows], style=TableStyle(drawn))
    SimpleDocTemplate(str(tmp_path / "table.pdf"), pagesize=A4).build([table])
    spans = chunk(read(tmp_path / "table.pdf").page, tokens=30)
    for span in spans:
        first = next(row for row in rows if row[2] in span.text)
        harbour = f"Harbour {first[2][-1]}"
        assert harbour in f"{span.prefix}\n{span.text.partition(first[2])[0]}"
