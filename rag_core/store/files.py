"""Store uploaded files at an fsspec URL. Files with the same content are stored only once."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rag_core.errors import DataFolderUnwritable, ServerUnavailable, SettingsError, StoreUnavailable
from rag_core.store.remote_folders import open_remote_folder

_ADDRESS = "[0-9a-f]{64}"
_PARTIAL_SUFFIX = ".part"
# With a cache of listings, a file that was deleted and added again would be missing.
_NO_LISTING_CACHE = {"use_listings_cache": False}
# Maximum times in seconds for a connection to S3, and for a response to a request and to an upload. An upload takes
# longer, because S3 stores the whole part before it responds.
_CONNECT_WITHIN_S, _RESPOND_WITHIN_S, _STORE_WITHIN_S = 1.5, 2.0, 30.0

# Names of the errors of Python, botocore and aiohttp if a server cannot be reached or does not respond.
_OUTAGES = {"ConnectionError", "HTTPClientError", "ClientConnectionError"}


def compute_sha256(data: bytes) -> str:
    """Return the SHA-256 of the content in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class FileStore:
    """A content-addressed folder; the address of a file is the SHA-256 of its bytes.

    Parameters
    ----------
    url : str or Path
        An fsspec URL, or a folder.
    """

    def __init__(self, url: str | Path) -> None:
        import fsspec

        self._location = str(url)
        self._errors: tuple[type[Exception], ...] = (OSError,)
        try:
            if isinstance(url, Path):  # a path may contain characters that have a meaning in URLs
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
                # s3fs sends three requests to create a bucket; if this one request fails, they need not be tried.
                self._fs.exists(self._path("0" * 64))
                self._fs.makedirs(self._root, exist_ok=True)
        except (ImportError, ValueError) as error:
            raise SettingsError(f"RAG_FILES_URL cannot be used: {error}.") from None
        except self._errors as error:
            raise _write_error(error, str(url)) from error

    def put(self, data: bytes) -> str:
        """Store the content if it is not stored yet, and return its SHA-256."""
        digest = compute_sha256(data)
        target = self._path(digest)
        try:
            with self._report_outage():
                # Compare the size as well, because a power failure may leave an empty file at an address.
                if not self._fs.exists(target) or self._fs.size(target) != len(data):
                    self._fs.makedirs(target.rsplit("/", 1)[0], exist_ok=True)
                    self._write(target, data)
        except self._errors as error:
            raise _write_error(error, target) from error
        return digest

    def _write(self, target: str, data: bytes) -> None:
        # Write to a temporary file and then move it, so that a crash leaves no partial file at an address.
        partial = target + _PARTIAL_SUFFIX
        try:
            self._uploading_fs.pipe_file(partial, data)
            self._uploading_fs.mv(partial, target)
        except OSError:
            # If the disk is full, the partial file would use space that is needed elsewhere.
            with suppress(*self._errors):
                self._fs.rm_file(partial)
            raise

    @contextmanager
    def _report_outage(self) -> Iterator[None]:
        """Raise `ServerUnavailable` if the server of the files does not answer."""
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
        """Return the content at an address; raise `StoreUnavailable` if it is missing."""
        try:
            with self._report_outage():
                return bytes(self._fs.cat_file(self._path(digest)))
        except self._errors as error:
            raise StoreUnavailable(
                f"The stored file {digest[:12]}… cannot be read ({error}). Upload the document again."
            ) from error

    @contextmanager
    def local(self, digest: str) -> Iterator[Path]:
        """Provide a local path to the content until the block ends."""
        if self._is_local:
            path = Path(self._path(digest))
            if not path.exists():
                raise StoreUnavailable(f"The stored file {digest[:12]}… is missing. Upload the document again.")
            yield path
            return
        folder = Path(tempfile.mkdtemp(prefix="footnote-"))
        try:
            path = folder / digest
            path.write_bytes(self.get(digest))
            yield path
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def delete(self, digest: str) -> None:
        """Delete the content at an address, if it exists; raise `StoreUnavailable` if deleting fails."""
        try:
            if self.exists(digest):
                with self._report_outage():
                    self._fs.rm_file(self._path(digest))
        except self._errors as error:
            raise StoreUnavailable(
                f"The stored file {digest[:12]}… cannot be removed ({_reason(error)}). Check the permissions "
                "of the data folder; Footnote tries again automatically."
            ) from error

    def exists(self, digest: str) -> bool:
        with self._report_outage():
            return bool(self._fs.exists(self._path(digest)))

    def digests(self) -> list[str]:
        """Return all stored addresses, unordered; files of other programs are ignored."""
        return [digest for digest, path in self._list_files() if path.endswith(digest)]

    def remove_parts(self) -> None:
        """Delete partial files that a killed process left. Call this method only while no file is being written."""
        for _, path in self._list_files():
            if path.endswith(_PARTIAL_SUFFIX):
                with self._report_outage():
                    self._fs.rm_file(path)

    def _list_files(self) -> Iterator[tuple[str, str]]:
        """Yield the address and path of each stored file, including partial files."""
        with self._report_outage():
            paths = [str(path) for path in self._fs.find(self._root)]
        for path in paths:
            folder, _, name = path.rpartition("/")
            digest = name.removesuffix(_PARTIAL_SUFFIX)
            if re.fullmatch(_ADDRESS, digest) and folder.endswith(f"/{digest[:2]}"):
                yield digest, path

    def _path(self, digest: str) -> str:
        if not re.fullmatch(_ADDRESS, digest):
            raise ValueError(f"not a content address: {digest!r}")
        return f"{self._root}/{digest[:2]}/{digest}"


def find_files(fs: Any, root: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return fsspec's details of all files in a folder and its subfolders, and the errors of subfolders."""
    import fsspec

    details: dict[str, Any] = {}
    problems: dict[str, str] = {}
    # File systems that override ``find``, such as object stores, list all files in one call or raise an error.
    # fsspec's generic ``find`` silently skips folders that it cannot read, so each folder is listed separately below.
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
    """Return the file system and the path of a URL; raise `SettingsError` if fsspec cannot open the URL.

    A mailbox and a sitemap are a `RemoteFolder`.
    """
    import fsspec

    try:
        if (folder := open_remote_folder(url)) is not None:
            return folder, folder.normalize_url(url)
        fs, root = fsspec.core.url_to_fs(url, **_NO_LISTING_CACHE)
        str(fs.unstrip_protocol(root)).encode()  # fails if the URL is not UTF-8, which the database needs
    except (ImportError, ValueError, OSError) as error:
        raise build_url_error(url, error) from None
    return fs, root


def build_url_error(url: str, error: Exception) -> SettingsError:
    """Return the error for a URL that fsspec cannot open."""
    return SettingsError(f"{url} is not a folder or URL that can be read: {error}.")


def _open_file_system(url: str, respond_within_s: float) -> tuple[Any, str]:
    """Return the fsspec file system and the path of a URL. Requests to S3 fail after the given time."""
    import fsspec

    options: dict[str, Any] = dict(_NO_LISTING_CACHE)
    is_s3 = url.startswith(("s3://", "s3a://"))
    if is_s3:
        limits = {"connect_timeout": _CONNECT_WITHIN_S, "read_timeout": respond_within_s}
        options["config_kwargs"] = {**limits, "retries": {"max_attempts": 0}}
    fs, root = fsspec.core.url_to_fs(url, **options)
    if is_s3:
        # The indexing queue repeats what fails; a question must not wait for repetitions.
        fs.retries = 1
    return fs, root


def _is_outage(error: Exception) -> bool:
    """Return whether a server did not answer, so that the same request may succeed later."""
    # fsspec raises errors of the driver's library, such as botocore's, or an `OSError` that was caused by one.
    response = getattr(error.__cause__, "response", None) or {}
    if response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) >= 500:
        return True
    names = {one.__name__ for one in type(error).__mro__}
    return isinstance(error, TimeoutError) or not names.isdisjoint(_OUTAGES)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _write_error(error: Exception, location: str) -> DataFolderUnwritable:
    return DataFolderUnwritable(
        f"A file cannot be written to {location} ({_reason(error)}). Nothing was lost; free some space or "
        "give write access, then try again."
    )
