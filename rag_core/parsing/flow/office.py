"""Open files of Microsoft Office: zip archives of XML, which may be encrypted."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

from rag_core.parsing.flow.archive import Archive, read_integer
from rag_core.parsing.flow.recognition import CONTAINER
from rag_core.parsing.formats.base import PasswordNeededError, UnreadableError

# The start of the definition of an entity in the encodings that need no declaration.
_ENTITY = ["<!ENTITY".encode(encoding) for encoding in ("ascii", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")]
# Bytes of a part that show whether it is XML; it may begin with byte order marks, white space and empty bytes.
_START = 4096
# English Metric Units, in which lengths are stated, in a point, and the most of them.
_UNITS, _MOST_UNITS = 12_700, 1 << 40
# What relations call the parts that are read if a file has them.
_OPTIONAL_KINDS = frozenset(
    "header footer footnotes endnotes comments drawing styles numbering notesSlide image chart".split()
)
_BEFORE_MARKUP = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"


def open_package(path: Path, main_part: str, password: str | None, max_unpacked: int | None) -> BytesIO:
    """Return an open zip archive that is not encrypted, whose parts are not too large.

    Raises
    ------
    PasswordNeededError, UnreadableError, UnpackedSizeError
    """
    with path.open("rb") as file:
        is_encrypted = file.read(len(CONTAINER)) == CONTAINER
    data = BytesIO(_decrypt(path, password) if is_encrypted else path.read_bytes())
    archive = Archive(data, max_unpacked)
    if main_part not in archive:
        raise UnreadableError(f"its part {main_part} is missing")
    # A library may parse any part as XML, whatever its name, so all that begin like XML are searched.
    for name in archive.names:
        if _is_markup(archive, name) and any(one in archive.read_optional(name) for one in _ENTITY):
            raise UnreadableError(f"its part {name} defines entities, which documents do not need")
    data.seek(0)
    return data


def _is_markup(archive: Archive, name: str) -> bool:
    """Return whether a part begins like XML, or with white space only; false for a part that cannot be unpacked."""
    try:
        return archive.read(name, _START).lstrip(_BEFORE_MARKUP)[:1] in (b"<", b"")
    except UnreadableError:
        return False


def _decrypt(path: Path, password: str | None) -> bytes:
    import msoffcrypto
    from msoffcrypto.exceptions import DecryptionError, FileFormatError, InvalidKeyError, ParseError

    if not password:
        raise PasswordNeededError("a password is needed")
    decrypted = BytesIO()
    try:
        with path.open("rb") as file:
            office: Any = msoffcrypto.OfficeFile(file)
            office.load_key(password=password, verify_password=True)
            office.decrypt(decrypted)
    except InvalidKeyError:
        raise PasswordNeededError("the password is wrong") from None
    except (DecryptionError, FileFormatError, ParseError, OSError, ValueError) as error:
        raise UnreadableError(f"it cannot be decrypted: {error}") from None
    return decrypted.getvalue()


def read_relations(archive: Archive, part: str) -> dict[str, str]:
    """Return the parts that a part refers to, by their ids; what is outside the file is left out."""
    folder, _, name = part.rpartition("/")
    targets = {}
    for one in archive.parse_optional(f"{folder}/_rels/{name}.rels".lstrip("/"), "Relationships"):
        target = one.get("Target", "")
        # Programs of Office write this name for a picture that was removed.
        if one.get("TargetMode") != "External" and target.rpartition("/")[2] not in ("", "NULL"):
            targets[one.get("Id")] = place = _resolve(folder, target)
            if one.get("Type", "").rpartition("/")[2] in _OPTIONAL_KINDS:
                archive.require(place)
    return targets


def read_points(value: str | None) -> float:
    """Return a length in points; 0 if none is stated."""
    return read_integer(value, most=_MOST_UNITS) / _UNITS


def _resolve(folder: str, target: str) -> str:
    if target.startswith("/"):
        return target[1:]
    parts = folder.split("/")
    for part in target.split("/"):
        parts = parts[:-1] if part == ".." else parts if part == "." else [*parts, part]
    return "/".join(filter(None, parts))
