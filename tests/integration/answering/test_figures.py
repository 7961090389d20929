"""Figures with captions are places that questions name, and their pictures are shown with their citation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from rag_core.engine import Engine
from rag_core.types.answers import AnswerState
from tests.support.drawn_pdfs import PROSE, lines, make
from tests.support.engines import add_document, open_library

CHART, PHOTO, SKETCH = "Figure 1: Herring landed by month", "Abb. 2 Der Kran am Kai", "Fig. 3. Plan of the basin"


def draw_pages(canvas: Canvas) -> None:
    """Draw a chart above its caption, a photo above its caption, and a plan below its caption, between prose."""
    lines(*PROSE, top=780)(canvas)
    canvas.setFillColorRGB(0.2, 0.4, 0.8)
    for number, height in enumerate((40, 90, 60, 120)):
        canvas.rect(100 + 60 * number, 520, 30, height, fill=1)
    canvas.line(90, 520, 340, 520)
    canvas.line(90, 520, 90, 650)
    canvas.setFillColorRGB(0, 0, 0)
    canvas.setFont("Helvetica", 9)
    for number, month in enumerate(("March", "April", "May", "June")):
        canvas.drawString(100 + 60 * number, 508, month)
    lines(CHART, top=485)(canvas)
    lines(*PROSE, top=450)(canvas)
    noise = np.random.default_rng(1).integers(0, 200, (120, 200, 3), np.uint8)
    canvas.drawImage(ImageReader(Image.fromarray(noise)), 100, 220, 200, 120)
    lines(PHOTO, top=200)(canvas)


def draw_plan(canvas: Canvas) -> None:
    lines(*PROSE, top=780)(canvas)
    lines(SKETCH, top=700)(canvas)
    canvas.circle(250, 580, 80)
    canvas.circle(250, 580, 20)
    lines(*PROSE, top=420)(canvas)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("figures")
    path = make(folder / "harbour.pdf", draw_pages, draw_plan)
    with open_library(folder / "data", {}) as engine:
        add_document(engine, path.name, path.read_bytes())
        yield engine


@pytest.mark.parametrize(
    ("question", "caption", "place"),
    [
        ("What does figure 1 show?", CHART, (90, 500, 340, 645)),
        ("Was zeigt Abbildung 2?", PHOTO, (100, 220, 300, 340)),
        ("Show figure 3", SKETCH, (72, 500, 330, 700)),
    ],
)
def test_question_for_a_figure_quotes_its_caption_and_shows_it(
    engine: Engine, question: str, caption: str, place: tuple[int, int, int, int]
) -> None:
    answer = engine.answer(question)
    assert answer.state is AnswerState.ANSWERED
    [citation] = answer.citations
    assert citation.quote == caption
    figure = engine.documents.render_figure(
        citation.document_id,
        citation.page_index,
        version_id=citation.version_id,
        span=(citation.start, citation.end),
        scale=1.0,
    )
    assert figure is not None
    left, bottom, right, top = place
    # The caption is a line of about 20 points more.
    assert right - left <= figure.width <= right - left + 70
    assert top - bottom <= figure.height <= top - bottom + 60


def test_caption_without_a_figure_shows_none(engine: Engine) -> None:
    [document] = engine.documents.list()
    page = engine.documents.page(document.document_id, 0)
    start = page.text.index("May")
    figure = engine.documents.render_figure(
        document.document_id, 0, version_id=document.version_id, span=(start, start + 3)
    )
    assert figure is None
