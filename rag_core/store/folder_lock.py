"""One process at a time may use an embedded data folder: Chroma's files allow no more."""

from __future__ import annotations

import os
from pathlib import Path

from rag_core.errors import DataFolderInUse, DataFolderUnwritable


class FolderLock:
    """Held from construction until `release` or the end of the process, however it ends.

    Raises
    ------
    DataFolderInUse
        Another process, or another engine of this one, holds it.
    DataFolderUnwritable
        The folder cannot be made or written.
    """

    def __init__(self, folder: Path) -> None:
        from filelock import FileLock, Timeout

        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(folder / ".lock", timeout=0, thread_local=False)
            self._lock.acquire()
            self._pid = folder / ".pid"
            self._pid.write_text(str(os.getpid()))
        except Timeout:
            raise DataFolderInUse(
                f"The data folder {folder} is in use by another Footnote process{_holder(folder)}. Close it, use the "
                "web page instead, or name another folder (--data-dir, RAG_DATA_DIR)."
            ) from None
        except OSError as error:
            raise DataFolderUnwritable(
                f"The data folder {folder} cannot be written ({error.strerror or error}). Give write access, free "
                "some space, or set RAG_DATA_DIR to another folder."
            ) from error

    def release(self) -> None:
        """Let another process in."""
        try:
            self._pid.unlink(missing_ok=True)
        finally:
            self._lock.release()


def _holder(folder: Path) -> str:
    try:
        return f" (process {int((folder / '.pid').read_text())})"
    except (OSError, ValueError):
        return ""
