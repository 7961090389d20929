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


def test_figures_of_a_row_stay_in_its_order() -> None:
    assert read(("מגורים ", 0.9, -1), ("108.11 ", 0.6, 1), ("91.23", 0.4, 1)) == "מגורים 108.11 91.23"


@pytest.mark.parametrize("line", ["החברה (בע מ) דיווחה", "א) החברה (בע", "מ) החברה 2022 12 (בע"])
def test_text_in_logical_order_is_unchanged(line: str) -> None:
    assert read((line, 0.9, -1)) == line
