"""Uploaded files, kept once by content behind an fsspec URL."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from rag_core.errors import CollectionError, DataFolderUnwritable, SettingsError, StoreUnavailable

LONGEST_NAME = 200
_ADDRESS = "[0-9a-f]{64}"
_PART = ".part"
# No path within a folder begins so as it is listed.
_ESCAPED = "./"


def sha256_of(data: bytes) -> str:
    """Hexadecimal SHA-256 of the content."""
    return hashlib.sha256(data).hexdigest()


def clean_name(name: str) -> str:
    """A file's name fit to show and store: no folders, no control or direction characters.

    >>> clean_name("../../etc/pass\\x00wd.pdf")
    'passwd.pdf'
    """
    return folded(re.split(r"[\\/]", name)[-1]) or "unnamed.pdf"


def clean_collection(name: str) -> str:
    """A collection's name as it is stored, in one line; raises `CollectionError` where nothing of it can be seen."""
    clean = folded(name)
    if not clean:
        raise CollectionError("A collection needs a name. Give it one with letters or digits.")
    return clean


def folded(name: str) -> str:
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
            if isinstance(url, Path):  # whose name may hold what has a meaning in a URL
                self._fs, self._root = fsspec.filesystem("file"), str(url)
            else:
                self._fs, self._root = fsspec.core.url_to_fs(url)
            self._fs.makedirs(self._root, exist_ok=True)
        except (ImportError, ValueError) as error:
            raise SettingsError(f"RAG_FILES_URL cannot be used: {error}.") from None
        except OSError as error:
            raise _unwritable(error, str(url)) from error

    def put(self, data: bytes) -> str:
        """Store the content if it is not there yet and return its SHA-256."""
        digest = sha256_of(data)
        target = self._path(digest)
        try:
            # A loss of power may leave an empty file under a full address.
            if not self._fs.exists(target) or self._fs.size(target) != len(data):
                self._fs.makedirs(target.rsplit("/", 1)[0], exist_ok=True)
                self._write(target, data)
        except OSError as error:
            raise _unwritable(error, target) from error
        return digest

    def _write(self, target: str, data: bytes) -> None:
        # Written beside and moved, so that a crash leaves no half file under a full address.
        part = target + _PART
        try:
            self._fs.pipe_file(part, data)
            self._fs.mv(part, target)
        except OSError:
            # Where the disk is full, it would go on taking the space that is lacking.
            with suppress(OSError):
                self._fs.rm_file(part)
            raise

    def get(self, digest: str) -> bytes:
        """The content at an address; raises `StoreUnavailable` when it is missing."""
        try:
            return bytes(self._fs.cat_file(self._path(digest)))
        except OSError as error:
            raise StoreUnavailable(
                f"The stored file {digest[:12]}… cannot be read ({error}). Upload the document again."
            ) from error

    @contextmanager
    def local(self, digest: str) -> Iterator[Path]:
        """A path on this machine that holds the content, for as long as the block lasts."""
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
        """Remove the content at an address, if it is there; raises `StoreUnavailable` where it cannot be removed."""
        try:
            if self.exists(digest):
                self._fs.rm_file(self._path(digest))
        except OSError as error:
            raise StoreUnavailable(
                f"The stored file {digest[:12]}… cannot be removed ({error.strerror or error}). See to the permissions "
                "of the data folder; it is tried again by itself."
            ) from error

    def exists(self, digest: str) -> bool:
        return bool(self._fs.exists(self._path(digest)))

    def digests(self) -> list[str]:
        """Every address that is held, in no order. Files that others put there are none."""
        return [digest for digest, path in self._named() if path.endswith(digest)]

    def remove_parts(self) -> None:
        """Remove what was being written when a process was killed; none may be writing now."""
        for _, path in self._named():
            if path.endswith(_PART):
                self._fs.rm_file(path)

    def _named(self) -> Iterator[tuple[str, str]]:
        """Addresses that files are named after, whole or in part, and their paths."""
        for path in map(str, self._fs.find(self._root)):
            folder, _, name = path.rpartition("/")
            digest = name.removesuffix(_PART)
            if re.fullmatch(_ADDRESS, digest) and folder.endswith(f"/{digest[:2]}"):
                yield digest, path

    def _path(self, digest: str) -> str:
        if not re.fullmatch(_ADDRESS, digest):
            raise ValueError(f"not a content address: {digest!r}")
        return f"{self._root}/{digest[:2]}/{digest}"


@dataclass(frozen=True, slots=True)
class Listing:
    """The PDFs below a folder: ``stamps`` maps each path in it to what changes when the file does.

    What the folders ``unread`` hold is not known; each is told with the reason. A path that is not
    UTF-8 stands as a relative URL, ``./caf%E9.pdf``: no store takes it as it is.
    """

    url: str
    stamps: Mapping[str, str]
    unread: Mapping[str, str]
    read: Callable[[str], bytes]

    def name(self, path: str) -> str:
        """A file's name, as it is called where it lies."""
        return _real(path).rsplit("/", 1)[-1]


def browse(url: str) -> Listing:
    """List the PDFs below a folder or fsspec URL.

    Raises
    ------
    SettingsError
        The URL's kind is not known or its driver is not installed.
    StoreUnavailable
        It does not answer, or is not a folder.
    """
    fs, root = _opened(url)
    try:
        if not fs.isdir(root):
            raise StoreUnavailable(f"{url} cannot be reached, or is not a folder.")
        found, unread = _found(fs, root)
    except ValueError as error:
        raise _unreadable(url, error) from None
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
    return Listing(str(fs.unstrip_protocol(root)), stamps, unread, lambda path: bytes(fs.cat_file(base + _real(path))))


def _storable(path: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError:
        return _ESCAPED + quote(os.fsencode(path))
    return path


def _real(path: str) -> str:
    return os.fsdecode(unquote_to_bytes(path)).removeprefix(_ESCAPED) if path.startswith(_ESCAPED) else path


def _found(fs: Any, root: str) -> tuple[dict[str, Any], dict[str, str]]:
    """What fsspec tells of each file below a folder, and the folders that cannot be read with the reasons."""
    import fsspec

    found: dict[str, Any] = {}
    unread: dict[str, str] = {}
    # A store without real folders lists all at once, or raises; the general way leaves out without a word what it
    # cannot read.
    if getattr(fs.find, "__func__", None) is not fsspec.AbstractFileSystem.find:
        return fs.find(root, detail=True), unread
    folders = [root]
    for folder in folders:
        try:
            entries = fs.ls(folder, detail=True)
        except OSError as error:
            if folder == root:
                raise
            unread[folder] = error.strerror or str(error)
            continue
        found |= {entry["name"]: entry for entry in entries if entry["type"] != "directory"}
        folders += [entry["name"] for entry in entries if entry["type"] == "directory" and entry["name"] != folder]
    return found, unread


def full_url(url: str) -> str:
    """A folder or fsspec URL as `browse` names it, whether it can be reached or not; raises `SettingsError`."""
    fs, root = _opened(url)
    return str(fs.unstrip_protocol(root))


def _opened(url: str) -> tuple[Any, str]:
    import fsspec

    try:
        fs, root = fsspec.core.url_to_fs(url)
        str(fs.unstrip_protocol(root)).encode()  # as it is stored
    except (ImportError, ValueError, OSError) as error:
        raise _unreadable(url, error) from None
    return fs, root


def _unreadable(url: str, error: Exception) -> SettingsError:
    return SettingsError(f"{url} is no folder or URL that can be read: {error}.")


def _unwritable(error: OSError, where: str) -> DataFolderUnwritable:
    return DataFolderUnwritable(
        f"A file cannot be written to {where} ({error.strerror or error}). Nothing was lost; free some space or "
        "give write access, then try again."
    )
