"""Convert names of files and collections to the form in which they are stored."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath

from rag_core.errors import CollectionError

MAX_NAME_CHARS = 200


def clean_name(name: str) -> str:
    """Return a file name without folders, control characters and direction marks.

    >>> clean_name("../../etc/pass\\x00wd.pdf")
    'passwd.pdf'
    """
    return normalize_name(re.split(r"[\\/]", name)[-1]) or "unnamed.pdf"


def clean_collection(name: str) -> str:
    """Return the stored form of a collection's name; raise `CollectionError` if no visible character is left."""
    clean = normalize_name(name)
    if not clean:
        raise CollectionError("A collection needs a name. Give it one with letters or digits.")
    return clean


def clean_folder(path: str) -> str:
    """Return the path of a folder with slashes and composed accents, without control characters, at full length."""
    cleaned = "".join(_clean_character(character) for character in path.replace("\\", "/"))
    return unicodedata.normalize("NFC", cleaned)


def normalize_name(name: str) -> str:
    """Return the stored form of a name: in NFC, on one line, with at most `MAX_NAME_CHARS` characters.

    If the name contains folders, they stay in it.
    """
    cleaned = unicodedata.normalize("NFC", "".join(_clean_character(character) for character in name))
    cleaned = " ".join(cleaned.split()).strip(". ")
    if len(cleaned) > MAX_NAME_CHARS:
        suffix = PurePosixPath(cleaned).suffix
        suffix = suffix if len(suffix) <= 10 else ""
        cleaned = cleaned[: MAX_NAME_CHARS - len(suffix)].rstrip(". ") + suffix
    return cleaned


def _clean_character(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cs":  # a surrogate, for example from a file name that is not UTF-8; databases reject it
        return "\ufffd"
    return "" if category in ("Cc", "Cf") and not character.isspace() else character
