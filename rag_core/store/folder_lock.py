"""Lock the data folder, because only one process at a time may use the files of Chroma."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from rag_core.errors import DataFolderInUse, DataFolderUnwritable
from rag_core.system import make_new_files_private


class FolderLock:
    """A lock on a data folder, which is created if it does not exist.

    The lock is held from construction until `release` is called or the process ends, even by a crash.

    Raises
    ------
    DataFolderInUse
        Another process, or another engine in this process, uses the folder.
    DataFolderUnwritable
        The folder cannot be created or written.
    """

    def __init__(self, folder: Path) -> None:
        from filelock import FileLock, Timeout

        try:
            make_new_files_private()
            folder.mkdir(parents=True, exist_ok=True)
            # Remove the access of other users, which earlier versions of Footnote gave them. This fails if the folder
            # belongs to another user.
            with suppress(PermissionError):
                folder.chmod(folder.stat().st_mode & 0o700)
            self._lock = FileLock(folder / ".lock", timeout=0, thread_local=False)
            self._lock.acquire()
            self._pid_file = folder / ".pid"
            self._pid_file.write_text(str(os.getpid()))
            self._address_file = folder / ".address"
            self._address_file.unlink(missing_ok=True)
        except Timeout:
            raise DataFolderInUse(
                f"The data folder {folder} is in use by another Footnote process{_describe_owner(folder)}. Close it, "
                "use the web page instead, or name another folder (--data-dir, RAG_DATA_DIR).",
                _read_text(folder / ".address"),
            ) from None
        except OSError as error:
            raise DataFolderUnwritable(
                f"The data folder {folder} cannot be written ({error.strerror or error}). Give write access, free "
                "some space, or set RAG_DATA_DIR to another folder."
            ) from error

    def announce(self, address: str) -> None:
        """Store the address of this process's web page in the folder, for processes that cannot get the lock."""
        self._address_file.write_text(address, "utf-8")

    def release(self) -> None:
        """Release the lock, so that another process can use the folder."""
        try:
            self._pid_file.unlink(missing_ok=True)
            self._address_file.unlink(missing_ok=True)
        finally:
            self._lock.release()


def _describe_owner(folder: Path) -> str:
    process = _read_text(folder / ".pid")
    return f" (process {process})" if process.isdecimal() else ""


def _read_text(file: Path) -> str:
    """Return the text of a file; empty if the file cannot be read."""
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
