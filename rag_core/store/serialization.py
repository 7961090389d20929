"""Convert values to database columns and back."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import Any, TypeVar

import numpy as np
from pydantic import TypeAdapter

from rag_core.types.answers import Answer
from rag_core.types.arrays import FloatArray, Int8Array, IntArray
from rag_core.types.chunks import ChunkSpan, Embedding
from rag_core.types.cited_tables import CitedTable
from rag_core.types.documents import Heading, Page, PageState, WordBoxes
from rag_core.types.tables import Table

# A 4-bit number in the upper half of a byte has 16 times its value.
_UPPER_HALF_FACTOR = 16
# The fields of a page that are stored without conversion.
_PAGE_COLUMNS = ("page_index", "page_label", "text", "reason", "width", "height", "heading", "confidence")


def hash_text(prefix: str, text: str) -> bytes:
    """Return a 16-byte hash of the text that is embedded for a chunk: its prefix and its text."""
    return hashlib.blake2b(f"{prefix}\x00{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def pack_boxes(boxes: WordBoxes) -> bytes:
    """Return word boxes as zlib-compressed little-endian int32 and float32 arrays."""
    parts = boxes.starts.astype("<i4"), boxes.ends.astype("<i4"), boxes.rects.astype("<f4")
    # Higher levels of compression take longer and hardly save space.
    return zlib.compress(b"".join(part.tobytes() for part in parts), 1)


def unpack_boxes(data: bytes) -> WordBoxes:
    raw = zlib.decompress(data)
    n = len(raw) // 24
    starts = np.frombuffer(raw, "<i4", n)
    ends = np.frombuffer(raw, "<i4", n, 4 * n)
    rects = np.frombuffer(raw, "<f4", 4 * n, 8 * n).reshape(n, 4)
    return WordBoxes(starts, ends, rects)


def pack_tables(tables: Sequence[Table]) -> bytes:
    """Return the tables of a page as zlib-compressed JSON."""
    text = json.dumps([table.to_json() for table in tables], ensure_ascii=True, separators=(",", ":"))
    return zlib.compress(text.encode("ascii"), 1)


def unpack_tables(data: bytes) -> tuple[Table, ...]:
    return tuple(map(Table.from_json, json.loads(zlib.decompress(data))))


def unpack_headings(stored: Sequence[tuple[int, int, str]] | None) -> tuple[Heading, ...] | None:
    """Return the headings of a page; ``None`` if an earlier release read the page."""
    return None if stored is None else tuple(Heading(int(start), int(end), path) for start, end, path in stored)


def pack_embedding(embedding: Embedding) -> dict[str, bytes]:
    """Return the database columns of an embedding.

    The dense vector is stored as float32. Each number of the token vectors is stored in 4 bits, and the scale of each
    token as float16.
    """
    low, high = np.split(embedding.tokens, 2, axis=1)
    return {
        "dense": embedding.dense.astype("<f4").tobytes(),
        "scales": embedding.scales.astype("<f2").tobytes(),
        "tokens": (low & 15 | high << 4).tobytes(),
    }


def unpack_dense(data: bytes) -> FloatArray:
    return np.frombuffer(data, "<f4")


def unpack_tokens(rows: Sequence[tuple[bytes, bytes]]) -> list[tuple[Int8Array, FloatArray]]:
    """Return the token vectors and the scales of each row ``(tokens, scales)`` of stored bytes.

    The vectors are int8, shape (n, dimension). Their values are 16 times the stored 4-bit numbers, because each number
    is left in the upper half of a byte. To compensate, the scales, float32 of shape (n,), are divided by 16.
    """
    if not rows:
        return []
    # All rows are unpacked at once, which is faster and blocks other threads less.
    scales = np.frombuffer(b"".join(scales for _, scales in rows), "<f2").astype(np.float32)
    scales /= _UPPER_HALF_FACTOR
    packed = np.frombuffer(b"".join(tokens for tokens, _ in rows), np.uint8)
    packed = packed.reshape(len(scales), -1 if len(scales) else 0)
    # Each byte contains a number of the first half of a vector in its lower half, and one of the second in its upper.
    half = packed.shape[1]
    unpacked = np.empty((len(scales), 2 * half), np.uint8)
    np.multiply(packed, np.uint8(_UPPER_HALF_FACTOR), out=unpacked[:, :half])
    np.bitwise_and(packed, np.uint8(0xF0), out=unpacked[:, half:])
    ends = np.cumsum([len(scales) // 2 for _, scales in rows]).tolist()
    signed = unpacked.view(np.int8)
    return [(signed[first:end], scales[first:end]) for first, end in zip([0, *ends], ends, strict=False)]


def chunk_to_row(span: ChunkSpan) -> dict[str, Any]:
    """Return the database columns of a chunk without its version; sentence starts are little-endian uint16."""
    return {
        **{name: getattr(span, name) for name in ChunkSpan.__slots__},
        "sentences": np.asarray(span.sentences, "<u2").tobytes(),
        "text_hash": hash_text(span.prefix, span.text),
    }


def chunk_from_row(row: Any) -> ChunkSpan:
    values = {name: getattr(row, name) for name in ChunkSpan.__slots__}
    return ChunkSpan(**{**values, "sentences": tuple(unpack_sentences(row.sentences).tolist())})


def unpack_sentences(data: bytes) -> IntArray:
    return np.frombuffer(data, "<u2").astype(np.int32)


def page_to_row(page: Page) -> dict[str, Any]:
    return {
        **{name: getattr(page, name) for name in _PAGE_COLUMNS},
        "state": page.state.value,
        "boxes": pack_boxes(page.boxes),
        "skip": [list(span) for span in page.skip],
        "headings": page.headings,
    }


def page_from_row(row: Any, *, with_layout: bool = True) -> Page:
    return Page(
        **{name: getattr(row, name) for name in _PAGE_COLUMNS},
        state=PageState(row.state),
        boxes=unpack_boxes(row.boxes) if with_layout else WordBoxes.empty(),
        skip=tuple((int(start), int(end)) for start, end in row.skip),
        headings=unpack_headings(row.headings),
        hidden=row.hidden or "",
        tables=unpack_tables(row.tables) if with_layout and row.tables is not None else (),
    )


_Value = TypeVar("_Value")
_get_adapter: Any = cache(TypeAdapter)


def build_from_json(kind: type[_Value], data: Mapping[str, Any]) -> _Value:
    """Return a dataclass with values from decoded JSON. Missing fields have their default values."""
    value: _Value = _get_adapter(kind).validate_python(data)
    return value


def answer_to_json(answer: Answer) -> dict[str, Any]:
    """Return an answer as JSON, including the texts of its passages."""
    data = asdict(replace(answer, tables=()))
    data["state"] = answer.state.value
    data["tables"] = [table.to_json() for table in answer.tables]
    return data


def answer_from_json(data: dict[str, Any]) -> Answer:
    values = {**data, "tables": tuple(map(CitedTable.from_json, data.get("tables", ())))}
    return build_from_json(Answer, values)
