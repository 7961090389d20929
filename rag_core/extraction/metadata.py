"""The one module that imports pypdf: outline, page labels, title and encryption of a file.

Everything here is a bonus: a file whose outline loops or whose labels are broken is read without them. It
runs in a worker, so that a file that makes pypdf hang costs no more than the time limit.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pypdf import PdfReader
from pypdf.errors import DependencyError, PyPdfError

from rag_core.extraction.cleaning import clean_line

_MOST_ENTRIES = 20_000
_DEEPEST = 3
_LONGEST_TITLE = 300

# What pypdf raises on broken input besides its own errors: it trusts the types of what it reads.
_TYPES = (ValueError, TypeError, KeyError, IndexError, AttributeError, AssertionError, NotImplementedError)
_LIMITS = (RecursionError, OSError, ZeroDivisionError, OverflowError)
_BROKEN = (PyPdfError, DependencyError, *_TYPES, *_LIMITS)

logging.getLogger("pypdf").setLevel(logging.CRITICAL)


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a file says about itself.

    ``outline`` holds ``(page_index, path)`` in document order, ``labels`` one printed label a page or
    nothing.
    """

    title: str = ""
    encrypted: bool = False
    labels: tuple[str, ...] = ()
    outline: tuple[tuple[int, str], ...] = ()


def read_metadata(path: Path, password: str | None, page_count: int) -> Metadata:
    """Read what can be read; parts that are broken come back empty."""
    title, encrypted = "", False
    labels: tuple[str, ...] = ()
    outline: tuple[tuple[int, str], ...] = ()
    with suppress(*_BROKEN), path.open("rb") as file:
        reader = PdfReader(file, strict=False, root_object_recovery_limit=1000)
        encrypted = bool(reader.is_encrypted)
        if encrypted:
            reader.decrypt(password or "")
        with suppress(*_BROKEN):
            title = clean_line(str((reader.metadata and reader.metadata.title) or ""))[:_LONGEST_TITLE]
        with suppress(*_BROKEN):
            labels = _labels(reader, page_count)
        with suppress(*_BROKEN):
            outline = tuple(_entries(reader, page_count))
    return Metadata(title, encrypted, labels, outline)


def _labels(reader: PdfReader, page_count: int) -> tuple[str, ...]:
    if "/PageLabels" not in reader.root_object:
        return ()
    labels = tuple(clean_line(label)[:32] for label in reader.page_labels)
    return labels if len(labels) == page_count else ()


def _entries(reader: PdfReader, page_count: int) -> Iterator[tuple[int, str]]:
    root = reader.root_object.get("/Outlines")
    if root is None:
        return
    numbers = {
        page.indirect_reference.idnum: index
        for index, page in enumerate(reader.pages)
        if page.indirect_reference is not None
    }
    seen: set[Any] = set()
    stack: list[tuple[Any, tuple[str, ...]]] = [(root.get_object().get("/First"), ())]
    while stack and len(seen) < _MOST_ENTRIES:
        node, path = stack.pop()
        key = getattr(node, "idnum", id(node))
        if node is None or key in seen:  # an outline that loops
            continue
        seen.add(key)
        item = node.get_object()
        here = path
        with suppress(*_BROKEN):
            title = clean_line(str(item.get("/Title", "")))
            here = (*path, title) if title else path
            index = _page_of(reader, item, numbers)
            if title and index is not None and index < page_count:
                yield index, " › ".join(here)
        stack.append((item.get("/Next"), path))
        if len(path) + 1 < _DEEPEST:
            stack.append((item.get("/First"), here))


def _page_of(reader: PdfReader, item: Any, numbers: dict[int, int]) -> int | None:
    destination = item.get("/Dest")
    if destination is None and (action := item.get("/A")) is not None:
        action = action.get_object()
        destination = action.get("/D") if action.get("/S") == "/GoTo" else None
    destination = destination.get_object() if destination is not None else None
    if isinstance(destination, (str, bytes)):
        named = reader.named_destinations.get(
            destination if isinstance(destination, str) else destination.decode("latin-1")
        )
        target = named.get("/Page") if named is not None else None
    elif isinstance(destination, dict):
        inner = destination.get("/D")
        target = inner[0] if inner else None
    else:
        target = destination[0] if destination else None
    if isinstance(target, int):
        return int(target)
    return numbers.get(getattr(target, "idnum", -1))


def has_no_pages(path: Path) -> bool:
    """Whether the file is a sound PDF with a page tree that is empty."""
    with suppress(*_BROKEN), path.open("rb") as file:
        reader = PdfReader(file, strict=True)
        pages: Any = reader.root_object["/Pages"].get_object()
        return bool(pages["/Count"] == 0 and len(pages["/Kids"]) == 0)
    return False
