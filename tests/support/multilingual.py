"""A small model in the file format of the package with the multilingual embedder."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

DIMENSION, LAYERS, HEADS, INNER, POSITIONS = 32, 1, 2, 64, 64
PIECES = ["<s>", "<pad>", "</s>", "<unk>", *"▁abcdefghijklmnopqrstuvwxyz:", "▁harbour", "▁hafen", "北", "京"]
_BLOCK = 32


def write_weights_file(path: Path) -> dict[str, np.ndarray]:
    """Write a file of random weights; return those of linear layers, as 4-bit numbers times their scales."""
    random = np.random.default_rng(7)
    linear: dict[str, np.ndarray] = {}
    arrays: dict[str, bytes] = {}

    def add_linear(name: str, rows: int, columns: int) -> None:
        numbers = random.integers(0, 16, (rows * columns // _BLOCK, _BLOCK), np.uint8)
        scales = random.uniform(0.01, 0.05, len(numbers)).astype("<f2")
        halves = numbers[:, : _BLOCK // 2] | numbers[:, _BLOCK // 2 :] << 4
        blocks = zip(scales, halves, strict=True)
        arrays[name] = b"".join(scale.tobytes() + half.tobytes() for scale, half in blocks)
        linear[name] = ((numbers.astype(np.float32) - 8) * scales.astype(np.float32)[:, None]).reshape(rows, columns)

    def add_floats(name: str, count: int, *, around: float = 0.0) -> None:
        arrays[name] = random.normal(around, 0.02, count).astype("<f4").tobytes()

    add_linear("emb.word", len(PIECES), DIMENSION)
    add_floats("emb.pos", POSITIONS * DIMENSION)
    add_floats("emb.type", 2 * DIMENSION)
    add_floats("emb.ln.w", DIMENSION, around=1.0)
    add_floats("emb.ln.b", DIMENSION)
    shapes = {"fi": (INNER, DIMENSION), "fo": (DIMENSION, INNER)}
    for name in ("q", "k", "v", "ao", "fi", "fo"):
        rows, columns = shapes.get(name, (DIMENSION, DIMENSION))
        add_linear(f"l0.{name}.w", rows, columns)
        add_floats(f"l0.{name}.b", rows)
    for name in ("aln", "oln"):
        add_floats(f"l0.{name}.w", DIMENSION, around=1.0)
        add_floats(f"l0.{name}.b", DIMENSION)

    pieces = [piece.encode() for piece in PIECES]
    numbers = (DIMENSION, LAYERS, HEADS, INNER, len(PIECES), POSITIONS, 2)
    head = b"E5S1" + struct.pack("<I7ifi", 1, *numbers, 1e-12, _BLOCK)
    head += struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, sum(map(len, pieces)))
    head += np.cumsum([0, *map(len, pieces)]).astype("<u4").tobytes()
    head += np.linspace(-1, -9, len(pieces)).astype("<f4").tobytes() + b"".join(pieces)
    head += struct.pack("<iI", 0, 0) + struct.pack("<i", len(arrays))
    offset = len(head) + sum(2 + len(name) + 21 for name in arrays)
    for name, data in arrays.items():
        head += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", 0, 0, offset, len(data))
        offset += len(data)
    path.write_bytes(head + b"".join(arrays.values()))
    return linear
