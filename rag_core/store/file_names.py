"""Normalize the names of files, folders and collections before they are stored."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath

from rag_core.errors import CollectionError

MAX_NAME_CHARS = 200


def clean_name(name: str) -> str:
    """Return a file name without folders, in the form of `normalize_name`; ``unnamed.pdf`` if nothing remains.

    >>> clean_name("../../etc/pass\\x00wd.pdf")
    'passwd.pdf'
    """
    return normalize_name(re.split(r"[\\/]", name)[-1]) or "unnamed.pdf"


def clean_collection(name: str) -> str:
    """Return the name of a collection in the form of `normalize_name`; raise `CollectionError` if nothing remains."""
    clean = normalize_name(name)
    if not clean:
        raise CollectionError("A collection needs a name. Give it one with letters or digits.")
    return clean


def clean_folder(path: str) -> str:
    """Return the stored form of the path of a folder: in NFC, without backslashes and control characters.

    Backslashes become slashes. Long paths are not shortened.
    """
    cleaned = "".join(_clean_character(character) for character in path.replace("\\", "/"))
    return unicodedata.normalize("NFC", cleaned)


def normalize_name(name: str) -> str:
    """Return the stored form of a name, which may contain folders.

    The returned name is in NFC and on one line. Control characters, direction marks, and dots and spaces at both ends
    are removed. If the name has more than `MAX_NAME_CHARS` characters, it is cut before its suffix. It may be empty.
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
    # File names that are not UTF-8 contain surrogates, which databases refuse.
    if category == "Cs":
        return "\ufffd"
    return "" if category in ("Cc", "Cf") and not character.isspace() else character
