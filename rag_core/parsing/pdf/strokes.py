"""Find the thin straight lines of a page, which may be borders of cells or strike out text."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np

from rag_core.parsing.pdf.page_objects import (
    Bounds,
    Matrix,
    list_group_objects,
    read_all_bounds,
    read_colour,
    read_kinds,
    read_matrix,
    read_paint_mode,
    transform_bounds,
)
from rag_core.parsing.pdf.pdfium_calls import INT, POINTER, bind_function, is_annotation_hidden, iter_annotations, raw

# Maximum thickness and minimum length of a line in points.
_MAX_THICKNESS = 3.0
_MIN_LENGTH = 2.0
# Maximum number of objects of a group, and of annotations of a page, that are searched. A path with more segments is a
# drawing.
_MAX_OBJECTS = 20_000
_MAX_SEGMENTS = 1000
_MAX_DEPTH = 3
# A line cannot be seen on paper if all of its colours are at least this bright.
_LIGHT = 235

_count_segments = bind_function("FPDFPath_CountSegments", INT, POINTER)
# Called for every segment of a page, so without types of arguments.
_quick_segment = bind_function("FPDFPath_GetPathSegment", POINTER)
_quick_segment_kind = bind_function("FPDFPathSegment_GetType", INT)
_quick_segment_point = bind_function("FPDFPathSegment_GetPoint", INT)
_stroke_colour = bind_function("FPDFPageObj_GetStrokeColor", INT, *[POINTER] * 5)


def find_strokes(page: Any, lines: list[tuple[Bounds, int]]) -> list[Bounds]:
    """Return the bounds of the visible lines of a page and of the lines of its StrikeOut annotations.

    ``lines`` are the results of `iter_lines` for the page.
    """
    visible = (bounds for bounds, path in lines if _is_long(bounds) and _is_visible(path))
    return [*_iter_annotated_lines(page), *visible]


def iter_lines(items: list[int], matrix: Matrix | None = None, depth: int = 0) -> Iterator[tuple[Bounds, int]]:
    """Yield the bounds and the path of each straight line or thin area, such as the border of a table cell.

    ``items`` are the objects of a page, or of the group with the matrix ``matrix``. Lines in groups are included.
    """
    kinds = read_kinds(items)
    paths = [items[place] for place in np.flatnonzero(kinds == raw.FPDF_PAGEOBJ_PATH).tolist()]
    for path, written in zip(paths, read_all_bounds(paths), strict=True):
        bounds = written if matrix is None else transform_bounds(written, matrix)
        if _is_thin(bounds):
            yield bounds, path
        elif 2 < (count := _count_segments(path)) <= _MAX_SEGMENTS:
            yield from zip(filter(_is_thin, _iter_parts(path, count, matrix)), repeat(path))
    if depth < _MAX_DEPTH:
        for place in np.flatnonzero(kinds == raw.FPDF_PAGEOBJ_FORM).tolist():
            group = items[place]
            yield from iter_lines(list_group_objects(group, _MAX_OBJECTS), read_matrix(group, matrix), depth + 1)


def _iter_parts(path: int, count: int, outer: Matrix | None) -> Iterator[Bounds]:
    """Yield the bounds of each part of a path, and of each side of a part that is neither thin nor filled."""
    x, y = ctypes.c_float(), ctypes.c_float()
    pointer, to_x, to_y = map(POINTER.from_param, (path, ctypes.addressof(x), ctypes.addressof(y)))
    parts: list[list[tuple[float, float, float]]] = []
    for number in range(count):
        segment = POINTER.from_param(_quick_segment(pointer, number))
        if _quick_segment_kind(segment) == raw.FPDF_SEGMENT_MOVETO or not parts:
            parts.append([])
        _quick_segment_point(segment, to_x, to_y)
        parts[-1].append((x.value, y.value, 1.0))
    matrix = read_matrix(path, outer)
    is_filled = read_paint_mode(path)[0]
    for part in parts:
        points = (np.array(part) @ matrix)[:, :2]
        bounds = (*points.min(axis=0).tolist(), *points.max(axis=0).tolist())
        yield bounds
        if not is_filled and not _is_thin(bounds):
            ends = np.roll(points, -1, axis=0)
            for low, high in zip(np.minimum(points, ends).tolist(), np.maximum(points, ends).tolist(), strict=True):
                yield (*low, *high)


def _is_thin(bounds: Bounds) -> bool:
    left, bottom, right, top = bounds
    return min(right - left, top - bottom) <= _MAX_THICKNESS


def _is_long(bounds: Bounds) -> bool:
    left, bottom, right, top = bounds
    width, height = right - left, top - bottom
    return max(width, height) >= max(_MIN_LENGTH, 2 * min(width, height))


def _is_visible(path: int) -> bool:
    is_filled, is_stroked = read_paint_mode(path)
    colours = [read_colour(path)] if is_filled else []
    if is_stroked:
        colours.append(read_colour(path, _stroke_colour))
    return any(min(colour[:3]) < _LIGHT and colour[3] for colour in colours)


def _iter_annotated_lines(page: Any) -> Iterator[Bounds]:
    """Yield the line through the middle of each quadrilateral of the visible StrikeOut annotations."""
    for _index, annotation in iter_annotations(page, _MAX_OBJECTS):
        if raw.FPDFAnnot_GetSubtype(annotation) != raw.FPDF_ANNOT_STRIKEOUT or is_annotation_hidden(annotation):
            continue
        for number in range(min(raw.FPDFAnnot_CountAttachmentPoints(annotation), _MAX_SEGMENTS)):
            quad = raw.FS_QUADPOINTSF()
            if raw.FPDFAnnot_GetAttachmentPoints(annotation, number, quad):
                yield _find_middle_line(quad)


def _find_middle_line(quad: Any) -> Bounds:
    across, down = (quad.x1, quad.x2, quad.x3, quad.x4), (quad.y1, quad.y2, quad.y3, quad.y4)
    left, bottom, right, top = min(across), min(down), max(across), max(down)
    if right - left >= top - bottom or abs(quad.x1 - quad.x2) > abs(quad.y1 - quad.y2):
        return left, (bottom + top) / 2, right, (bottom + top) / 2
    return (left + right) / 2, bottom, (left + right) / 2, top
