"""Read zip archives and XML of files that may be hostile."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

from rag_core.parsing.formats.base import WRONG_CONTENT, UnpackedSizeError, UnreadableError

# Maximum compression ratio of a part, which in real documents is below 100. Small parts may have any ratio.
_MAX_RATIO = 200
_MIN_SUSPICIOUS_BYTES = 10_000_000
_MAX_PARTS = 20_000


class Archive:
    """A zip archive.

    Parameters
    ----------
    path : Path or BinaryIO
    max_unpacked : int or None
        Maximum size in bytes of all parts together after decompression; ``None`` if the file was checked before.
    max_parts : int

    Attributes
    ----------
    problems : list of str
        Messages about parts that could not be read and were left out.

    Raises
    ------
    UnpackedSizeError
        The archive is too large after decompression, has too many parts, or contains a part with an implausible
        compression ratio.
    UnreadableError
        The archive is damaged or encrypted.
    """

    def __init__(self, path: Path | BinaryIO, max_unpacked: int | None, *, max_parts: int = _MAX_PARTS) -> None:
        self.problems: list[str] = []
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError) as error:
            raise UnreadableError(f"it is cut off or damaged: {error}") from None
        entries = self._zip.infolist()
        self._names = {entry.filename: entry for entry in entries}
        total = sum(entry.file_size for entry in entries)
        limit = max_unpacked or total
        if total > limit or len(entries) > max_parts:
            size = f"{total / 1e6:,.0f} MB in {len(entries):,} parts"
            raise UnpackedSizeError(f"unpacks to {size}, more than the {limit / 1e6:,.0f} MB in {max_parts:,} allowed")
        for entry in entries:
            if entry.file_size > max(_MAX_RATIO * entry.compress_size, _MIN_SUSPICIOUS_BYTES):
                raise UnpackedSizeError(
                    f"has a part that unpacks to more than {_MAX_RATIO} times its size, like an archive bomb"
                )
        if any(entry.flag_bits & 1 for entry in entries):
            raise UnreadableError("it is encrypted, and only encrypted PDF and Office files can be read")

    def __contains__(self, name: str) -> bool:
        return name in self._names

    @property
    def names(self) -> list[str]:
        return list(self._names)

    def read(self, name: str, length: int | None = None) -> bytes:
        """Return a part, or its first ``length`` bytes.

        Raises
        ------
        UnreadableError
            The part is missing or damaged.
        UnpackedSizeError
            The part is larger than the archive says.
        """
        entry = self._names.get(name)
        if entry is None:
            raise UnreadableError(f"its part {name} is missing")
        try:
            with self._zip.open(entry) as stream:
                # A part may be larger than its header says, so the read is limited.
                data = stream.read(entry.file_size + 1 if length is None else length)
        except (
            zipfile.BadZipFile,
            zlib.error,
            OSError,
            EOFError,
            ValueError,
            RuntimeError,
            NotImplementedError,
        ) as error:
            raise UnreadableError(f"its part {name} is damaged: {error}") from None
        if len(data) > entry.file_size:
            raise UnpackedSizeError("has a part that is larger than the file says")
        return data

    def read_optional(self, name: str) -> bytes:
        """Return a part; empty if it cannot be read, which adds a problem, and for an empty name."""
        with self.leave_out(name):
            return self.read(name) if name else b""
        return b""

    def parse(self, name: str) -> Any:
        """Return the root element of a part in XML; see `read` and `parse_xml` for errors."""
        return parse_xml(self.read(name), name)

    def parse_optional(self, name: str, root: str = "") -> Any:
        """Return the root element of a part in XML; an empty element if the part is missing or cannot be read.

        A problem is added for a part that cannot be read, but not for a missing part. ``root`` is the name that the
        root element must have; by default, any name is accepted.
        """
        from lxml import etree

        with self.leave_out(name):
            if name in self:
                found = self.parse(name)
                if root not in ("", local_name(found)):
                    raise UnreadableError(f"its part {name} is damaged: it has no element {root}")
                return found
        return etree.Element("nothing")

    @contextmanager
    def leave_out(self, name: str, *errors: type[Exception]) -> Iterator[None]:
        """Suppress `UnreadableError` and `WRONG_CONTENT` while a part is read, and add a problem instead.

        ``errors`` are further errors to suppress, which a library raises for damaged parts.
        """
        wrong_content: tuple[type[Exception], ...] = (*WRONG_CONTENT, *errors)
        try:
            yield
        except UnreadableError as error:
            self.add_problem(str(error))
        except wrong_content as error:
            self.add_problem(f"its part {name} is not as the format prescribes: {type(error).__name__}")

    def require(self, name: str) -> None:
        """Add a problem if a part is missing."""
        if name not in self:
            self.add_problem(f"its part {name} is missing")

    def add_problem(self, problem: str) -> None:
        """Add a message about a part that was left out, unless it was added before."""
        if problem not in self.problems:
            self.problems.append(problem)


def parse_xml(data: bytes, name: str) -> Any:
    """Return the root element of an XML document, without resolving entities or loading anything.

    Raises
    ------
    UnreadableError
        The document is not well-formed, or it defines entities.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise UnreadableError(f"its part {name} is damaged: {error}") from None
    if (dtd := root.getroottree().docinfo.internalDTD) is not None and any(dtd.iterentities()):
        raise UnreadableError(f"its part {name} defines entities, which documents do not need")
    return root


def read_integer(value: str | None, default: int = 0, least: int = 0, most: int = 1_048_576) -> int:
    """Return a whole number from a file, limited to ``least`` and ``most``.

    Return ``default`` for ``None``, and for a text that is empty or not a whole number.

    >>> read_integer("12"), read_integer("NaN", 1), read_integer("-3"), read_integer("9" * 30, most=63)
    (12, 1, 0, 63)
    """
    try:
        return min(max(int(value or default), least), most)
    except ValueError:
        return default


def local_name(element: Any) -> str:
    """Return the name of an element without its namespace; empty for a comment."""
    return _remove_namespace(element.tag) if isinstance(element.tag, str) else ""


@lru_cache(maxsize=4096)
def _remove_namespace(name: str) -> str:
    return name.rpartition("}")[2]


def local_attributes(element: Any) -> dict[str, str]:
    """Return the attributes of an element by their names without namespaces."""
    return {name.rpartition("}")[2]: value for name, value in element.attrib.items()}
