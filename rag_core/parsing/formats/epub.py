"""The format EPUB of books."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import BinaryIO
from urllib.parse import unquote

from rag_core.parsing.flow.content import Block, Content, PageStart
from rag_core.parsing.formats.base import UnreadableError
from rag_core.parsing.formats.flow import FlowFormat, build_parser_version, describe

_TYPE = "application/epub+zip"
_HEAD = 200
_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"


class EpubFormat(FlowFormat):
    """Books without copy protection."""

    description = describe("EPUB", "book", (".epub",), _TYPE)
    parser_version = build_parser_version("epub", 2)

    def recognizes(self, file: BinaryIO) -> bool:
        head = file.read(_HEAD)
        return head.startswith(b"PK\x03\x04") and f"mimetype{_TYPE}".encode() in head

    def read(self, path: Path, password: str | None, max_unpacked: int | None) -> Content:
        from rag_core.parsing.flow.archive import Archive
        from rag_core.parsing.flow.html import read_html

        archive = Archive(path, max_unpacked)
        place = next((one.get("full-path", "") for one in archive.parse(_CONTAINER).iter("{*}rootfile")), "")
        package = archive.parse(place)
        folder = place.rpartition("/")[0]
        items = {one.get("id"): one.get("href", "") for one in package.iter("{*}item")}
        parts = [unquote(items.get(one.get("idref"), "")) for one in package.iter("{*}itemref")]
        names = [f"{folder}/{part}".lstrip("/") for part in parts if part]
        if _ENCRYPTION in archive:
            locked = {one.get("URI", "") for one in archive.parse(_ENCRYPTION).iter("{*}CipherReference")}
            if locked.intersection(names):
                raise UnreadableError("it is protected against copying")
        read_part = cache(archive.read_optional)  # one copy of a picture that several chapters show
        blocks: list[Block] = []
        for name in names:
            with archive.leave_out(name):
                if chapter := read_html(archive.read(name), partial(_load, read_part, name)):
                    blocks += [PageStart(), *chapter]
        return Content(blocks, problems=archive.problems)


def _load(read_part: Callable[[str], bytes], chapter: str, address: str) -> bytes:
    """Return the data of a picture that a chapter shows; empty if the picture is not in the book."""
    return read_part(normpath(join(dirname(chapter), unquote(address))))
