"""Right-to-left text is read in logical order."""

from __future__ import annotations

import numpy as np
import pytest

from rag_core.parsing.pdf.text_layer import build_runs
from rag_core.parsing.pdf.text_page import Characters

STEP = 0.01


def drawn(*parts: tuple[str, float, int]) -> Characters:
    """Return a line of parts, each with its text, start and direction (1 or -1)."""
    text = "".join(part for part, *_ in parts)
    places = [left + STEP * way * number for part, left, way in parts for number in range(len(part))]
    boxes = np.array([(left, 0.1, left + STEP, 0.12) for left in places], np.float32)
    return Characters(np.array([ord(char) for char in text], np.int32), boxes, 600, 800)


def read(*parts: tuple[str, float, int]) -> str:
    runs = build_runs(drawn(*parts), lambda number: False)
    return " ".join(run.text for run in runs)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((("ةكرش ", 0.5, 1), ("مليون", 0.45, -1)), "شركة مليون"),
        ((("\u0628\u064e\u062a\u064f\u062b", 0.5, 1),), "\u062b\u062a\u064f\u0628\u064e"),
        ((("\u064e\u0628\u064f\u062a\u062b", 0.5, 1),), "\u062b\u062a\u064f\u0628\u064e"),
        (
            (("בשנת ", 0.8, -1), ("2022", 0.7, 1), (") עלייה של ", 0.69, -1), ("12%", 0.5, 1), ("(.", 0.49, -1)),
            "בשנת 2022 (עלייה של 12%).",
        ),
        (
            (("של ", 0.8, -1), ("Ltd ", 0.6, 1), ("Acme", 0.5, 1), (".", 0.49, 1), (" ביום ראשון", 0.45, -1)),
            "של Acme Ltd. ביום ראשון",
        ),
    ],
    ids=["reversed letters", "marks after letters", "marks before letters", "brackets", "Latin words"],
)
def test_right_to_left_text_is_reordered(parts: tuple[tuple[str, float, int], ...], expected: str) -> None:
    assert read(*parts) == expected


@pytest.mark.parametrize("line", ["החברה (בע מ) דיווחה", "א) החברה (בע", "מ) החברה 2022 12 (בע"])
def test_text_in_logical_order_is_unchanged(line: str) -> None:
    assert read((line, 0.9, -1)) == line


def test_left_to_right_lines_are_unchanged() -> None:
    assert read(("See (1) Acme Ltd) and (2 ", 0.1, 1), ("אב", 0.5, -1)) == "See (1) Acme Ltd) and (2 אב"
