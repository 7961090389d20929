"""Mails as Outlook saves them: a compound file whose streams are the properties of the mail."""

from __future__ import annotations

import struct
from collections.abc import Mapping

_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_SECTOR, _SMALL = 512, 64
_ROOT, _STREAM = 5, 2


def make_outlook_mail(subject: str, sender: str, body: str) -> bytes:
    """Return a mail without recipients and attachments."""
    properties = struct.pack("<8xIIII8x", 0, 0, 0, 0)
    texts = {0x0037: subject, 0x0042: sender, 0x1000: body, 0x001A: "IPM.Note"}
    streams = {}
    for number, text in texts.items():
        data = text.encode("utf-16-le")
        properties += struct.pack("<HHIII", 0x001F, number, 6, len(data) + 2, 0)
        streams[f"__substg1.0_{number:04X}001F"] = data
    return _write_container({"__properties_version1.0": properties, **streams})


def _write_container(streams: Mapping[str, bytes]) -> bytes:
    """Return a compound file whose streams are all shorter than 4,096 bytes."""
    small = b""
    small_fat: list[int] = []
    entries: list[tuple[str, int, int, int]] = []
    for name, data in streams.items():
        first, count = len(small_fat), -(-len(data) // _SMALL)
        small_fat += [*range(first + 1, first + count), _END]
        small += data.ljust(count * _SMALL, b"\0")
        entries.append((name, _STREAM, first, len(data)))
    entries.insert(0, ("Root Entry", _ROOT, 0, len(small)))
    directory = b"".join(_write_entry(number, len(entries), *entry) for number, entry in enumerate(entries))
    parts = [small, _pad(struct.pack(f"<{len(small_fat)}I", *small_fat), b"\xff"), _pad(directory, b"\0")]
    chains: list[int] = []
    starts: list[int] = []
    for part in parts:
        count = -(-len(part) // _SECTOR)
        starts.append(len(chains))
        chains += [*range(len(chains) + 1, len(chains) + count), _END]
    fat = _pad(struct.pack(f"<{len(chains) + 1}I", *chains, _FAT), b"\xff")
    header = struct.pack(
        "<8s16xHHHHH6xIIIIIIIII",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        *(0x3E, 3, 0xFFFE, 9, 6),
        *(0, 1, starts[2], 0, 4096, starts[1], 1, _END, 0),
    )
    sectors = b"".join(_pad(part, b"\0") if part is small else part for part in parts)
    return _pad(header + struct.pack("<I", len(chains)), b"\xff") + sectors + fat


def _pad(data: bytes, filling: bytes) -> bytes:
    return data + filling * (-len(data) % _SECTOR)


def _write_entry(number: int, count: int, name: str, kind: int, start: int, size: int) -> bytes:
    # The entries below the root are a chain of right siblings.
    right = number + 1 if 0 < number < count - 1 else _FREE
    child = 1 if kind == _ROOT else _FREE
    encoded = name.encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII16xI16xIII", encoded, len(encoded) + 2, kind, 1, _FREE, right, child, 0, start, size, 0
    )
