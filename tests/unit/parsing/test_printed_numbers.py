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
        (pages("p. 7/19", "p. 8/19", "p. 9/19"), ["7", "8", "9"]),
        (pages("Seite 3 von 6", "Seite 4 von 6", "Seite 5 von 6"), ["3", "4", "5"]),
        (pages("~ 203 ~", "~ 204 ~", "~ 205 ~"), ["203", "204", "205"]),
        (pages("A-1", "A-2", "A-3"), ["A-1", "A-2", "A-3"]),
    ],
    ids="plain dashes of titled gaps front roman German brackets articles slash Seite tildes letters".split(),
)
def test_consecutive_numbers_are_labels(texts: list[str], labels: list[str]) -> None:
    assert find_printed_numbers(texts) == labels


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        ([f"Piping of unit {200 + page}\n{BODY}\n{page + 1}" for page in range(4)], ["1", "2", "3", "4"]),
        ([f"{page + 1}\n{BODY}\nDrawings of tank {17 + page}" for page in range(4)], ["1", "2", "3", "4"]),
        (
            [f"Piping of unit {200 + page}\n{BODY}" + (f"\n{page + 1}" if page else "") for page in range(6)],
            ["1", "2", "3", "4", "5", "6"],
        ),
    ],
    ids=["above", "below", "missing on the first page"],
)
def test_a_number_that_stands_alone_beats_a_heading_that_counts(texts: list[str], labels: list[str]) -> None:
    assert find_printed_numbers(texts) == labels


def test_two_counting_lines_of_words_give_no_label() -> None:
    texts = [f"Piping of plant {200 + page}\n{BODY}\nDrawings of tank {17 + page}" for page in range(4)]
    assert find_printed_numbers(texts) is None


@pytest.mark.parametrize(
    "texts",
    [
        pages("", "", "", ""),
        pages("2021", "2021", "2021"),
        pages("12", "40", "7"),
        pages("1", "2", "", "", "", "", ""),
        pages("7", "8"),
        pages("Accounts of 2019", "Accounts of 2020", "Accounts of 2021"),
        pages("2019", "2020", "2021"),
        pages("Invoice no. 5031", "Invoice no. 5032", "Invoice no. 5033"),
        pages("Chapter 5", "Chapter 6", "Chapter 7"),
        [],
    ],
    ids=["none", "years", "totals", "few", "two", "accounts", "rising years", "invoices", "chapters", "no pages"],
)
def test_other_numbers_are_no_labels(texts: list[str]) -> None:
    assert find_printed_numbers(texts) is None
