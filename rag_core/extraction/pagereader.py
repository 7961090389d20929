"""One page, start to end: text layer, layout, and reading it as a picture where there is no text."""

from __future__ import annotations

from rag_core.extraction.compose import compose
from rag_core.extraction.headings import heading_lines
from rag_core.extraction.order import ordered
from rag_core.extraction.paragraphs import separators
from rag_core.extraction.pdfium import PageReader
from rag_core.extraction.protocol import ReadPage
from rag_core.extraction.runs import Run
from rag_core.extraction.textlayer import runs_of
from rag_core.extraction.vocabulary import Vocabulary
from rag_core.types import Page, PageState


def read_page(reader: PageReader, page_index: int, vocabulary: Vocabulary) -> ReadPage:
    """Read a page; ``page_label`` and ``heading`` are left to whoever knows the document."""
    runs, _ = runs_of(reader.characters(), reader.is_bold)
    return finish(runs, page_index, reader.width, reader.height, vocabulary)


def finish(runs: list[Run], page_index: int, width: float, height: float, vocabulary: Vocabulary) -> ReadPage:
    lines = ordered(runs)
    vocabulary.add("\n".join(line.text for line in lines))
    text, boxes, spans = compose(lines, separators(lines, vocabulary))
    page = Page(
        page_index,
        "",
        text,
        PageState.TEXT if text.strip() else PageState.EMPTY,
        width,
        height,
        boxes=boxes,
    )
    return ReadPage(page, heading_lines(lines, spans))
