"""The formats of pictures, whose text is recognized as on scanned pages."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from rag_core.parsing.formats.base import FileFormat, OpenFile
from rag_core.parsing.formats.pdf import LAYOUT_REVISION
from rag_core.types.formats import FormatDescription

_HEAD = 16
_REVISION = 1


class ImageFormat(FileFormat):
    """Photos and scans in PNG, JPEG, TIFF with any number of pages, WebP and HEIC."""

    description = FormatDescription(
        "image", "picture", (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".heic", ".heif"), "image/png"
    )
    parser_version = f"images {_REVISION}, layout {LAYOUT_REVISION}"

    def recognizes(self, file: BinaryIO) -> bool:
        head = file.read(_HEAD)
        is_heic = head[4:8] == b"ftyp" and head[8:12] in (b"heic", b"heix", b"heif", b"mif1", b"msf1", b"hevc")
        is_webp = head.startswith(b"RIFF") and head[8:12] == b"WEBP"
        return head.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*")) or is_heic or is_webp

    def open(self, path: Path, password: str | None, max_unpacked: int | None) -> OpenFile:
        from rag_core.parsing.pdf.pictures import ImageFile

        return ImageFile(path)
