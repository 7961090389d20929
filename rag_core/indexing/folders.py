"""List the files of accepted formats in a local folder or at an fsspec URL."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

from rag_core.errors import StoreUnavailable
from rag_core.parsing.formats.accepted import ACCEPTED
from rag_core.store.files import build_url_error, find_files, open_url

# Prefix of escaped paths. Other paths are relative to the folder and never begin with this prefix.
_ESCAPED = "./"


@dataclass(frozen=True, slots=True)
class FolderListing:
    """The files in a folder and its subfolders.

    Paths are relative to the folder. A path that is not valid UTF-8 is escaped like a URL, such as ``./caf%E9.pdf``,
    because the database stores only UTF-8.

    Attributes
    ----------
    url : str
    stamps : mapping of str to str
        A value for each file, by path, that changes when the file changes.
    unread : mapping of str to str
        The reason for each subfolder that could not be listed, by path.
    read : callable
        Returns the bytes of the file at a path.
    """

    url: str
    stamps: Mapping[str, str]
    unread: Mapping[str, str]
    read: Callable[[str], bytes]

    def name(self, path: str) -> str:
        """Return the file name at the end of a path, without escapes."""
        return _unescape_path(path).rsplit("/", 1)[-1]


def list_folder(url: str) -> FolderListing:
    """List the files of accepted formats in a folder and its subfolders; ``url`` is a local path or an fsspec URL.

    Raises
    ------
    SettingsError
        The URL's scheme is unknown or its driver is not installed.
    StoreUnavailable
        The folder cannot be reached or read, or ``url`` does not refer to a folder.
    """
    fs, root = open_url(url)
    try:
        if not fs.isdir(root):
            raise StoreUnavailable(f"{url} cannot be reached, or is not a folder.")
        files, unread = find_files(fs, root)
    except ValueError as error:
        raise build_url_error(url, error) from None
    except OSError as error:
        raise StoreUnavailable(f"{url} cannot be read ({error.strerror or error}).") from error
    base = root.rstrip("/") + "/"
    stamps = {
        _escape_path(str(path).removeprefix(base)): "-".join(
            str(info.get(key, "")) for key in ("size", "mtime", "ETag", "etag")
        )
        for path, info in sorted(files.items())
        if ACCEPTED.has_suffix(str(path)) and info.get("type") == "file"
    }
    unread = {_escape_path(path.removeprefix(base)): reason for path, reason in unread.items()}
    return FolderListing(
        str(fs.unstrip_protocol(root)), stamps, unread, lambda path: bytes(fs.cat_file(base + _unescape_path(path)))
    )


def _escape_path(path: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError:
        return _ESCAPED + quote(os.fsencode(path))
    return path


def _unescape_path(path: str) -> str:
    return os.fsdecode(unquote_to_bytes(path)).removeprefix(_ESCAPED) if path.startswith(_ESCAPED) else path


def resolve_url(url: str) -> str:
    """Return a local path or fsspec URL in the form of `FolderListing.url`; raise `SettingsError` if it is invalid."""
    fs, root = open_url(url)
    return str(fs.unstrip_protocol(root))
