"""The PDFs in a folder or behind an fsspec URL."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

from rag_core.errors import StoreUnavailable
from rag_core.store.files import find_files, open_url, unreadable_url

# No path within a folder begins so as it is listed.
_ESCAPED = "./"


@dataclass(frozen=True, slots=True)
class FolderListing:
    """The PDFs below a folder: ``stamps`` maps each path in it to what changes when the file does.

    ``unread`` maps folders that could not be listed to the reason. A path that is not UTF-8 is given as a relative
    URL, ``./caf%E9.pdf``, because no store accepts it as it is.
    """

    url: str
    stamps: Mapping[str, str]
    unread: Mapping[str, str]
    read: Callable[[str], bytes]

    def name(self, path: str) -> str:
        """A file's name, as it is called where it lies."""
        return _real(path).rsplit("/", 1)[-1]


def list_pdfs(url: str) -> FolderListing:
    """List the PDFs below a folder or fsspec URL.

    Raises
    ------
    SettingsError
        The URL's kind is not known or its driver is not installed.
    StoreUnavailable
        It does not answer, or is not a folder.
    """
    fs, root = open_url(url)
    try:
        if not fs.isdir(root):
            raise StoreUnavailable(f"{url} cannot be reached, or is not a folder.")
        found, unread = find_files(fs, root)
    except ValueError as error:
        raise unreadable_url(url, error) from None
    except OSError as error:
        raise StoreUnavailable(f"{url} cannot be read ({error.strerror or error}).") from error
    base = root.rstrip("/") + "/"
    stamps = {
        _storable(str(path).removeprefix(base)): "-".join(
            str(info.get(key, "")) for key in ("size", "mtime", "ETag", "etag")
        )
        for path, info in sorted(found.items())
        if str(path).lower().endswith(".pdf") and info.get("type") == "file"
    }
    unread = {_storable(path.removeprefix(base)): reason for path, reason in unread.items()}
    return FolderListing(
        str(fs.unstrip_protocol(root)), stamps, unread, lambda path: bytes(fs.cat_file(base + _real(path)))
    )


def _storable(path: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError:
        return _ESCAPED + quote(os.fsencode(path))
    return path


def _real(path: str) -> str:
    return os.fsdecode(unquote_to_bytes(path)).removeprefix(_ESCAPED) if path.startswith(_ESCAPED) else path


def full_url(url: str) -> str:
    """A folder or fsspec URL as `list_pdfs` names it, whether it can be reached or not; raises `SettingsError`."""
    fs, root = open_url(url)
    return str(fs.unstrip_protocol(root))
