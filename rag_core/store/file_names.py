"""The stored form of the names of files and collections."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath

from rag_core.errors import CollectionError

LONGEST_NAME = 200


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


def normalize_name(name: str) -> str:
    """Return the stored form of a name: NFC, one line, at most `LONGEST_NAME` characters; folders are kept."""
    plain = unicodedata.normalize("NFC", "".join(_plain(character) for character in name))
    plain = " ".join(plain.split()).strip(". ")
    if len(plain) > LONGEST_NAME:
        ending = PurePosixPath(plain).suffix
        ending = ending if len(ending) <= 10 else ""
        plain = plain[: LONGEST_NAME - len(ending)].rstrip(". ") + ending
    return plain


def _plain(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cs":  # a surrogate, as from a file name that is not UTF-8: no store accepts it
        return "\ufffd"
    return "" if category in ("Cc", "Cf") and not character.isspace() else character
