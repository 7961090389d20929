"""Page numbers printed in headers and footers."""

from __future__ import annotations

import pytest

from rag_core.parsing.layout.printed_numbers import find_printed_numbers

BODY = "The keeper trimmed the wick.\nHe wrote it down.\nNobody else was there.\nIt rained."


def pages(*edges: str, header: str = "") -> list[str]:
    """Return texts of pages with these footers."""
    return [
        "\n".join(part for part in (header, f"There were {number} men.\n{BODY}", edge) if part)
        for number, edge in enumerate(edges)
    ]


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (pages("215", "216", "217", "218"), ["215", "216", "217", "218"]),
        (pages("- 7 -", "- 8 -", "- 9 -"), ["7", "8", "9"]),
        (pages("Page 3 of 12", "Page 4 of 12", "Page 5 of 12"), ["3", "4", "5"]),
        (pages("Annual report 2021 41", "42 Annual report 2021", "Annual report 2021 43"), ["41", "42", "43"]),
        (pages("", "11", "12", "", "14"), ["10", "11", "12", "13", "14"]),
        (pages("", "", "1", "2", "3", "4"), ["PDF 1", "PDF 2", "1", "2", "3", "4"]),
        (pages("i", "ii", "iii", "1", "2", "3"), ["i", "ii", "iii", "1", "2", "3"]),
        (pages("3 von 20", "4 von 20", "5 von 20"), ["3", "4", "5"]),
        (pages("page [iv]", "page [v]", "page [vi]"), ["iv", "v", "vi"]),
        (pages("5", "6", "7", "5", "6", "7"), ["5", "6", "7", "5", "6", "7"]),
    ],
    ids=["plain", "dashes", "of", "with title", "gaps", "front matter", "roman", "German", "brackets", "two articles"],
)
def test_consecutive_numbers_are_labels(texts: list[str], labels: list[str]) -> None:
    assert find_printed_numbers(texts) == labels


@pytest.mark.parametrize(
    "texts",
    [
        pages("", "", "", ""),
        pages("2021", "2021", "2021"),
        pages("12", "40", "7"),
        pages("1", "2", "", "", "", "", ""),
        pages("7", "8"),
        [],
    ],
    ids=["none", "years", "totals", "two of seven", "two pages", "no pages"],
)
def test_other_numbers_are_no_labels(texts: list[str]) -> None:
    assert find_printed_numbers(texts) is None
