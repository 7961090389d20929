"""All headings of a page with the headings that contain them; tables, lists and running headers have none."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core.parsing.layout.heading_paths import HeadingPaths
from rag_core.types.documents import Heading
from tests.support.drawn_pdfs import PROSE, make, read

BOLD, PLAIN = "Helvetica-Bold", "Helvetica"


def draw_sections(*headings: tuple[str, str, float]):
    """Draw lines in their fonts and sizes, each above a line of prose."""

    def draw(canvas: Canvas) -> None:
        height = 790.0
        for text, font, size in headings:
            height -= 2 * size
            canvas.setFont(font, size)
            canvas.drawString(72, height, text)
            canvas.setFont(PLAIN, 11)
            for line in PROSE[:2]:
                height -= 18
                canvas.drawString(72, height, line)

    return draw


def find_headings(tmp_path: Path, *draw, outline: tuple[tuple[int, str], ...] = ()) -> list[tuple[Heading, str]]:
    """Return the headings of a document of one page, each with its text on the page."""
    page, lines = (parsed := read(make(tmp_path / "a.pdf", *draw))).page, parsed.headings
    return [(one, page.text[one.start : one.end]) for one in HeadingPaths(outline).find(page, lines)]


@pytest.mark.parametrize(
    ("headings", "paths"),
    [
        (
            [("1 Oars", BOLD, 15), ("1.1 Ash", BOLD, 13), ("Splices", BOLD, 11), ("2 Sails", BOLD, 15)],
            ["1 Oars", "1 Oars › 1.1 Ash", "1 Oars › 1.1 Ash › Splices", "2 Sails"],
        ),
        ([("Water", BOLD, 11), ("Bonfires", BOLD, 11), ("Bees", BOLD, 11)], ["Water", "Bonfires", "Bees"]),
        (
            [("Kapitel 2 Segel", PLAIN, 16), ("§ 4 Gebühren der Gäste", BOLD, 11)],
            ["Kapitel 2 Segel", "Kapitel 2 Segel › § 4 Gebühren der Gäste"],
        ),
        ([("PART II", BOLD, 12), ("ITEM 5. Market", BOLD, 12)], ["PART II", "PART II › ITEM 5. Market"]),
        (
            [("Note 2 — Inventories", BOLD, 11), ("Note 3 — Leases", BOLD, 11)],
            ["Note 2 — Inventories", "Note 3 — Leases"],
        ),
        ([("Table 3: Depths of the bays", BOLD, 11), ("Remark:", BOLD, 11), ("Bays", BOLD, 11)], ["Bays"]),
    ],
)
def test_each_heading_has_its_place_and_path(
    tmp_path: Path, headings: list[tuple[str, str, float]], paths: list[str]
) -> None:
    found = find_headings(tmp_path, draw_sections(*headings))
    assert [one.path for one, _ in found] == paths
    assert [text for _, text in found] == [one.title for one, _ in found]


def test_bold_rows_of_a_table_are_no_headings(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        draw_sections(("Fees", BOLD, 14))(canvas)
        canvas.setFont(BOLD, 10)
        for number, row in enumerate(
            [("Service", "2023", "2022"), ("Boats", "40", "38"), ("1 Mast lifts", "65", "60")]
        ):
            for place, text in zip((72, 300, 400), row, strict=True):
                canvas.drawString(place, 600 - 16 * number, text)

    assert [one.path for one, _ in find_headings(tmp_path, draw)] == ["Fees"]


def test_bookmarks_are_headings_and_contain_the_others(tmp_path: Path) -> None:
    draw = draw_sections(("1 Lamp", BOLD, 12), ("Wick", BOLD, 16))
    found = find_headings(tmp_path, draw, outline=((0, "Manual"), (0, "Manual › Lamp"), (1, "Manual › Horn")))
    assert [(one.path, text) for one, text in found] == [
        ("Manual", ""),
        ("Manual › Lamp", "1 Lamp"),
        ("Manual › Lamp › Wick", "Wick"),
    ]


def test_repeated_heading_at_the_top_is_listed_where_it_begins(tmp_path: Path) -> None:
    paths = HeadingPaths()
    found = []
    for name in ("Oars", "Sails", "Ropes", "Knots"):
        parsed = read(make(tmp_path / "a.pdf", draw_sections(("Boat log", BOLD, 16), (name, BOLD, 12))))
        found.append([one.title for one in paths.find(parsed.page, parsed.headings)])
    assert found == [["Boat log", "Oars"], ["Sails"], ["Ropes"], ["Knots"]]
