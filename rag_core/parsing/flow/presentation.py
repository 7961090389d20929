"""Read presentations: titles, texts, tables, charts and notes of each slide. Only this module imports python-pptx."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from rag_core.parsing.flow.content import (
    LANDSCAPE,
    Block,
    Cell,
    PageStart,
    TableBlock,
    TextBlock,
    clean_text,
    clean_words,
    read_cell,
)
from rag_core.parsing.flow.office import POINTS, open_package
from rag_core.parsing.flow.pictures import read_picture
from rag_core.parsing.formats.base import UnreadableError

_MAIN = "ppt/presentation.xml"


def read_presentation(path: Path, password: str | None, max_unpacked: int | None) -> list[Block]:
    """Return the slides of a presentation that are not hidden."""
    from lxml.etree import XMLSyntaxError
    from pptx import Presentation
    from pptx.exc import PythonPptxError

    package = open_package(path, _MAIN, password, max_unpacked)
    try:
        presentation = Presentation(package)
        blocks: list[Block] = []
        for number, slide in enumerate(presentation.slides, 1):
            if slide._element.get("show") != "0":
                blocks += [PageStart(str(number), LANDSCAPE), *_read_slide(slide)]
    except (PythonPptxError, XMLSyntaxError, BadZipFile, KeyError, ValueError, AttributeError, OSError) as error:
        raise UnreadableError(f"a slide is damaged: {type(error).__name__}") from None
    return blocks


def _read_slide(slide: Any) -> Iterator[Block]:
    title = slide.shapes.title
    title_text = clean_words(title.text_frame.text.replace("\v", "\n")) if title is not None else ""
    if title_text:
        yield TextBlock(title_text, level=0)
    title_id = title.shape_id if title is not None else None
    shapes = sorted(_iter_shapes(slide.shapes), key=lambda shape: (shape.top or 0, shape.left or 0))
    for shape in shapes:
        if shape.shape_id != title_id:
            yield from _read_shape(shape)
    frame = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if frame is not None and (text := clean_text(frame.text.replace("\v", "\n"))):
        yield TextBlock(f"Notes: {text}")


def _iter_shapes(shapes: Iterable[Any]) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes"):  # a group
            yield from _iter_shapes(shape.shapes)
        elif not _is_hidden(shape) and not _is_slide_number(shape):
            yield shape


def _is_hidden(shape: Any) -> bool:
    return any(one.get("hidden") in ("1", "true") for one in shape._element.iter("{*}cNvPr"))


def _is_slide_number(shape: Any) -> bool:
    return any(one.get("type") == "sldNum" for one in shape._element.iter("{*}ph"))


def _read_shape(shape: Any) -> Iterator[Block]:
    if getattr(shape, "has_table", False):
        yield _read_table(shape.table)
    elif getattr(shape, "has_chart", False):
        yield from _read_chart(shape.chart)
    elif relation := getattr(shape._element, "blip_rId", None):
        stored = shape.part.rels.get(relation)
        if stored is not None and not stored.is_external:
            size = (shape.width or 0) * POINTS, (shape.height or 0) * POINTS
            yield from read_picture(stored.target_part.blob, *size)
    elif shape.has_text_frame:
        paragraphs = shape.text_frame.paragraphs
        is_list = len(paragraphs) > 1
        for paragraph in paragraphs:
            if text := clean_text(paragraph.text.replace("\v", "\n")):
                yield TextBlock(text, indent=paragraph.level, is_compact=is_list)


def _read_table(table: Any) -> TableBlock:
    rows: list[list[Cell]] = []
    for row in table.rows:
        cells = [
            read_cell(cell.text.replace("\v", " "), column, cell.span_width, cell.span_height)
            if cell.is_merge_origin
            else read_cell(cell.text.replace("\v", " "), column)
            for column, cell in enumerate(row.cells)
            if not cell.is_spanned
        ]
        rows.append([cell for cell in cells if cell.text])
    return TableBlock(rows, 1 if table.first_row and len(rows) > 1 else None)


def _read_chart(chart: Any) -> Iterator[Block]:
    """Yield the title and the values of a chart."""
    if chart.has_title and (title := clean_text(chart.chart_title.text_frame.text)):
        yield TextBlock(title)
    for plot in chart.plots:
        categories = [str(one) for one in plot.categories]
        series = list(plot.series)
        if not categories or not series:
            continue
        rows = [[read_cell(one.name or "", number) for number, one in enumerate(series, 1)]]
        for place, category in enumerate(categories):
            values = [one.values[place] if place < len(one.values) else None for one in series]
            row = [read_cell(category, 0)]
            row += [read_cell(f"{value:g}", number) for number, value in enumerate(values, 1) if value is not None]
            rows.append(row)
        yield TableBlock([[cell for cell in row if cell.text] for row in rows], 1)
