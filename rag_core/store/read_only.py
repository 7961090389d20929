"""A data folder that Footnote may read, but not write."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from rag_core.errors import DataFolderUnwritable

# What is read where it is, or belongs to a process that writes.
_NOT_COPIED = ("files", "models", ".*")


def is_read_only(folder: Path) -> bool:
    """Return whether a folder contains a library that can be read, but not changed."""
    database = folder / "footnote.sqlite"
    return database.is_file() and not all(os.access(one, os.W_OK) for one in (folder, database))


def copy_library(folder: Path) -> tempfile.TemporaryDirectory[str]:
    """Return a temporary copy of the database and the indexes of a folder, without the files of documents.

    SQLite and Chroma write into their folders even if nothing is changed.

    Raises
    ------
    DataFolderUnwritable
        The folder cannot be read, or the disk of temporary files is full.
    """
    copy = tempfile.TemporaryDirectory(prefix="footnote-")
    try:
        shutil.copytree(folder, copy.name, ignore=shutil.ignore_patterns(*_NOT_COPIED), dirs_exist_ok=True)
        # The copy of a folder has its permissions.
        for path in (Path(copy.name), *Path(copy.name).rglob("*")):
            path.chmod(0o700 if path.is_dir() else 0o600)
    except OSError as error:
        copy.cleanup()
        raise DataFolderUnwritable(
            f"The data folder {folder} cannot be written, and reading it needs a copy of its database, which failed "
            f"({error.strerror or error}). Give write access, or free some space in {tempfile.gettempdir()}."
        ) from error
    return copy


def describe_refusal(folder: Path) -> str:
    """Return why nothing can be changed in a folder, and what to do."""
    return (
        f"The data folder {folder} cannot be written, so nothing can be added, changed or saved. Give the account that "
        "runs Footnote write access, or set RAG_DATA_DIR to a copy of the folder."
    )
