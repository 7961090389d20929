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
from rag_core.types.documents import HeadingLine, Page, PageState, ParsedPage, WordBoxes
from rag_core.types.tables import Table

# The fields of a page that are numbers or texts.
_PLAIN_FIELDS = tuple("page_index page_label text width height heading reason confidence hidden".split())


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

    The bytes are not compressed, because compression takes longer than sending all bytes.
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
    """Decode the metadata of a file; missing fields are empty."""
    return Metadata(
        tuple(map(str, packed.get("labels", ()))),
        tuple((int(index), str(title)) for index, title in packed.get("outline", ())),
        tuple((str(name), int(size)) for name, size in packed.get("attachments", ())),
    )


def pack_page(parsed: ParsedPage) -> dict[str, Any]:
    """Encode a page as a JSON object."""
    page = parsed.page
    return {
        **{name: getattr(page, name) for name in _PLAIN_FIELDS},
        "state": page.state.value,
        "boxes": [pack_array(array) for array in (page.boxes.starts, page.boxes.ends, page.boxes.rects)],
        "skip": page.skip,
        "tables": [table.to_json() for table in page.tables],
        "headings": parsed.headings,
        "divided": parsed.divided,
        "words": parsed.words,
        "paper_clips": parsed.paper_clips,
    }


def unpack_page(packed: dict[str, Any]) -> ParsedPage:
    """Decode a page from `pack_page`."""
    page = Page(
        **{name: packed[name] for name in _PLAIN_FIELDS},
        state=PageState(packed["state"]),
        boxes=WordBoxes(*map(unpack_array, packed["boxes"])),
        skip=tuple((int(start), int(end)) for start, end in packed["skip"]),
        tables=tuple(map(Table.from_json, packed["tables"])),
    )
    divided = tuple((int(at), str(first), str(second)) for at, first, second in packed["divided"])
    clips = tuple((int(number), str(name), int(size)) for number, name, size in packed["paper_clips"])
    headings = tuple(
        HeadingLine(int(start), int(end), float(size), bool(bold)) for start, end, size, bold in packed["headings"]
    )
    return ParsedPage(page, headings, divided, tuple(packed["words"]), clips)
