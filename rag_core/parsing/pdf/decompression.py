"""Check the decompressed size of the streams of a file before pdfium decompresses them into memory."""

from __future__ import annotations

import mmap
import re
import zlib
from pathlib import Path

_STREAM = re.compile(rb"(?<!end)stream\r?\n")
_PIECE_BYTES = 1 << 16
_MAX_DEPTH = 3


def exceeds_decompressed_size(path: Path, limit: int) -> bool:
    """Return whether any single stream of a PDF is larger than ``limit`` bytes after decompression.

    Deflated streams, also those inside other deflated streams, are decompressed piece by piece, and the result is
    discarded. Streams with other filters are not checked: LZW and run-length filters compress little, and the renderer
    limits the size of pictures. Only the memory limit of the worker protects against such streams and against encrypted
    streams.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        position = 0
        while match := _STREAM.search(data, position):
            position = match.end()
            if _is_deflated(data[position : position + 2]):
                counter = _StreamCounter(limit)
                while not counter.ended and (piece := data[position : position + _PIECE_BYTES]):
                    position += counter.feed(piece)
                if counter.largest > limit:
                    return True
    return False


def _is_deflated(start: bytes) -> bool:
    """Return whether bytes begin with a zlib header (RFC 1950)."""
    return len(start) == 2 and start[0] & 0x0F == 8 and int.from_bytes(start, "big") % 31 == 0


class _StreamCounter:
    """Count the decompressed bytes of a deflated stream and of the deflated streams inside.

    ``ended`` becomes true at the end of the stream, at damaged data, and when a size exceeds ``limit``.
    """

    def __init__(self, limit: int, depth: int = 1) -> None:
        self._limit = limit
        self._depth = depth
        self._decompressor = zlib.decompressobj()
        self._size = 0
        self._inner: _StreamCounter | None = None
        self.ended = False

    @property
    def largest(self) -> int:
        """The size of the largest of these streams in bytes, as far as decompressed."""
        return max(self._size, self._inner.largest if self._inner else 0)

    def feed(self, piece: bytes) -> int:
        """Decompress a piece of the file, and return how many bytes of the piece belong to the stream."""
        left = piece
        while left and not self.ended:
            try:
                output = self._decompressor.decompress(left, _PIECE_BYTES)
            except zlib.error:
                self.ended = True
                break
            left = self._decompressor.unconsumed_tail
            if not self._size and self._depth < _MAX_DEPTH and _is_deflated(output[:2]):
                self._inner = _StreamCounter(self._limit, self._depth + 1)
            self._size += len(output)
            if self._inner:
                self._inner.feed(output)
            self.ended = self._decompressor.eof or self.largest > self._limit
        return len(piece) - len(self._decompressor.unused_data if self._decompressor.eof else left)
