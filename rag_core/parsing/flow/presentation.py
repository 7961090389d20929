"""Read presentations: titles, texts, tables, charts and notes of each slide. Only this module imports python-pptx."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from rag_core.parsing.flow.archive import Archive
from rag_core.parsing.flow.content import (
    LANDSCAPE,
    Block,
    Cell,
    Content,
    PageStart,
    TableBlock,
    TextBlock,
    clean_text,
    clean_words,
    read_cell,
)
from rag_core.parsing.flow.office import open_package, read_points, read_relations
from rag_core.parsing.flow.pictures import read_picture
from rag_core.parsing.formats.base import WRONG_CONTENT, UnreadableError

_MAIN = "ppt/presentation.xml"


def read_presentation(path: Path, password: str | None, max_unpacked: int | None) -> Content:
    """Return the content of the visible slides of a presentation; see `FlowFormat.read`.

    A slide that cannot be read becomes a page with a problem.
    """
    from pptx.exc import PythonPptxError

    package = open_package(path, _MAIN, password, max_unpacked)
    archive = Archive(package, max_unpacked)
    try:
        presentation = _open(package)
    except UnreadableError:
        presentation = _open(_remove_damaged_parts(archive))
    relations = read_relations(archive, _MAIN)
    blocks: list[Block] = []
    for number, entry in enumerate(presentation.element.iter("{*}sldId"), 1):
        relation = next((value for name, value in entry.attrib.items() if name.endswith("}id")), "")
        try:
            slide = presentation.part.related_slide(relation)
            if slide._element.get("show") != "0":
                blocks += [PageStart(str(number), LANDSCAPE), *_read_slide(slide, archive)]
        except (PythonPptxError, *WRONG_CONTENT):
            problem = f"its part {relations.get(relation, '')} is missing or damaged"
            blocks.append(PageStart(str(number), LANDSCAPE, problem=problem))
    return Content(blocks, problems=archive.problems)


def _open(package: BytesIO) -> Any:
    from lxml.etree import XMLSyntaxError
    from pptx import Presentation
    from pptx.exc import PythonPptxError

    package.seek(0)
    try:
        return Presentation(package)
    except (PythonPptxError, XMLSyntaxError, BadZipFile, OSError, *WRONG_CONTENT) as error:
        raise UnreadableError(f"a slide is damaged: {type(error).__name__}") from None


def _remove_damaged_parts(archive: Archive) -> BytesIO:
    """Return a copy of an archive without parts that cannot be read, and without relations to such or missing parts.

    Raise `UnreadableError` if the main part cannot be read.
    """
    from lxml import etree

    is_markup = {name: name.endswith((".xml", ".rels")) for name in archive.names}
    for name, is_xml in is_markup.items():
        if name == _MAIN:
            archive.parse(name)
        (archive.parse_optional if is_xml else archive.read_optional)(name)
    damaged = {name for name in is_markup if any(f"its part {name} " in problem for problem in archive.problems)}
    package = BytesIO()
    with ZipFile(package, "w") as mended:
        for name in archive.names:
            data = archive.read_optional(name)
            folder, is_relations, part = name.rpartition("_rels/")
            if is_relations and name not in damaged:
                root = archive.parse(name)
                known = read_relations(archive, f"{folder}{part.removesuffix('.rels')}")
                for relation in list(root):
                    target = known.get(relation.get("Id"), "")
                    if relation.get("TargetMode") != "External" and (target not in archive or target in damaged):
                        root.remove(relation)
                data = etree.tostring(root)
            if name not in damaged:
                mended.writestr(name, data)
    return package


def _read_slide(slide: Any, archive: Archive) -> Iterator[Block]:
    from pptx.exc import PythonPptxError

    part = slide.part.partname.lstrip("/")
    read_relations(archive, part)  # add missing parts to the problems, because python-pptx ignores them
    title = slide.shapes.title
    title_text = clean_words(title.text_frame.text.replace("\v", "\n")) if title is not None else ""
    if title_text:
        yield TextBlock(title_text, level=0)
    shapes = [shape for shape in _iter_shapes(slide.shapes) if title is None or shape._element is not title._element]
    for shape in sorted(shapes, key=lambda shape: (_read_length(shape, "top"), _read_length(shape, "left"))):
        with archive.leave_out(part, PythonPptxError):
            yield from list(_read_shape(shape))
    with archive.leave_out(part, PythonPptxError):
        frame = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
        if frame is not None and (text := clean_text(frame.text.replace("\v", "\n"))):
            yield TextBlock(f"Notes: {text}")


def _read_length(shape: Any, name: str) -> float:
    """Return a length or position of a shape in points; 0 if neither the shape nor the slide layout states it."""
    try:
        return read_points(str(getattr(shape, name) or 0))
    except WRONG_CONTENT:
        return 0.0


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
            size = (_read_length(shape, name) for name in ("width", "height"))
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
    """Yield the title of a chart, if any, and for each plot a table of its values."""
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
