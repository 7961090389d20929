"""Names of files and collections in the form in which they are stored."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath

from rag_core.errors import CollectionError

LONGEST_NAME = 200


def clean_name(name: str) -> str:
    """A file's name fit to show and store: no folders, no control or direction characters.

    >>> clean_name("../../etc/pass\\x00wd.pdf")
    'passwd.pdf'
    """
    return normalize_name(re.split(r"[\\/]", name)[-1]) or "unnamed.pdf"


def clean_collection(name: str) -> str:
    """A collection's name as it is stored, in one line; raises `CollectionError` where nothing of it can be seen."""
    clean = normalize_name(name)
    if not clean:
        raise CollectionError("A collection needs a name. Give it one with letters or digits.")
    return clean


def normalize_name(name: str) -> str:
    """A name in the one form in which names are stored, whatever program it comes from; folders are left in it."""
    plain = unicodedata.normalize("NFC", "".join(_plain(character) for character in name))
    plain = " ".join(plain.split()).strip(". ")
    if len(plain) > LONGEST_NAME:
        ending = PurePosixPath(plain).suffix
        ending = ending if len(ending) <= 10 else ""
        plain = plain[: LONGEST_NAME - len(ending)].rstrip(". ") + ending
    return plain


def _plain(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cs":  # half a pair, or a byte of a file name that is not UTF-8: no store takes it
        return "\ufffd"
    return "" if category in ("Cc", "Cf") and not character.isspace() else character
