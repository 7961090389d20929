"""Raised figures are superscripts and not part of a number."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core.text.numbers import parse_numbers
from rag_core.text.sentences import find_sentence_spans
from rag_core.text.words import tokenize
from tests.support.drawn_pdfs import make, read


def drawn_line(*parts: tuple[str, float, float]):
    """Draw a line of texts, each with its size and rise."""

    def draw(canvas: Canvas) -> None:
        text = canvas.beginText(72, 700)
        for part, size, rise in parts:
            text.setFont("Helvetica", size)
            text.setRise(rise)
            text.textOut(part)
        canvas.drawText(text)

    return draw


def parts_of(text: str) -> list[tuple[str, float, float]]:
    """Return the parts of a text in which ^ encloses raised text."""
    return [(part, 6.5, 4) if number % 2 else (part, 10, 0) for number, part in enumerate(text.split("^"))]


def text_of(path: Path, text: str) -> str:
    return read(make(path / "page.pdf", drawn_line(*parts_of(text)))).page.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Revenue was $5.2^1^ million and costs 3.1^2^.", "Revenue was $5.2¹ million and costs 3.1²."),
        ("It was 10^6^ kg or 10^-6^ t in 2021^12^, on 4 m^2^.", "It was 10⁶ kg or 10⁻⁶ t in 2021¹², on 4 m²."),
        ("^1^Without the plant at Leeds, 1,234^3,4^ tons.", "¹Without the plant at Leeds, 1,234³,⁴ tons."),
        ("Sales rose by 12%^5^ in the 3^rd^ quarter (34^a^).", "Sales rose by 12%⁵ in the 3rd quarter (34a)."),
        ("Net sales^(2)^ and others^[3]^ were 5.", "Net sales(2) and others[3] were 5."),
    ],
)
def test_raised_figures_are_superscripts(tmp_path: Path, text: str, expected: str) -> None:
    assert text_of(tmp_path, text) == expected


def test_footnote_mark_does_not_change_the_number_before_it(tmp_path: Path) -> None:
    text = text_of(tmp_path, "Revenue was 5.2^1^ in 2021^2^ and 1,234^3^ in 2022.")
    assert [number.text for number in parse_numbers(text)] == ["5.2", "2021", "1,234", "2022"]


def test_footnote_mark_does_not_hide_the_end_of_a_sentence(tmp_path: Path) -> None:
    text = text_of(tmp_path, "It sold the plant in Leeds.^1^ The others stay open.^2^ They run.")
    assert [text[start:end] for start, end in find_sentence_spans(text)] == [
        "It sold the plant in Leeds.",
        "¹ The others stay open.",
        "² They run.",
    ]


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_raised_figures_of_rotated_text(tmp_path: Path, rotation: int) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.translate(300, 400)
        canvas.rotate(rotation)
        canvas.translate(-172, -700)
        drawn_line(*parts_of("Revenue was $5.2^1^ million."))(canvas)

    text = read(make(tmp_path / "page.pdf", draw)).page.text
    assert text.replace(" ¹", "¹") == "Revenue was $5.2¹ million."


@pytest.mark.parametrize(
    "parts",
    [
        [("CO", 10, 0), ("2", 6.5, -2), (" and H", 10, 0), ("2", 6.5, -2), ("O.", 10, 0)],
        [("Q4", 10, 0), ("2021", 7, 0), (" was good.", 10, 0)],
        [("T", 30, 0), ("en 2021 plants", 10, 0)],
        [("No. ", 10, 4), ("7", 10, 4), (" was sold.", 10, 4)],
    ],
)
def test_other_figures_are_not_raised(tmp_path: Path, parts: list[tuple[str, float, float]]) -> None:
    text = read(make(tmp_path / "page.pdf", drawn_line(*parts))).page.text
    assert text.split() == "".join(part for part, *_ in parts).split()


def test_superscripts_are_ignored_in_comparison() -> None:
    assert [word.folded for word in tokenize("Net sales² rose to 5.2¹ million.")][:5] == [
        "net",
        "sales",
        "rose",
        "to",
        "5.2",
    ]
