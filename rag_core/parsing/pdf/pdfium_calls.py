"""Give access to pdfium, with faster calls of functions that are needed for each character or object.

Only this module imports pypdfium2. Pdfium is not thread-safe, and a hostile file may crash it, so it runs on one
thread of a worker process.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pypdfium2.raw as raw
from pypdfium2 import PdfDocument, PdfiumError

__all__ = [
    "INT",
    "POINTER",
    "PdfDocument",
    "PdfiumError",
    "bind_function",
    "handle_address",
    "is_annotation_hidden",
    "iter_annotations",
    "raw",
]

POINTER, INT = ctypes.c_void_p, ctypes.c_int
_HIDDEN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
_MAX_ANNOTATIONS = 2000


def bind_function(name: str, result: Any, *arguments: Any) -> Any:
    """Return a pdfium function that takes handles as plain numbers, which makes calls faster.

    Parameters
    ----------
    name : str
    result, *arguments : ctypes types
        Types of the result and the arguments, as in pdfium's headers, with `POINTER` for every pointer. Without types
        of arguments, calls take half the time, but arguments must be ints or results of ``POINTER.from_param``.
    """
    return ctypes.CFUNCTYPE(result, *arguments)(ctypes.cast(getattr(raw, name), ctypes.c_void_p).value or 0)


def handle_address(handle: Any) -> int:
    """Return a handle as the plain number that functions from `bind_function` take; 0 for a null handle."""
    return ctypes.cast(handle, POINTER).value or 0


def iter_annotations(page: Any, limit: int = _MAX_ANNOTATIONS) -> Iterator[tuple[int, Any]]:
    """Yield the index and the handle of at most ``limit`` annotations of a page, which is given by its handle.

    Each annotation is closed before the next is opened. Annotations that pdfium cannot open are left out.
    """
    for index in range(min(raw.FPDFPage_GetAnnotCount(page), limit)):
        if annotation := raw.FPDFPage_GetAnnot(page, index):
            try:
                yield index, annotation
            finally:
                raw.FPDFPage_CloseAnnot(annotation)


def is_annotation_hidden(annotation: Any) -> bool:
    return bool(raw.FPDFAnnot_GetFlags(annotation) & _HIDDEN)
