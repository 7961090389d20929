"""Table headers on pages read from PDFs, and chunks that repeat them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core.chunking.chunker import ChunkConfig, Chunker
from rag_core.chunking.table_heads import find_tables
from rag_core.embedding.embedder import Embedder
from rag_core.types import ChunkSpan, Page, WordBoxes
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
    return [[page.text[start:end] for start, end in table.head] for table in find_tables(page)]


def chunk(page: Page, tokens: int = 40, window: int = 256, overlap: float = 0.0) -> list[ChunkSpan]:
    return Chunker(ChunkConfig(tokens, overlap, window, 2), words).chunk("report.pdf", [page])


def test_lines_above_rows_are_the_table_header(tmp_path: Path) -> None:
    read = page(tmp_path, TITLE, UNITS, YEARS, *ROWS)
    (table,) = find_tables(read)
    assert headers(read) == [[TITLE, UNITS, "2022 2021 2020"]]
    assert read.text[: table.end].endswith("3,917")


def test_labels_between_header_and_rows_are_not_part_of_the_header(tmp_path: Path) -> None:
    assert headers(page(tmp_path, YEARS, "", "Operating activities", "Receipts:", *ROWS)) == [["2022 2021 2020"]]


def test_table_continues_over_labels_and_incomplete_rows(tmp_path: Path) -> None:
    rows = [*ROWS[:3], "", "Financing activities", "Debts paid, less those", ("of former years", "(1,204)"),
            ("Leases", "—", "—", "—"), "", "Other", *ROWS[3:]]  # fmt: skip
    read = page(tmp_path, TITLE, YEARS, *rows)
    (table,) = find_tables(read)
    assert read.text[: table.end].endswith("3,917")


def test_next_table_has_its_own_header(tmp_path: Path) -> None:
    second = ("Share of", "Tons", "Ships", "Days")
    read = page(tmp_path, TITLE, YEARS, *ROWS[:4], "", "Harbour traffic", second, *ROWS[4:])
    assert headers(read) == [[TITLE, "2022 2021 2020"], ["Harbour traffic", "Share of Tons Ships Days"]]


def test_prose_ends_a_table_and_is_not_a_header(tmp_path: Path) -> None:
    prose = "The table above leaves out what the company paid to those that it had bought before."
    read = page(tmp_path, TITLE, YEARS, *ROWS[:3], "", prose, "", *ROWS[3:6], "", prose, "", YEARS, *ROWS[6:])
    assert headers(read) == [[TITLE, "2022 2021 2020"], ["2022 2021 2020"]]
    assert read.text[: find_tables(read)[0].end].endswith("3,317")


def test_header_may_have_several_lines_and_numbered_names(tmp_path: Path) -> None:
    stacked = [("", "", "Unobservable", "Total"), ("(Millions)", "Level 2", "Level 3", "Fair Value")]
    assert headers(page(tmp_path, *stacked, *ROWS)) == [["Unobservable Total", "(Millions) Level 2 Level 3 Fair Value"]]


@pytest.mark.parametrize(
    "above",
    [
        [],
        ["The following were paid:"],
        [("", "2022")],
        ["Ships that came into the harbour in the course of the year and left it in the next one"],
    ],
)
def test_text_not_above_the_last_column_is_not_a_header(tmp_path: Path, above: list[Row]) -> None:
    assert headers(page(tmp_path, *above, *ROWS)) == []


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


def test_page_number_or_missing_boxes_give_no_header(tmp_path: Path) -> None:
    assert headers(page(tmp_path, ("Part", "One", "Two", "Three"), "- 51 -", ("", "", "- 51 -"))) == []
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


def test_chunk_beginning_within_the_header_repeats_the_lines_above(tmp_path: Path) -> None:
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
