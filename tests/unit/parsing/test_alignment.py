"""Places of a text in another text with most of its words."""

from __future__ import annotations

import random
import time

import pytest

from rag_core.parsing.alignment import align_texts

CANAL = "The canal was dug in 1869 and widened twice. Its official documentation fills nine shelves of the archive."
ROWS = [f"Ferry {number} paid {number * 731} euros" for number in range(40)]


def find(text: str, other: str, part: str, occurrence: int = 0) -> str:
    """Return the characters of ``other`` in the places of a part of ``text``."""
    start = -1
    for _ in range(occurrence + 1):
        start = text.index(part, start + 1)
    places = [place for place in align_texts(text, other)[start : start + len(part)].tolist() if place >= 0]
    return other[min(places) : max(places) + 1] if places else ""


@pytest.mark.parametrize(
    ("other", "part", "expected"),
    [
        (CANAL, "dug in 1869", "dug in 1869"),
        (CANAL.replace(" ", "\r\n"), "widened twice", "widened\r\ntwice"),
        (CANAL.replace("mentation", "\x02\r\nmentation"), "documentation", "docu\x02\r\nmentation"),
        (CANAL.replace("fi", "ﬁ"), "official", "oﬃcial".replace("ﬃ", "fﬁ")),
        (CANAL.upper(), "official", "OFFICIAL"),
        (f"• {CANAL.replace(' and', ' –')}", "1869 and widened", "1869 – widened"),
        (CANAL.replace("1869", "1,869.0"), "in 1869 and", "in 1,869.0 and"),
        (CANAL.replace(" widened twice", "\r\nHarbour board 12\r\nwidened twice"), "widened", "widened"),
        (CANAL.replace("nine shelves of ", ""), "nine shelves", ""),
        ("A canal for boats.", "official", ""),
        ("", "canal", ""),
    ],
)
def test_words_are_found(other: str, part: str, expected: str) -> None:
    assert find(CANAL, other, part) == expected


def test_columns_that_are_printed_on_other_pages_are_found() -> None:
    text = "\n".join(f"Barge {number} carries {number * 917} tons\n{row}" for number, row in enumerate(ROWS))
    other = "\n".join([*(line for line in text.split("\n")[::2]), "Harbour board, page 2", *ROWS])
    for number in (3, 39):
        assert find(text, other, ROWS[number]) == ROWS[number]
        assert find(text, other, f"Barge {number} carries") == f"Barge {number} carries"


def test_cells_that_occur_often_follow_their_neighbours() -> None:
    text = "\n".join(f"{row} yes" for row in ROWS)
    other = f"Harbour board\n{text.replace(' ', '  ')}"
    place = align_texts(text, other)[text.index(f"{ROWS[7]} yes") + len(ROWS[7]) + 1]
    assert other[: place + 3].endswith(f"{ROWS[7]} yes".replace(" ", "  "))


def test_repeated_cells_of_a_column_of_its_own_are_found() -> None:
    draw = random.Random(3)
    remarks = [draw.choice(["paid", "not paid", "sent back", "lost"]) for _ in ROWS]
    text = "\n".join(f"{row} {remark}" for row, remark in zip(ROWS, remarks, strict=True))
    other = "\n".join([*ROWS, *remarks])
    aligned = align_texts(text, other)
    for number, row in enumerate(ROWS):
        expected = len("\n".join([*ROWS, *remarks[:number]])) + 1
        assert aligned[text.index(row) + len(row) + 1] == expected


def test_long_texts_take_about_linear_time() -> None:
    """A text of 300 pages takes a few seconds; comparing all its letters with each other would take hours."""
    text = "\n".join(f"{CANAL} Clause {number} binds tenant {number * 7919}." for number in range(6000))
    started = time.monotonic()
    assert (align_texts(text, text) == range(len(text))).mean() > 0.99
    assert time.monotonic() - started < 60
