"""Encode and decode the messages between a worker process and its parent: one JSON object per line.

Pickle is not used, because a message from a compromised worker could run code in the parent.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rag_core.parsing.formats.base import FileFormat, Metadata
from rag_core.types import Page, PageState, Table, WordBoxes
from rag_core.types.documents import ParsedPage


def encode_message(message: dict[str, Any]) -> bytes:
    """Encode a message as one line of ASCII, because a lone surrogate cannot be encoded in UTF-8."""
    return json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def decode_message(line: bytes) -> dict[str, Any]:
    """Decode a line from `encode_message`.

    Raises
    ------
    ValueError
        The line is not a JSON object.
    """
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError("a message is a JSON object")
    return message


def build_opening(file_format: FileFormat, path: Path, password: str | None) -> dict[str, Any]:
    """Return the request that opens a file."""
    return {"do": "open", "format": file_format.description.name, "path": str(path.absolute()), "password": password}


def pack_array(array: npt.NDArray[Any]) -> dict[str, Any]:
    """Encode an array as little-endian bytes in base64.

    The bytes are not compressed, because compression takes longer than sending them uncompressed.
    """
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    data = base64.b64encode(little.tobytes()).decode("ascii")
    return {"dtype": little.dtype.str, "shape": list(array.shape), "data": data}


def unpack_array(packed: dict[str, Any]) -> npt.NDArray[Any]:
    """Decode an array from `pack_array`; raise `ValueError` if the shape does not fit the data."""
    flat = np.frombuffer(base64.b64decode(packed["data"]), np.dtype(packed["dtype"]))
    native: npt.NDArray[Any] = flat.reshape(packed["shape"]).astype(flat.dtype.newbyteorder("="))
    return native


def unpack_metadata(packed: dict[str, Any]) -> Metadata:
    """Return the metadata of a file; values that are missing are empty."""
    return Metadata(
        tuple(map(str, packed.get("labels", ()))),
        tuple((int(index), str(title)) for index, title in packed.get("outline", ())),
        tuple((str(name), int(size)) for name, size in packed.get("attachments", ())),
    )


def pack_page(parsed: ParsedPage) -> dict[str, Any]:
    """Encode a page as a JSON object."""
    page = parsed.page
    return {
        "page_index": page.page_index,
        "page_label": page.page_label,
        "text": page.text,
        "state": page.state.value,
        "width": page.width,
        "height": page.height,
        "heading": page.heading,
        "reason": page.reason,
        "confidence": page.confidence,
        "starts": pack_array(page.boxes.starts),
        "ends": pack_array(page.boxes.ends),
        "rects": pack_array(page.boxes.rects),
        "skip": page.skip,
        "hidden": page.hidden,
        "tables": [table.to_json() for table in page.tables],
        "headings": parsed.headings,
        "divided": parsed.divided,
        "words": parsed.words,
        "paper_clips": parsed.paper_clips,
    }


def unpack_page(packed: dict[str, Any]) -> ParsedPage:
    """Decode a page from `pack_page`."""
    boxes = WordBoxes(*(unpack_array(packed[name]) for name in ("starts", "ends", "rects")))
    page = Page(
        page_index=packed["page_index"],
        page_label=packed["page_label"],
        text=packed["text"],
        state=PageState(packed["state"]),
        width=packed["width"],
        height=packed["height"],
        heading=packed["heading"],
        reason=packed["reason"],
        confidence=packed["confidence"],
        boxes=boxes,
        skip=_pairs(packed["skip"]),
        hidden=packed["hidden"],
        tables=tuple(map(Table.from_json, packed["tables"])),
    )
    divided = tuple((int(at), str(first), str(second)) for at, first, second in packed["divided"])
    clips = tuple((int(number), str(name), int(size)) for number, name, size in packed["paper_clips"])
    return ParsedPage(page, _pairs(packed["headings"]), divided, tuple(packed["words"]), clips)


def _pairs(values: list[list[int]]) -> tuple[tuple[int, int], ...]:
    return tuple((int(start), int(end)) for start, end in values)
