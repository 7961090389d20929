"""Give access to pdfium, with faster calls of functions that are needed for each character or object.

Only this module imports pypdfium2. Pdfium is not thread-safe, and a hostile file may crash it, so it runs on one
thread of a worker process.
"""

from __future__ import annotations

import ctypes
from typing import Any

import pypdfium2.raw as raw
from pypdfium2 import PdfDocument, PdfiumError

__all__ = ["INT", "POINTER", "PdfDocument", "PdfiumError", "bind_function", "handle_address", "raw"]

POINTER, INT = ctypes.c_void_p, ctypes.c_int


def bind_function(name: str, result: Any, *arguments: Any) -> Any:
    """Return a pdfium function that takes handles as plain numbers, which makes calls faster.

    Parameters
    ----------
    name : str
    result, *arguments : ctypes types
        Types of the result and the arguments, as in pdfium's headers, with `POINTER` for every pointer. A function
        without types of arguments is called in half the time, but takes only ints and what ``POINTER.from_param``
        returns.
    """
    return ctypes.CFUNCTYPE(result, *arguments)(ctypes.cast(getattr(raw, name), ctypes.c_void_p).value or 0)


def handle_address(handle: Any) -> int:
    """Return a handle as the plain number that functions from `bind_function` take; 0 for a null handle."""
    return ctypes.cast(handle, POINTER).value or 0
