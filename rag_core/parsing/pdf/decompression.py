"""Check the decompressed size of the streams of a file before pdfium decompresses them into memory."""

from __future__ import annotations

import mmap
import re
import zlib
from pathlib import Path

_STREAM = re.compile(rb"(?<!end)stream\r?\n")
_PIECE = 1 << 16
_DEEPEST = 3


def exceeds_decompressed_size(path: Path, most: int) -> bool:
    """Whether a stream of a PDF is larger than ``most`` bytes after decompression.

    Deflated streams, nested ones included, are decompressed piece by piece and discarded. Other filters
    compress little (LZW, run lengths) or give pictures, whose size the renderer limits; for them and for
    encrypted streams the worker's memory limit has to suffice.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        position = 0
        while found := _STREAM.search(data, position):
            position = found.end()
            if _is_deflated(data[position : position + 2]):
                stream = _Unpacked(most)
                while not stream.ended and (piece := data[position : position + _PIECE]):
                    position += stream.feed(piece)
                if stream.largest > most:
                    return True
    return False


def _is_deflated(start: bytes) -> bool:
    """Whether bytes begin with a zlib header (RFC 1950)."""
    return len(start) == 2 and start[0] & 0x0F == 8 and int.from_bytes(start, "big") % 31 == 0


class _Unpacked:
    """Count the decompressed bytes of a deflated stream, and of a deflated stream inside it."""

    def __init__(self, most: int, depth: int = 1) -> None:
        self._most = most
        self._depth = depth
        self._unpacker = zlib.decompressobj()
        self._size = 0
        self._inner: _Unpacked | None = None
        self.ended = False

    @property
    def largest(self) -> int:
        return max(self._size, self._inner.largest if self._inner else 0)

    def feed(self, piece: bytes) -> int:
        """Decompress the next piece; return the number of its bytes that belong to the stream."""
        left = piece
        while left and not self.ended:
            try:
                output = self._unpacker.decompress(left, _PIECE)
            except zlib.error:
                self.ended = True
                break
            left = self._unpacker.unconsumed_tail
            if not self._size and self._depth < _DEEPEST and _is_deflated(output[:2]):
                self._inner = _Unpacked(self._most, self._depth + 1)
            self._size += len(output)
            if self._inner:
                self._inner.feed(output)
            self.ended = self._unpacker.eof or self.largest > self._most
        return len(piece) - len(self._unpacker.unused_data if self._unpacker.eof else left)
