"""Open files of Microsoft Office: zip archives of XML, which may be encrypted."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

from rag_core.parsing.flow.archive import Archive, read_integer
from rag_core.parsing.flow.recognition import CONTAINER
from rag_core.parsing.formats.base import PasswordNeededError, UnreadableError

# The start of an entity definition in the encodings that XML need not declare.
_ENTITY = ["<!ENTITY".encode(encoding) for encoding in ("ascii", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")]
# Number of bytes that show whether a part is XML.
_HEAD_BYTES = 4096
# Byte order marks, white space and empty bytes, which may be before XML.
_BEFORE_MARKUP = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"
# Office states lengths in English Metric Units. Number of these units in a point, and maximum length in these units.
_UNITS_PER_POINT = 12_700
_MAX_UNITS = 1 << 40
# Types of relations to parts that readers skip if they are missing, so that the missing part is reported here.
_OPTIONAL_KINDS = frozenset(
    "header footer footnotes endnotes comments drawing styles numbering notesSlide image chart".split()
)


def open_package(path: Path, main_part: str, password: str | None, max_unpacked: int | None) -> BytesIO:
    """Return an Office file as a decrypted zip archive, after a check of the size and the XML of its parts.

    Raises
    ------
    PasswordNeededError
        The file is encrypted, and the password is missing or wrong.
    UnreadableError
        The file is damaged, has no part ``main_part``, or contains a part that defines entities.
    UnpackedSizeError
        See `Archive`.
    """
    with path.open("rb") as file:
        is_encrypted = file.read(len(CONTAINER)) == CONTAINER
    data = BytesIO(_decrypt(path, password) if is_encrypted else path.read_bytes())
    archive = Archive(data, max_unpacked)
    if main_part not in archive:
        raise UnreadableError(f"its part {main_part} is missing")
    # Search all parts that begin like XML, because a library may parse a part of any name as XML.
    for name in archive.names:
        if _is_markup(archive, name) and any(entity in archive.read_optional(name) for entity in _ENTITY):
            raise UnreadableError(f"its part {name} defines entities, which documents do not need")
    data.seek(0)
    return data


def _is_markup(archive: Archive, name: str) -> bool:
    """Return whether a part begins like XML, or with much white space; false for a part that cannot be unpacked."""
    try:
        return archive.read(name, _HEAD_BYTES).lstrip(_BEFORE_MARKUP)[:1] in (b"<", b"")
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
    """Return the names of the parts to which a part has relations, by the id of the relation.

    Targets outside the file and removed pictures are left out. A problem is added for a missing part of certain types.
    """
    folder, _, name = part.rpartition("/")
    targets = {}
    for relation in archive.parse_optional(f"{folder}/_rels/{name}.rels".lstrip("/"), "Relationships"):
        target = relation.get("Target", "")
        # Office writes "NULL" for a picture that was removed.
        if relation.get("TargetMode") != "External" and target.rpartition("/")[2] not in ("", "NULL"):
            targets[relation.get("Id")] = target_part = _resolve(folder, target)
            if relation.get("Type", "").rpartition("/")[2] in _OPTIONAL_KINDS:
                archive.require(target_part)
    return targets


def read_points(value: str | None) -> float:
    """Return a length, stated in English Metric Units, in points; 0 if it is missing, negative or not a number."""
    return read_integer(value, most=_MAX_UNITS) / _UNITS_PER_POINT


def _resolve(folder: str, target: str) -> str:
    """Return the name of the part at a target, which is relative to a folder of the archive or begins with a slash."""
    if target.startswith("/"):
        return target[1:]
    parts = folder.split("/")
    for part in target.split("/"):
        parts = parts[:-1] if part == ".." else parts if part == "." else [*parts, part]
    return "/".join(filter(None, parts))
