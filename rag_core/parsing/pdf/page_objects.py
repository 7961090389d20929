"""Read the objects of a page: positions, styles, clips, and layers.

A page is given by its pdfium handle. An object is given by its address, a plain number that is valid while its page
is open. A group is an object that contains other objects (a form XObject). Bounds are left, bottom, right and top in
points, in PDF user space.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np

from rag_core.parsing.pdf.pdfium_calls import INT, POINTER, bind_function, handle_address, raw
from rag_core.types.arrays import BoolArray, FloatArray, Int64Array, IntArray

Matrix: TypeAlias = Any
Bounds: TypeAlias = tuple[float, ...]
# A rectangle that is larger than any page.
EVERYWHERE = (-1e6, -1e6, 1e6, 1e6)
_NOWHERE = (-1e6, -1e6, 1 - 1e6, 1 - 1e6)

# Number of objects at the start and at the end of a page that are searched for filled areas. Areas under text are
# usually painted first, and areas that were added to a finished page last.
_END_OBJECTS = 16
# Minimum width and height of filled areas in points.
_MIN_FILL_SIZE = 6.0
# Number of objects at the end of a page, and of each group, that are searched for areas that cover text, which are
# painted after the text.
_LATE_OBJECTS = 160
_COVERING = raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING
# Maximum distance between the parts of one image in points.
_MAX_PART_DISTANCE = 0.5
_MAX_DEPTH = 3
# Maximum number of objects of a group that are searched for an image.
_MAX_GROUP_OBJECTS = 2000
# A page with more objects is a drawing.
_MAX_PAGE_OBJECTS = 20_000
# A clip with more paths, or a path with more segments, is not a simple rectangle and is ignored.
_MAX_CLIPS, _MAX_SEGMENTS = 8, 16

_render_mode = bind_function("FPDFTextObj_GetTextRenderMode", INT, POINTER)
_fill_colour = bind_function("FPDFPageObj_GetFillColor", INT, *[POINTER] * 5)
_page_object = bind_function("FPDFPage_GetObject", POINTER, POINTER, INT)
_object_type = bind_function("FPDFPageObj_GetType", INT, POINTER)
_quick_object_type = bind_function("FPDFPageObj_GetType", INT)
_object_bounds = bind_function("FPDFPageObj_GetBounds", INT, *[POINTER] * 5)
_quick_object_bounds = bind_function("FPDFPageObj_GetBounds", INT)
_draw_mode = bind_function("FPDFPath_GetDrawMode", INT, POINTER, POINTER, POINTER)
_count_within = bind_function("FPDFFormObj_CountObjects", INT, POINTER)
_object_within = bind_function("FPDFFormObj_GetObject", POINTER, POINTER, ctypes.c_ulong)
_set_active = bind_function("FPDFPageObj_SetIsActive", INT, POINTER, INT)
_is_clear = bind_function("FPDFPageObj_HasTransparency", INT, POINTER)
_object_matrix = bind_function("FPDFPageObj_GetMatrix", INT, POINTER, POINTER)
_count_marks = bind_function("FPDFPageObj_CountMarks", INT, POINTER)
_mark = bind_function("FPDFPageObj_GetMark", POINTER, POINTER, ctypes.c_ulong)
_mark_name = bind_function("FPDFPageObjMark_GetName", INT, POINTER, POINTER, ctypes.c_ulong, POINTER)
_clip = bind_function("FPDFPageObj_GetClipPath", POINTER, POINTER)
_count_clips = bind_function("FPDFClipPath_CountPaths", INT, POINTER)
_count_segments = bind_function("FPDFClipPath_CountPathSegments", INT, POINTER, INT)
_segment = bind_function("FPDFClipPath_GetPathSegment", POINTER, POINTER, INT, INT)
_segment_point = bind_function("FPDFPathSegment_GetPoint", INT, *[POINTER] * 3)
# A single buffer is enough for the colours of all objects, because pdfium runs on one thread.
_COLOUR_PARTS = (ctypes.c_uint * 4)()
_NO_COLOUR = (0, 0, 0, 255)
_PART_ADDRESSES = [ctypes.addressof(_COLOUR_PARTS) + 4 * place for place in range(4)]
# Buffer for the name of a content mark in UTF-16, followed by the length of the name.
_NAME = (ctypes.c_ushort * 12)()
_NAME_ADDRESS, _NAME_BYTES = ctypes.addressof(_NAME), 16


@dataclass(frozen=True)
class Covers:
    """Areas that may cover text, in the order in which the page paints them.

    Attributes
    ----------
    rects : FloatArray, shape (n, 4)
        The areas as fractions of the displayed page.
    pictures : BoolArray, shape (n,)
        Which areas are images.
    clear : BoolArray, shape (n,)
        Which areas are transparent.
    before : dict of int to int
        The number of these areas that are painted before each text object; 0 for a text object that is missing here.
    layered : set of int
        The text objects in groups that are part of a layer.
    """

    rects: FloatArray
    pictures: BoolArray
    clear: BoolArray
    before: dict[int, int]
    layered: set[int]


def read_styles(items: Sequence[int]) -> Int64Array:
    """Return the render mode, and red, green, blue and opacity of the fill (0..255), of text objects, shape (n, 5)."""
    colours = np.zeros((len(items), 4), np.uint32)
    first, size = colours.ctypes.data, colours.itemsize
    places = [range(first + size * part, first + size * part + colours.nbytes, 4 * size) for part in range(4)]
    has_colour = np.fromiter(map(_fill_colour, items, *places), np.int32, len(items)) == 1
    colours[~has_colour] = _NO_COLOUR
    modes = np.fromiter(map(_render_mode, items), np.int64, len(items))
    return np.column_stack([modes, colours]).astype(np.int64)


def read_clips(items: Sequence[int]) -> dict[int, Bounds]:
    """Return the bounds of the clip of each object that has a clip, by the index of the object in ``items``."""
    counts = map(_count_clips, map(_clip, items))
    clipped = [number for number, count in enumerate(counts) if 0 < count <= _MAX_CLIPS]
    return {number: _read_clip_bounds(_clip(items[number])) for number in clipped}


def find_objects_in_layers(items: Sequence[int]) -> set[int]:
    """Return the objects that are part of a layer, which may be switched off.

    Such an object has a content mark with the name "OC" (optional content). Objects that are marked together share one
    mark.
    """
    counts = list(map(_count_marks, items))
    layered = set[int]()
    mark_is_layer: dict[int | None, bool] = {None: False}
    for number in range(max(counts, default=0)):
        marks = list(map(_mark, items, repeat(number)))
        mark_is_layer.update((mark, _marks_layer(mark)) for mark in set(marks) - mark_is_layer.keys())
        layered.update(item for item, mark in zip(items, marks, strict=True) if mark_is_layer[mark])
    return layered


def find_filled_areas(page: Any) -> tuple[list[Bounds], list[tuple[int, ...]]]:
    """Return the bounds and the colours of the filled areas among the first and the last objects that are painted."""
    handle = handle_address(page)
    count = int(raw.FPDFPage_CountObjects(page))
    rects: list[Bounds] = []
    fills: list[tuple[int, ...]] = []
    for index in sorted({*range(min(count, _END_OBJECTS)), *range(max(0, count - _END_OBJECTS), count)}):
        item = _page_object(handle, index)
        if _object_type(item) == raw.FPDF_PAGEOBJ_PATH:
            left, bottom, right, top = read_bounds(item)
            if min(right - left, top - bottom) >= _MIN_FILL_SIZE and read_paint_mode(item)[0]:
                rects.append((left, bottom, right, top))
                fills.append(read_colour(item)[:3])
    return rects, fills


def find_covering_areas(page: Any, fractions: Callable[[Sequence[Bounds]], FloatArray]) -> Covers:
    """Return the areas that are painted late and may cover text, including areas inside groups.

    Parameters
    ----------
    page : handle
    fractions : callable
        Converts bounds to fractions of the displayed page, shape (n, 4).
    """
    count = int(raw.FPDFPage_CountObjects(page))
    handle = handle_address(page)
    collector = _CoverCollector()
    collector.add(list(map(_page_object, repeat(handle), range(max(0, count - _LATE_OBJECTS), count))))
    return Covers(
        fractions(collector.rects),
        np.array(collector.pictures, bool),
        np.array(collector.clear, bool),
        collector.before,
        collector.layered,
    )


def find_images(page: Any) -> list[Bounds]:
    """Return the bounds of images, and of groups that contain images."""
    handle = handle_address(page)
    items = (_page_object(handle, index) for index in range(raw.FPDFPage_CountObjects(page)))
    return [read_bounds(item) for item in items if _contains_image(item)]


def list_objects(page: Any) -> list[int]:
    """Return the objects of a page; none if there are so many that the page is a drawing."""
    handle, count = handle_address(page), int(raw.FPDFPage_CountObjects(page))
    return list(map(_page_object, repeat(handle), range(count))) if count <= _MAX_PAGE_OBJECTS else []


def read_kinds(items: list[int]) -> IntArray:
    """Return the type of each object, a constant ``FPDF_PAGEOBJ_…``."""
    return np.fromiter(map(_quick_object_type, map(POINTER.from_param, items)), np.int32, len(items))


def may_have_slanted_text(items: list[int], least: float, outer: Matrix | None = None, depth: int = 0) -> bool:
    """Return whether text among the objects of a page, or inside groups, may be neither upright nor sideways.

    Return true also if a group is nested too deeply or contains too many objects to search.

    Parameters
    ----------
    items : list of int
    least : float
        Minimum angle in radians between slanted text and the nearest of these directions.
    outer : Matrix, optional
        Matrix of the group that contains the objects.
    depth : int
        Number of groups around the objects.
    """
    kinds = read_kinds(items)
    texts = [items[place] for place in np.flatnonzero(kinds == raw.FPDF_PAGEOBJ_TEXT).tolist()]
    parts = np.zeros((len(texts), 6), np.float32)
    first, size = parts.ctypes.data, 6 * parts.itemsize
    deque(map(_object_matrix, texts, range(first, first + parts.nbytes, size)), maxlen=0)
    axes = parts[:, :4].reshape(-1, 2, 2).astype(np.float64)
    if outer is not None:
        axes = axes @ outer[:2, :2]
    turns = np.arctan2(axes[:, 1, 0], axes[:, 0, 0]) % (np.pi / 2)
    if (np.minimum(turns, np.pi / 2 - turns) >= least).any():
        return True
    groups = [items[place] for place in np.flatnonzero(kinds == raw.FPDF_PAGEOBJ_FORM).tolist()]
    return any(
        depth == _MAX_DEPTH
        or _count_within(group) > _MAX_GROUP_OBJECTS
        or may_have_slanted_text(
            list_group_objects(group, _MAX_GROUP_OBJECTS), least, read_matrix(group, outer), depth + 1
        )
        for group in groups
    )


def list_group_objects(group: int, most: int) -> list[int]:
    """Return the first ``most`` objects of a group."""
    return [_object_within(group, index) for index in range(min(_count_within(group), most))]


def find_pictures(items: list[int]) -> list[Bounds]:
    """Return the bounds of the images among the objects of a page, including images inside groups.

    Scanners and word processors cut large images into strips or tiles; such parts count as one image.
    """
    pictures = list(_iter_pictures(items))
    for across in (0, 1):
        pictures = _join_parts(pictures, across)
    return pictures


def _join_parts(pictures: Sequence[Bounds], across: int) -> list[Bounds]:
    """Join pictures that have the same ends on the axis ``across`` (0 is horizontal) and touch on the other axis."""
    along = 1 - across
    joined: list[Bounds] = []
    for box in sorted(pictures, key=lambda box: (round(box[across]), round(box[across + 2]), box[along])):
        last = joined[-1] if joined else None
        if (
            last
            and all(abs(box[side] - last[side]) < _MAX_PART_DISTANCE for side in (across, across + 2))
            and abs(box[along] - last[along + 2]) < _MAX_PART_DISTANCE
        ):
            joined[-1] = (min(last[0], box[0]), min(last[1], box[1]), max(last[2], box[2]), max(last[3], box[3]))
        else:
            joined.append(box)
    return joined


def _iter_pictures(items: list[int], matrix: Matrix | None = None, depth: int = 0) -> Iterator[Bounds]:
    kinds = read_kinds(items)
    for number in np.flatnonzero((kinds == raw.FPDF_PAGEOBJ_IMAGE) | (kinds == raw.FPDF_PAGEOBJ_FORM)).tolist():
        item = items[number]
        if kinds[number] == raw.FPDF_PAGEOBJ_IMAGE:
            yield read_bounds(item, matrix)
        elif depth < _MAX_DEPTH:
            inner = list_group_objects(item, _MAX_GROUP_OBJECTS)
            yield from _iter_pictures(inner, read_matrix(item, matrix), depth + 1)


@contextmanager
def hide_objects(items: Collection[int]) -> Iterator[None]:
    """Hide objects while the context is active, so that their page is drawn without them."""
    for item in items:
        _set_active(item, 0)
    try:
        yield
    finally:
        for item in items:
            _set_active(item, 1)


def read_bounds(item: int, matrix: Matrix | None = None) -> Bounds:
    """Return the bounds of an object; ``matrix`` is the matrix of the group that contains the object."""
    sides = (ctypes.c_float * 4)()
    first = ctypes.addressof(sides)
    _object_bounds(item, first, first + 4, first + 8, first + 12)
    return tuple(sides) if matrix is None else transform_bounds(tuple(sides), matrix)


def read_all_bounds(items: list[int]) -> list[Bounds]:
    """Return the bounds of objects, which is faster than `read_bounds` for each object."""
    sides = np.zeros((len(items), 4), np.float32)
    first, size = sides.ctypes.data, 4 * sides.itemsize
    starts = range(first, first + size, sides.itemsize)
    places = [map(POINTER.from_param, range(start, start + sides.nbytes, size)) for start in starts]
    deque(map(_quick_object_bounds, map(POINTER.from_param, items), *places), maxlen=0)
    return list(map(tuple, sides.tolist()))


def read_colour(item: int, read: Callable[..., int] = _fill_colour) -> tuple[int, ...]:
    """Return red, green, blue and opacity of the fill of an object; opaque black for a pattern.

    ``read`` is the function of pdfium for the colour, by default that for the fill.
    """
    return tuple(_COLOUR_PARTS) if read(item, *_PART_ADDRESSES) else _NO_COLOUR


@dataclass
class _CoverCollector:
    """Collect the data of `Covers`, with bounds in points."""

    rects: list[Bounds] = field(default_factory=list)
    pictures: list[bool] = field(default_factory=list)
    clear: list[bool] = field(default_factory=list)
    before: dict[int, int] = field(default_factory=dict)
    layered: set[int] = field(default_factory=set)

    def add(self, items: list[int], matrix: Matrix | None = None, depth: int = 0, layered: bool = False) -> None:
        """Add the objects of a page or group; ``layered`` says whether the group is in a layer."""
        kinds = read_kinds(items)
        others = np.flatnonzero(kinds != raw.FPDF_PAGEOBJ_TEXT).tolist()
        start = 0
        for end in [*others, len(items)]:
            texts = items[start:end]
            self.before.update(dict.fromkeys(texts, len(self.rects)))
            self.layered.update(texts if layered else ())
            if end < len(items):
                self._add_other(items[end], int(kinds[end]), matrix, depth, layered)
            start = end + 1

    def _add_other(self, item: int, kind: int, matrix: Matrix | None, depth: int, layered: bool) -> None:
        if kind == raw.FPDF_PAGEOBJ_FORM and depth < _MAX_DEPTH:
            count = _count_within(item)
            inner = [_object_within(item, index) for index in range(max(0, count - _LATE_OBJECTS), count)]
            self.add(inner, read_matrix(item, matrix), depth + 1, layered or bool(find_objects_in_layers([item])))
        elif kind in _COVERING:
            left, bottom, right, top = rect = read_bounds(item)
            is_large = min(right - left, top - bottom) >= _MIN_FILL_SIZE
            if is_large and (kind != raw.FPDF_PAGEOBJ_PATH or read_paint_mode(item)[0]):
                self.rects.append(rect if matrix is None else transform_bounds(rect, matrix))
                self.pictures.append(kind == raw.FPDF_PAGEOBJ_IMAGE)
                self.clear.append(bool(_is_clear(item)))


def read_matrix(group: int, outer: Matrix | None) -> Matrix:
    """Return the matrix that converts coordinates in a group, or in a path, to coordinates on the page.

    ``outer`` is the matrix of the group that contains this group or path.
    """
    parts = (ctypes.c_float * 6)()
    _object_matrix(group, ctypes.addressof(parts))
    a, b, c, d, e, f = parts
    inner = np.array([[a, b, 0], [c, d, 0], [e, f, 1]])
    return inner if outer is None else inner @ outer


def transform_bounds(rect: Bounds, matrix: Matrix) -> Bounds:
    """Convert bounds from the coordinates of a group, whose matrix is ``matrix``, to those of the page."""
    left, bottom, right, top = rect
    corners = np.array([(x, y, 1) for x in (left, right) for y in (bottom, top)]) @ matrix
    return (*corners[:, :2].min(axis=0).tolist(), *corners[:, :2].max(axis=0).tolist())


def _marks_layer(mark: int) -> bool:
    """Return whether the name of a content mark is "OC"."""
    _mark_name(mark, _NAME_ADDRESS, _NAME_BYTES, _NAME_ADDRESS + _NAME_BYTES)
    # Check the length first, because pdfium does not write a long name, so the buffer may contain an earlier name.
    return _NAME[_NAME_BYTES // 2] == 2 * len("OC\0") and _NAME[:2] == [*b"OC"]


def _read_clip_bounds(clip: int) -> Bounds:
    """Return the intersection of the bounds of all paths of a clip; an area outside any page if it is empty.

    A path with more than ``_MAX_SEGMENTS`` segments is ignored.
    """
    left, bottom, right, top = EVERYWHERE
    x, y = ctypes.c_float(), ctypes.c_float()
    for path in range(_count_clips(clip)):
        points = []
        for number in range(min(_count_segments(clip, path), _MAX_SEGMENTS + 1)):
            _segment_point(_segment(clip, path, number), ctypes.addressof(x), ctypes.addressof(y))
            points.append((x.value, y.value))
        if points and len(points) <= _MAX_SEGMENTS:
            across, down = zip(*points, strict=True)
            left, right = max(left, min(across)), min(right, max(across))
            bottom, top = max(bottom, min(down)), min(top, max(down))
    return (left, bottom, right, top) if left < right and bottom < top else _NOWHERE


def read_paint_mode(path: int) -> tuple[bool, bool]:
    """Return whether a path is filled, and whether it is stroked."""
    fill_mode, stroked = ctypes.c_int(), ctypes.c_int()
    _draw_mode(path, ctypes.addressof(fill_mode), ctypes.addressof(stroked))
    return fill_mode.value != raw.FPDF_FILLMODE_NONE, bool(stroked.value)


def _contains_image(item: int, depth: int = _MAX_DEPTH) -> bool:
    kind = _object_type(item)
    if kind == raw.FPDF_PAGEOBJ_FORM and depth:
        return any(_contains_image(inner, depth - 1) for inner in list_group_objects(item, _MAX_GROUP_OBJECTS))
    return bool(kind == raw.FPDF_PAGEOBJ_IMAGE)
