"""Lines that run from right to left come in the order in which they are read."""

from __future__ import annotations

import numpy as np
import pytest

from rag_core.parsing.pdf.text_layer import build_runs
from rag_core.parsing.pdf.text_page import Characters

STEP = 0.01


def drawn(*parts: tuple[str, float, int]) -> Characters:
    """One line; of each part its text, where its first letter stands, and 1 or -1 for where it runs to."""
    text = "".join(part for part, *_ in parts)
    places = [left + STEP * way * number for part, left, way in parts for number in range(len(part))]
    boxes = np.array([(left, 0.1, left + STEP, 0.12) for left in places], np.float32)
    return Characters(np.array([ord(char) for char in text], np.int32), boxes, 600, 800)


def read(*parts: tuple[str, float, int]) -> str:
    runs = build_runs(drawn(*parts), lambda number: False)
    return " ".join(run.text for run in runs)


def test_letters_from_left_to_right_are_turned_round() -> None:
    # As an editor shows it, the first word's first letter stands at its right end.
    assert read(("ةكرش ", 0.5, 1), ("مليون", 0.45, -1)) == "شركة مليون"


@pytest.mark.parametrize("word", ["\u0628\u064e\u062a\u064f\u062b", "\u064e\u0628\u064f\u062a\u062b"])
def test_marks_stay_behind_their_letters(word: str) -> None:
    assert read((word, 0.5, 1)) == "\u062b\u062a\u064f\u0628\u064e"


def test_brackets_that_come_as_they_are_drawn() -> None:
    assert read(("בשנת ", 0.8, -1), ("2022", 0.7, 1), (") עלייה של ", 0.69, -1), ("12%", 0.5, 1), ("(.", 0.49, -1)) == (
        "בשנת 2022 (עלייה של 12%)."
    )


def test_words_of_a_latin_phrase() -> None:
    assert read(("של ", 0.8, -1), ("Ltd ", 0.6, 1), ("Acme", 0.5, 1), (".", 0.49, 1), (" ביום ראשון", 0.45, -1)) == (
        "של Acme Ltd. ביום ראשון"
    )


@pytest.mark.parametrize("line", ["החברה (בע מ) דיווחה", "א) החברה (בע", "מ) החברה 2022 12 (בע"])
def test_what_is_in_order_stays(line: str) -> None:
    assert read((line, 0.9, -1)) == line


def test_lines_from_left_to_right_stay() -> None:
    assert read(("See (1) Acme Ltd) and (2 ", 0.1, 1), ("אב", 0.5, -1)) == "See (1) Acme Ltd) and (2 אב"
