"""Open data folders that Footnote may read, but not write."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from rag_core.errors import DataFolderInUse, DataFolderUnwritable

# What is not copied. Documents and models are read in place. LibreOffice's PDFs of Office documents and SQLite's "-shm"
# files are created again when they are needed. Hidden files are locks of the writing process.
_NOT_COPIED = shutil.ignore_patterns("files", "models", "office-pdfs", ".*", "*-shm")
# Maximum number of attempts to copy, and the pause between two attempts in seconds.
_MAX_COPIES, _PAUSE_S = 5, 0.3
# File systems may record the same time for two changes within this time in nanoseconds.
_PRECISION_NS = 50_000_000


def is_read_only(folder: Path) -> bool:
    """Return whether a folder contains a library in which this process cannot write the folder or the database."""
    database = folder / "footnote.sqlite"
    return database.is_file() and not all(os.access(one, os.W_OK) for one in (folder, database))


def copy_library(folder: Path) -> tempfile.TemporaryDirectory[str]:
    """Return a temporary folder with a copy of the database and the indexes of ``folder``, without documents' files.

    A copy is needed because SQLite and Chroma write into their folders even if nothing is changed.

    Raises
    ------
    DataFolderInUse
        Another process changed files during each attempt to copy them.
    DataFolderUnwritable
        The folder cannot be read, or the disk of temporary files is full.
    """
    for attempt in range(_MAX_COPIES):
        time.sleep(_PAUSE_S if attempt else 0)
        started, before = time.time_ns(), _list_states(folder)
        copy = tempfile.TemporaryDirectory(prefix="footnote-")
        try:
            shutil.copytree(folder, copy.name, ignore=_NOT_COPIED, dirs_exist_ok=True)
            # The copies have the permissions of the read-only originals.
            for path in (Path(copy.name), *Path(copy.name).rglob("*")):
                path.chmod(0o700 if path.is_dir() else 0o600)
            if _list_states(folder) == before and max(before.values())[0] < started - _PRECISION_NS:
                return copy
            copy.cleanup()
        except OSError as error:
            copy.cleanup()
            if _list_states(folder) == before:
                raise DataFolderUnwritable(
                    f"The data folder {folder} cannot be written, and reading it needs a copy of its database, which "
                    f"failed ({error.strerror or error}). Give write access, or free some space in "
                    f"{tempfile.gettempdir()}."
                ) from error
    raise DataFolderInUse(
        f"The data folder {folder} cannot be written, and another process is changing it, so it cannot be copied for "
        "reading. Start again when no documents are being added."
    )


def _list_states(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return the time of the last change in nanoseconds, and the size in bytes, of each file to copy, by path."""
    states = {}
    for parent, folders, names in os.walk(folder):
        left_out = _NOT_COPIED(parent, [*folders, *names])
        folders[:] = [name for name in folders if name not in left_out]
        for path in (Path(parent, name) for name in names if name not in left_out):
            # SQLite may remove a file meanwhile.
            with suppress(FileNotFoundError):
                states[path] = (path.stat().st_mtime_ns, path.stat().st_size)
    return states


def describe_refusal(folder: Path) -> str:
    """Return why nothing can be changed in a folder, and what to do."""
    return (
        f"The data folder {folder} cannot be written, so nothing can be added or changed, and conversations end when "
        "Footnote stops. Give the account that runs Footnote write access, or set RAG_DATA_DIR to a copy of the folder."
    )
