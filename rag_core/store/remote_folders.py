"""Open mailboxes and web sites like folders, with methods of fsspec's file systems."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from rag_core.errors import SettingsError

# The module and the class for each URL scheme. A module is imported when it is needed.
_CLASSES = {
    "imap": ("rag_core.store.mailbox", "Mailboxes"),
    "imaps": ("rag_core.store.mailbox", "Mailboxes"),
    "sitemap+http": ("rag_core.store.sitemap", "Sitemaps"),
    "sitemap+https": ("rag_core.store.sitemap", "Sitemaps"),
}


class RemoteFolder(ABC):
    """A folder at a URL. The paths of its files begin with the URL.

    Attributes
    ----------
    check_interval_s : float
        Minimum time in seconds between two checks of a watched folder.
    """

    check_interval_s: float

    @abstractmethod
    def find(self, path: str, detail: bool = True) -> dict[str, dict[str, Any]]:
        """Return the details of all files by path; raise `OSError` if the list of files cannot be read completely."""

    @abstractmethod
    def cat_file(self, path: str) -> bytes:
        """Return the content of a file that `find` found."""

    def normalize_url(self, url: str) -> str:
        """Return the URL in the form in which it is stored."""
        return url

    def isdir(self, path: str) -> bool:
        """Return true. `find` raises an error if the folder does not exist."""
        return True

    def unstrip_protocol(self, path: str) -> str:
        """Return the path unchanged, because it is a URL."""
        return path


def open_remote_folder(url: str) -> RemoteFolder | None:
    """Return the folder at a URL; ``None`` if no `RemoteFolder` has the scheme of the URL.

    Raises
    ------
    SettingsError
        The URL contains a password.
    """
    folder = _find_class(url)
    if folder is None:
        return None
    if urlsplit(url).password is not None:
        raise SettingsError("A password in the address would be shown to all users. Put it in the netrc file.")
    return folder()


def find_check_interval(url: str) -> float:
    """Return the minimum time in seconds between two checks of a watched folder; 0 if it is not limited."""
    folder = _find_class(url)
    return folder.check_interval_s if folder else 0.0


def _find_class(url: str) -> type[RemoteFolder] | None:
    module, name = _CLASSES.get(url.partition("://")[0], ("", ""))
    return getattr(import_module(module), name) if module else None
