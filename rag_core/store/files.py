"""Store uploaded files in a folder or at an fsspec URL, and open watched folders."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rag_core.errors import DataFolderUnwritable, ServerUnavailable, SettingsError, StoreUnavailable
from rag_core.store.remote_folders import open_remote_folder

_DIGEST = re.compile("[0-9a-f]{64}")
_PARTIAL_SUFFIX = ".part"
# A cache of listings would not contain a file that was deleted and added again.
_NO_LISTING_CACHE = {"use_listings_cache": False}
# Maximum times in seconds for a connection to S3, for a response to a request, and for a response to an upload, which
# S3 sends only when it has stored the whole part.
_CONNECT_WITHIN_S, _RESPOND_WITHIN_S, _STORE_WITHIN_S = 1.5, 2.0, 30.0
# Names of the errors of Python, botocore and aiohttp for a server that cannot be reached or does not respond.
_OUTAGES = {"ConnectionError", "HTTPClientError", "ClientConnectionError"}


def compute_sha256(data: bytes) -> str:
    """Return the SHA-256 of bytes in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class FileStore:
    """A folder of files whose names are the SHA-256 of their content, so that the same content is stored once.

    Parameters
    ----------
    url : str or Path
        An fsspec URL, or a local folder.

    Raises
    ------
    SettingsError
        The URL cannot be parsed or its driver is not installed.
    DataFolderUnwritable, ServerUnavailable
        The folder cannot be created, or its server does not answer.
    """

    def __init__(self, url: str | Path) -> None:
        import fsspec

        self._location = str(url)
        self._errors: tuple[type[Exception], ...] = (OSError,)
        try:
            # A path is not parsed as a URL, because it can contain characters such as a question mark.
            if isinstance(url, Path):
                self._fs, self._root = fsspec.filesystem("file"), str(url)
            else:
                self._fs, self._root = _open_file_system(url, _RESPOND_WITHIN_S)
            self._is_local = "file" in self._fs.protocol
            self._uploading_fs = self._fs
            if "s3" in self._fs.protocol:
                from botocore.exceptions import BotoCoreError

                self._errors = (OSError, BotoCoreError)
                self._uploading_fs, _ = _open_file_system(str(url), _STORE_WITHIN_S)
            with self._report_outage():
                # This request fails first if S3 does not answer. `makedirs` would send three requests.
                self._fs.exists(self._path("0" * 64))
                self._fs.makedirs(self._root, exist_ok=True)
        except (ImportError, ValueError) as error:
            raise SettingsError(f"RAG_FILES_URL cannot be used: {error}.") from None
        except self._errors as error:
            raise _build_write_error(error, str(url)) from error

    def put(self, data: bytes) -> str:
        """Store content, unless it is stored completely already, and return its SHA-256.

        Raises
        ------
        DataFolderUnwritable, ServerUnavailable
            The file cannot be written, or the server of the files does not answer.
        """
        digest = compute_sha256(data)
        target = self._path(digest)
        try:
            with self._report_outage():
                # The size is compared as well, because a power failure can leave an empty file.
                if not self._fs.exists(target) or self._fs.size(target) != len(data):
                    self._fs.makedirs(target.rsplit("/", 1)[0], exist_ok=True)
                    self._write(target, data)
        except self._errors as error:
            raise _build_write_error(error, target) from error
        return digest

    def _write(self, target: str, data: bytes) -> None:
        # A temporary file is written and then moved, so that a crash leaves no partial file at the path.
        partial = target + _PARTIAL_SUFFIX
        try:
            self._uploading_fs.pipe_file(partial, data)
            self._uploading_fs.mv(partial, target)
        except OSError:
            # On a full disk, the partial file would use space.
            with suppress(*self._errors):
                self._fs.rm_file(partial)
            raise

    @contextmanager
    def _report_outage(self) -> Iterator[None]:
        """Raise `ServerUnavailable` if the block fails because the server of the files does not answer."""
        try:
            yield
        except self._errors as error:
            if self._is_local or not _is_outage(error):
                raise
            raise ServerUnavailable(
                f"The server of the files at {self._location} does not answer ({error or type(error).__name__}). Check "
                "that it runs, and check RAG_FILES_URL. Nothing was lost.",
                f"the server of the files at {self._location}",
            ) from error

    def get(self, digest: str) -> bytes:
        """Return the content with a SHA-256; raise `StoreUnavailable` if it is not stored or cannot be read."""
        try:
            with self._report_outage():
                return bytes(self._fs.cat_file(self._path(digest)))
        except self._errors as error:
            raise StoreUnavailable(
                f"The stored file {digest[:12]}… cannot be read ({error}). Upload the document again."
            ) from error

    @contextmanager
    def local(self, digest: str) -> Iterator[Path]:
        """Yield the path of a local file with the content of a SHA-256; the path is valid until the block ends.

        Raises
        ------
        StoreUnavailable
            The content is not stored or cannot be read.
        """
        if self._is_local:
            path = Path(self._path(digest))
            if not path.exists():
                raise StoreUnavailable(f"The stored file {digest[:12]}… is missing. Upload the document again.")
            yield path
            return
        with tempfile.TemporaryDirectory(prefix="footnote-", ignore_cleanup_errors=True) as folder:
            path = Path(folder, digest)
            path.write_bytes(self.get(digest))
            yield path

    def delete(self, digest: str) -> None:
        """Delete the content with a SHA-256, if it is stored; raise `StoreUnavailable` if deleting fails."""
        try:
            if self.exists(digest):
                with self._report_outage():
                    self._fs.rm_file(self._path(digest))
        except self._errors as error:
            raise StoreUnavailable(
                f"The stored file {digest[:12]}… cannot be removed ({_describe(error)}). Check the permissions "
                "of the data folder; Footnote tries again automatically."
            ) from error

    def exists(self, digest: str) -> bool:
        """Return whether the content with a SHA-256 is stored."""
        with self._report_outage():
            return bool(self._fs.exists(self._path(digest)))

    def digests(self) -> list[str]:
        """Return the SHA-256 of all stored files, unordered. Files of other programs are ignored."""
        return [digest for digest, path in self._list_files() if path.endswith(digest)]

    def remove_partial_files(self) -> None:
        """Delete the partial files of a killed process. Call this method only while no file is being written."""
        for _, path in self._list_files():
            if path.endswith(_PARTIAL_SUFFIX):
                with self._report_outage():
                    self._fs.rm_file(path)

    def _list_files(self) -> Iterator[tuple[str, str]]:
        """Yield the SHA-256 and the path of each stored file, including partial files."""
        with self._report_outage():
            paths = [str(path) for path in self._fs.find(self._root)]
        for path in paths:
            folder, _, name = path.rpartition("/")
            digest = name.removesuffix(_PARTIAL_SUFFIX)
            if _DIGEST.fullmatch(digest) and folder.endswith(f"/{digest[:2]}"):
                yield digest, path

    def _path(self, digest: str) -> str:
        if not _DIGEST.fullmatch(digest):
            raise ValueError(f"not a SHA-256: {digest!r}")
        return f"{self._root}/{digest[:2]}/{digest}"


def find_files(fs: Any, root: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the details of all files in a folder and its subfolders, and why subfolders cannot be read, each by path.

    Raises
    ------
    OSError
        The folder itself cannot be read.
    """
    import fsspec

    details: dict[str, Any] = {}
    problems: dict[str, str] = {}
    # Some file systems, such as object stores, override ``find``, which lists all files in one call or raises an error.
    # The ``find`` of fsspec itself skips folders that it cannot read, so each folder is listed separately below.
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
    """Return the file system and the path of a URL; raise `SettingsError` if the URL cannot be opened.

    The file system is an fsspec file system, or a `RemoteFolder` for mailboxes and sitemaps.
    """
    import fsspec

    try:
        if (folder := open_remote_folder(url)) is not None:
            return folder, folder.normalize_url(url)
        fs, root = fsspec.core.url_to_fs(url, **_NO_LISTING_CACHE)
        # Raises an error if the URL is not valid UTF-8, because the database could not store it.
        str(fs.unstrip_protocol(root)).encode()
    except (ImportError, ValueError, OSError) as error:
        raise build_url_error(url, error) from None
    return fs, root


def build_url_error(url: str, error: Exception) -> SettingsError:
    """Return the error for a URL that cannot be opened."""
    return SettingsError(f"{url} is not a folder or URL that can be read: {error}.")


def _open_file_system(url: str, respond_within_s: float) -> tuple[Any, str]:
    """Return the fsspec file system and the path of a URL. Requests to S3 fail after ``respond_within_s`` seconds."""
    import fsspec

    options: dict[str, Any] = dict(_NO_LISTING_CACHE)
    is_s3 = url.startswith(("s3://", "s3a://"))
    if is_s3:
        limits = {"connect_timeout": _CONNECT_WITHIN_S, "read_timeout": respond_within_s}
        options["config_kwargs"] = {**limits, "retries": {"max_attempts": 0}}
    fs, root = fsspec.core.url_to_fs(url, **options)
    if is_s3:
        # No request is repeated, because a question must not wait. The indexing queue repeats its steps itself.
        fs.retries = 1
    return fs, root


def _is_outage(error: Exception) -> bool:
    """Return whether an error means that a server did not answer, so that the same request may succeed later."""
    # fsspec raises errors of the driver's library, such as botocore, or an `OSError` that such an error caused.
    response = getattr(error.__cause__, "response", None) or {}
    if response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) >= 500:
        return True
    names = {one.__name__ for one in type(error).__mro__}
    return isinstance(error, TimeoutError) or not names.isdisjoint(_OUTAGES)


def _describe(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _build_write_error(error: Exception, location: str) -> DataFolderUnwritable:
    return DataFolderUnwritable(
        f"A file cannot be written to {location} ({_describe(error)}). Nothing was lost; free some space or "
        "give write access, then try again."
    )
