"""Download a GGUF file of the catalogue, and continue after an interruption."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rag_core.errors import (
    ChecksumMismatch,
    DataFolderUnwritable,
    DownloadCancelled,
    DownloadInterrupted,
    ModelDownloadError,
    ModelTooLarge,
)
from rag_core.llm.model_catalogue import CatalogueModel
from rag_core.system import read_total_memory
from rag_core.types.access import is_loopback
from rag_core.types.formatting import format_size

if TYPE_CHECKING:
    import httpx

# Space that a download leaves free for the database and the index.
_DISK_RESERVE_BYTES = 500_000_000
# Bytes between two checks whether the download was cancelled.
_PIECE_BYTES = 1 << 16
_CONNECT_TIMEOUT_S, _READ_TIMEOUT_S = 10.0, 30.0
# How to use a file that was not downloaded by the application.
_ENTER_PATH = 'enter its path on the Settings page (kind of model "GGUF file"), or run: model use PATH'


def build_model_path(model: CatalogueModel, folder: Path) -> Path:
    """Return the path of the downloaded file of a model."""
    return folder / model.file


def is_downloaded(model: CatalogueModel, folder: Path) -> bool:
    """Return whether the whole file of a model is in the folder. The check compares the size only."""
    return _measure_size(build_model_path(model, folder)) == model.size_bytes


def count_partial_bytes(model: CatalogueModel, folder: Path) -> int:
    """Return how many bytes of a model an unfinished download has written to the folder; 0 if there is none."""
    return _measure_size(_build_part_path(model, folder))


def find_capacity_problem(model: CatalogueModel, folder: Path) -> str:
    """Return why a model does not fit the memory of this machine or the disk of a folder; empty if it fits."""
    memory = read_total_memory()
    if memory is not None and memory < model.memory_bytes:
        return (
            f"{model.name} needs {format_size(model.memory_bytes)} of memory, and this machine has "
            f"{format_size(memory)}. Choose a smaller model."
        )
    if is_downloaded(model, folder):
        return ""
    folder = folder.absolute()
    needed = model.size_bytes - count_partial_bytes(model, folder) + _DISK_RESERVE_BYTES
    free = shutil.disk_usage(next(one for one in (folder, *folder.parents) if one.exists())).free
    if free < needed:
        return (
            f"{model.name} needs {format_size(needed)} of disk space in {folder}, and {format_size(free)} are free. "
            f"Free some space; or copy {model.url} to another disk, and {_ENTER_PATH}."
        )
    return ""


def download_model(
    model: CatalogueModel,
    folder: Path,
    *,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> Path:
    """Download a model and return the path of its file. Nothing is downloaded if the file is already there.

    The bytes are written to a file with the ending ``.part``. It remains after an interruption, and the next call
    requests only the missing bytes. The file gets its name after its checksum has been verified.

    Parameters
    ----------
    model : CatalogueModel
    folder : Path
        It is created if it does not exist.
    on_progress : callable, optional
        Called with the number of bytes that are in the folder, and with the size of the file.
    is_cancelled : callable, optional
        Called before each piece; the download stops if it returns true.

    Raises
    ------
    ModelTooLarge
        The disk or the memory is too small.
    DownloadInterrupted
        The server cannot be reached, returns an error, or stops sending.
    DownloadCancelled
        ``is_cancelled`` returned true.
    ChecksumMismatch
        The server sent another file. It is removed.
    ModelDownloadError
        The same model is already being downloaded.
    DataFolderUnwritable
        The file cannot be written.
    """
    path, part = build_model_path(model, folder), _build_part_path(model, folder)
    if is_downloaded(model, folder):
        return path
    if problem := find_capacity_problem(model, folder):
        raise ModelTooLarge(problem)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _lock_model(model, folder):
            # Another process may have finished the download since the first check.
            if not is_downloaded(model, folder):
                _fetch(model, part, on_progress, is_cancelled)
                _verify_checksum(model, part)
                part.replace(path)
    except OSError as error:
        raise DataFolderUnwritable(
            f"{part} cannot be written ({error.strerror or error}). Give write access or free some space and download "
            f"{model.name} again."
        ) from None
    return path


def remove_model(model: CatalogueModel, folder: Path) -> None:
    """Remove the file of a model, and the file of an unfinished download, if they exist.

    Raises
    ------
    ModelDownloadError
        The model is being downloaded.
    DataFolderUnwritable
        The file cannot be removed.
    """
    if not folder.is_dir():
        return
    try:
        with _lock_model(model, folder):
            _build_part_path(model, folder).unlink(missing_ok=True)
            build_model_path(model, folder).unlink(missing_ok=True)
    except OSError as error:
        raise DataFolderUnwritable(
            f"{build_model_path(model, folder)} cannot be removed ({error.strerror or error}). Give write access to "
            "the folder, or remove the file by hand."
        ) from None


@contextmanager
def _lock_model(model: CatalogueModel, folder: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(folder / f".{model.file}.lock", timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise ModelDownloadError(
            f"{model.name} is already being downloaded to {folder}. Wait until that download ends, or stop it."
        ) from None
    try:
        yield
    finally:
        lock.release()


def _fetch(
    model: CatalogueModel, part: Path, on_progress: Callable[[int, int], None], is_cancelled: Callable[[], bool]
) -> None:
    """Append the missing bytes of a model to ``part``; write all bytes anew if the server sends the whole file."""
    import httpx

    if (offset := _measure_size(part)) >= model.size_bytes:
        return
    # Request no compression, because a range of a compressed reply does not count the bytes of the file.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={offset}-"} if offset else {})
    client = httpx.Client(
        follow_redirects=True,
        timeout=httpx.Timeout(_READ_TIMEOUT_S, connect=_CONNECT_TIMEOUT_S),
        # httpx calls this before each request, including those of redirects.
        event_hooks={"request": [_require_https]},
    )
    try:
        with client, client.stream("GET", model.url, headers=headers) as reply:
            reply.raise_for_status()
            done = _check_offset(reply, offset)
            with part.open("ab" if done else "wb") as file:
                on_progress(done, model.size_bytes)
                for piece in reply.iter_raw(_PIECE_BYTES):
                    if is_cancelled():
                        raise DownloadCancelled(
                            f"The download of {model.name} was stopped. Download it again to go on."
                        )
                    file.write(piece)
                    done += len(piece)
                    on_progress(done, model.size_bytes)
                    # Do not read the rest of a longer file, whose checksum would be wrong.
                    if done > model.size_bytes:
                        break
                file.flush()
                os.fsync(file.fileno())
            if done < model.size_bytes:
                raise httpx.RemoteProtocolError("the server stopped sending before the end of the file")
    except httpx.HTTPError as error:
        # httpx's message for a status contains the address of a redirect, which may be signed.
        if isinstance(error, httpx.HTTPStatusError):
            reason = f"HTTP {error.response.status_code}"
        else:
            reason = str(error) or type(error).__name__
        kept = f"It continues after the first {format_size(_measure_size(part))}. " if _measure_size(part) else ""
        raise DownloadInterrupted(
            f"{model.name} could not be downloaded from {urlsplit(model.url).hostname} ({reason}). Check the network "
            f"connection, and download it again. {kept}Without a network, copy the file from {model.url} to this "
            f"machine, and {_ENTER_PATH}."
        ) from None


def _require_https(request: httpx.Request) -> None:
    import httpx

    if request.url.scheme != "https" and not is_loopback(request.url.host):
        raise httpx.UnsupportedProtocol(f"the server redirects to {request.url.host} without encryption")


def _check_offset(reply: httpx.Response, requested: int) -> int:
    """Return the offset in the file at which the reply begins; 0 if the server ignores the requested range."""
    import httpx

    if reply.status_code != httpx.codes.PARTIAL_CONTENT:
        return 0
    sent = re.match(r"bytes (\d+)-", reply.headers.get("Content-Range", ""))
    if sent is None or int(sent[1]) != requested:
        raise httpx.RemoteProtocolError("the server sent other bytes than those that were requested")
    return requested


def _verify_checksum(model: CatalogueModel, part: Path) -> None:
    """Remove ``part`` and raise `ChecksumMismatch` if the file is not that of the model."""
    with part.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != model.sha256:
        part.unlink()
        raise ChecksumMismatch(
            f"The file that was downloaded for {model.name} is damaged or another file, and was removed: its SHA-256 "
            f"is {digest} instead of {model.sha256}. Download it again; or copy the file from "
            f"elsewhere, and {_ENTER_PATH}."
        )


def _build_part_path(model: CatalogueModel, folder: Path) -> Path:
    return folder / f"{model.file}.part"


def _measure_size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
