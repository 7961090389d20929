"""Uploaded files, stored once per content at an fsspec URL."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rag_core.errors import DataFolderUnwritable, SettingsError, StoreUnavailable

_ADDRESS = "[0-9a-f]{64}"
_PARTIAL_SUFFIX = ".part"
# With a cache of listings, a file that was deleted and added again would be missing.
_NO_LISTING_CACHE = {"use_listings_cache": False}


def sha256_of(data: bytes) -> str:
    """Return the SHA-256 of the content in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


class FileStore:
    """A content-addressed folder; the address of a file is the SHA-256 of its bytes.

    Parameters
    ----------
    url : str or Path
        An fsspec URL, or a folder.
    """

    def __init__(self, url: str | Path) -> None:
        import fsspec

        try:
            if isinstance(url, Path):  # its name may contain characters with a meaning in a URL
                self._fs, self._root = fsspec.filesystem("file"), str(url)
            else:
                self._fs, self._root = fsspec.core.url_to_fs(url, **_NO_LISTING_CACHE)
            self._fs.makedirs(self._root, exist_ok=True)
        except (ImportError, ValueError) as error:
            raise SettingsError(f"RAG_FILES_URL cannot be used: {error}.") from None
        except OSError as error:
            raise _write_error(error, str(url)) from error

    def put(self, data: bytes) -> str:
        """Store the content if it is not stored yet, and return its SHA-256."""
        digest = sha256_of(data)
        target = self._path(digest)
        try:
            # A power failure may leave an empty file at an address.
            if not self._fs.exists(target) or self._fs.size(target) != len(data):
                self._fs.makedirs(target.rsplit("/", 1)[0], exist_ok=True)
                self._write(target, data)
        except OSError as error:
            raise _write_error(error, target) from error
        return digest

    def _write(self, target: str, data: bytes) -> None:
        # Written to a temporary file and moved, so that a crash leaves no partial file at an address.
        partial = target + _PARTIAL_SUFFIX
        try:
            self._fs.pipe_file(partial, data)
            self._fs.mv(partial, target)
        except OSError:
            # If the disk is full, the partial file would keep space that is needed.
            with suppress(OSError):
                self._fs.rm_file(partial)
            raise

    def get(self, digest: str) -> bytes:
        """Return the content at an address; raise `StoreUnavailable` if it is missing."""
        try:
            return bytes(self._fs.cat_file(self._path(digest)))
        except OSError as error:
            raise StoreUnavailable(
                f"The stored file {digest[:12]}… cannot be read ({error}). Upload the document again."
            ) from error

    @contextmanager
    def local(self, digest: str) -> Iterator[Path]:
        """Provide a local path to the content until the block ends."""
        if "file" in self._fs.protocol:
            path = Path(self._path(digest))
            if not path.exists():
                raise StoreUnavailable(f"The stored file {digest[:12]}… is missing. Upload the document again.")
            yield path
            return
        folder = Path(tempfile.mkdtemp(prefix="footnote-"))
        try:
            path = folder / f"{digest}.pdf"
            path.write_bytes(self.get(digest))
            yield path
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def delete(self, digest: str) -> None:
        """Delete the content at an address, if it exists; raise `StoreUnavailable` if deleting fails."""
        try:
            if self.exists(digest):
                self._fs.rm_file(self._path(digest))
        except OSError as error:
            raise StoreUnavailable(
                f"The stored file {digest[:12]}… cannot be removed ({error.strerror or error}). Check the permissions "
                "of the data folder; Footnote tries again automatically."
            ) from error

    def exists(self, digest: str) -> bool:
        return bool(self._fs.exists(self._path(digest)))

    def digests(self) -> list[str]:
        """Return all stored addresses, unordered; files of other programs are ignored."""
        return [digest for digest, path in self._list_files() if path.endswith(digest)]

    def remove_parts(self) -> None:
        """Delete the partial files of a killed process; no process may be writing now."""
        for _, path in self._list_files():
            if path.endswith(_PARTIAL_SUFFIX):
                self._fs.rm_file(path)

    def _list_files(self) -> Iterator[tuple[str, str]]:
        """Yield the address and path of each stored file, including partial files."""
        for path in map(str, self._fs.find(self._root)):
            folder, _, name = path.rpartition("/")
            digest = name.removesuffix(_PARTIAL_SUFFIX)
            if re.fullmatch(_ADDRESS, digest) and folder.endswith(f"/{digest[:2]}"):
                yield digest, path

    def _path(self, digest: str) -> str:
        if not re.fullmatch(_ADDRESS, digest):
            raise ValueError(f"not a content address: {digest!r}")
        return f"{self._root}/{digest[:2]}/{digest}"


def find_files(fs: Any, root: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return fsspec's details of each file below a folder, and the reason for each folder that cannot be read."""
    import fsspec

    details: dict[str, Any] = {}
    problems: dict[str, str] = {}
    # A store without real folders lists everything at once, or raises. The generic implementation silently skips
    # folders that it cannot read.
    if getattr(fs.find, "__func__", None) is not fsspec.AbstractFileSystem.find:
        return fs.find(root, detail=True), problems
    folders = [root]
    for folder in folders:
        try:
            entries = fs.ls(folder, detail=True)
        except OSError as error:
            if folder == root:
                raise
            problems[folder] = error.strerror or str(error)
            continue
        details |= {entry["name"]: entry for entry in entries if entry["type"] != "directory"}
        folders += [entry["name"] for entry in entries if entry["type"] == "directory" and entry["name"] != folder]
    return details, problems


def open_url(url: str) -> tuple[Any, str]:
    """Return the fsspec file system of a URL and the path in it; raise `SettingsError` if it has none."""
    import fsspec

    try:
        fs, root = fsspec.core.url_to_fs(url, **_NO_LISTING_CACHE)
        str(fs.unstrip_protocol(root)).encode()  # the database stores UTF-8
    except (ImportError, ValueError, OSError) as error:
        raise unreadable_url(url, error) from None
    return fs, root


def unreadable_url(url: str, error: Exception) -> SettingsError:
    """Return the error for a URL that fsspec cannot open."""
    return SettingsError(f"{url} is not a folder or URL that can be read: {error}.")


def _write_error(error: OSError, location: str) -> DataFolderUnwritable:
    return DataFolderUnwritable(
        f"A file cannot be written to {location} ({error.strerror or error}). Nothing was lost; free some space or "
        "give write access, then try again."
    )
