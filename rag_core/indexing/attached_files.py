"""Queue the files that are attached to a file as separate documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from io import BytesIO
from pathlib import PurePosixPath

from rag_core.parsing.formats.accepted import find_format
from rag_core.parsing.workers.document_reader import MAX_ATTACHMENT_BYTES, MAX_ATTACHMENTS, Attachment
from rag_core.store.file_names import clean_folder, clean_name
from rag_core.types.documents import VersionRow
from rag_core.types.jobs import Job

# Maximum depth of indexed attachments: 1 for a file attached to a document, 2 for a file attached to such a file.
MAX_DEPTH = 2
# Follows the name of a file in the path of the folder of its attached files, as in "/papers/tender.pdf!".
FOLDER_MARK = "!"


def build_attachment_folder(folder: str | None, name: str) -> str:
    """Return the folder of the files that are attached to a file; ``name`` is the name of its document."""
    return f"{folder or ''}/{PurePosixPath(name).name}{FOLDER_MARK}"


class AttachedFiles:
    """The attached files of one version. `add` queues each file at once, so that only one file is in memory.

    Parameters
    ----------
    parent : VersionRow
    submit : callable or None
        `Submission.submit`; ``None`` if the attached files were submitted with an earlier version.
    max_bytes : int
        Limit on the total size of the attached files in bytes.
    password : str, optional
        Password of the parent, which encrypted attachments often share.
    """

    def __init__(
        self, parent: VersionRow, submit: Callable[..., Job] | None, max_bytes: int, password: str | None = None
    ) -> None:
        self._collection = parent.collection
        self._password = password
        self._folder = build_attachment_folder(parent.folder, parent.name)
        self._submit = submit
        self._max_bytes = self._bytes_left = max_bytes
        self._is_too_deep = sum(part.endswith(FOLDER_MARK) for part in self._folder.split("/")) > MAX_DEPTH
        self._occurrences: Counter[str] = Counter()
        self._read: list[str] = []
        self._unread: list[str] = []
        # Names of the attached files by the ids of the jobs that index them.
        self.jobs: dict[str, str] = {}
        # Folder and name of each submitted file.
        self.places: list[tuple[str, str]] = []

    def add(self, file: Attachment) -> None:
        """Queue an attached file, unless the attached files were submitted with an earlier version.

        A file is not queued, and `describe` reports it, if

        - no format recognizes it,
        - the total size would exceed the limit,
        - the file is nested too deeply, or
        - the file has no bytes, because it is empty or the parser left it out for its size or number.
        """
        has_format = find_format(BytesIO(file.data), file.name) is not None
        if not has_format or len(file.data) > self._bytes_left or self._is_too_deep:
            self._unread.append(file.name)
            return
        self._bytes_left -= len(file.data)
        self._read.append(file.name)
        if self._submit is None:
            return
        path = PurePosixPath(file.name.replace("\\", "/"))
        name = path.name if path.name not in ("", "..") else "attached file"
        inner = "/".join(part for part in path.parent.parts if part not in ("/", ".."))
        self._occurrences[file.name] += 1
        # Two attached files may have the same name.
        number = f"/{self._occurrences[file.name]}" if self._occurrences[file.name] > 1 else ""
        folder = str(PurePosixPath(f"{self._folder}/{inner}")) + number
        self.places.append((clean_folder(folder), clean_name(name)))
        job = self._submit(name, file.data, self._collection, folder=folder, password=self._password)
        self.jobs[job.job_id] = file.name

    def describe(self) -> str:
        """Return a message about the attached files, read and unread; empty if there are none."""
        parts = []
        if self._read:
            parts.append(f"The attached files are listed as documents of their own: {', '.join(self._read)}.")
        if self._unread:
            unread = ", ".join(name or "a file without a name" for name in self._unread)
            limits = (
                f"Footnote reads up to {MAX_ATTACHMENTS} attached files of up to "
                f"{MAX_ATTACHMENT_BYTES / 1e6:g} MB each and {self._max_bytes / 1e6:g} MB in total, "
                f"on {MAX_DEPTH} levels"
            )
            parts.append(f"Attached, but not read: {unread}. {limits}.")
        return " ".join(parts)
