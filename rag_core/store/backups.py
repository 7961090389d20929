"""Write, verify and open backups of a library. A library may be in use while its backup is written.

A backup is a folder, or a zip file of such a folder, with a copy of the database, the stored files, and a manifest that
lists them. A backup contains no indexes, because these can be rebuilt from the database.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from rag_core.errors import BackupError, StoreUnavailable
from rag_core.settings import Settings
from rag_core.store.database import now
from rag_core.store.files import FileStore, hash_file
from rag_core.store.migrate import HEAD, copy_database

MANIFEST, DATABASE, FILES = "backup.json", "footnote.sqlite", "files"
# Prefix of the temporary folders in the data folder, for backups that are being sent or restored.
TEMPORARY_PREFIX = ".backup-"
_MAX_MANIFEST_BYTES, _PART_BYTES = 256_000_000, 1_000_000
# Maximum number of copies of the database. The database is copied again if files are missing that were not missing for
# the copy before, because a document was then deleted while the files were copied.
_MAX_COPIES = 5
_SELECT_FILES = "SELECT DISTINCT sha256, size FROM versions"
_DATABASE_ON_SERVER = (
    "The documents of this library are in the database of RAG_DATABASE_URL, which this command does not copy. Use the "
    "tools of its server, such as pg_dump, and copy the files of RAG_FILES_URL or of the data folder."
)
_Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class BackupManifest(BaseModel):
    """The list of a backup's contents.

    Attributes
    ----------
    schema_revision : str
        Revision of the database schema.
    files : dict of str to int
        Size in bytes of each stored file, by SHA-256.
    missing : list of str
        SHA-256 of each file that the database lists but the file store lacks, for example because it was too large.
    """

    model_config = ConfigDict(extra="forbid")

    format: Literal["footnote-backup"] = "footnote-backup"
    version: Literal[1] = 1
    schema_revision: str
    created_at: str
    database_sha256: _Digest
    database_bytes: int = Field(ge=0)
    files: dict[_Digest, int]
    missing: list[str]

    @property
    def size(self) -> int:
        """Size of the database and all files in bytes."""
        return self.database_bytes + sum(self.files.values())


def write_backup(settings: Settings, target: Path) -> BackupManifest:
    """Write a backup of the library of ``settings`` to the folder ``target``, verify it, and return its manifest.

    Another process may change the library meanwhile. First, the database is copied as of one moment. Then, the files
    that this copy lists are linked or copied. Stored files never change.

    Raises
    ------
    BackupError
        ``target`` exists and is not an empty folder, the database is on a server, the data folder contains no library,
        documents are deleted too fast, or the backup cannot be written, for example because the disk is full.
    """
    check_database_is_local(settings)
    source = settings.data_dir / DATABASE
    if not source.is_file():
        raise BackupError(f"There is no library in {settings.data_dir}. Name its folder (--data-dir, RAG_DATA_DIR).")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise BackupError(f"{target} exists and is not an empty folder. Name a new folder for the backup.")
    store = FileStore(settings.files_url or settings.data_dir / FILES)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"{target.name}.partial-", dir=target.parent) as name:
            partial = Path(name) / "backup"
            partial.mkdir(mode=0o700)
            files, missing = _copy_library(source, store, partial)
            manifest = BackupManifest(
                schema_revision=_read_revision(partial / DATABASE),
                created_at=now().isoformat(),
                database_sha256=hash_file(partial / DATABASE),
                database_bytes=(partial / DATABASE).stat().st_size,
                files=files,
                missing=missing,
            )
            (partial / MANIFEST).write_text(manifest.model_dump_json(indent=1), "utf-8")
            verify_backup(partial)
            if target.exists():
                target.rmdir()
            partial.rename(target)
    except (OSError, sqlite3.Error) as error:
        raise BackupError(
            f"The backup cannot be written to {target} ({error}). The library is unchanged. Free some space, or name "
            "another folder."
        ) from error
    return manifest


def check_database_is_local(settings: Settings) -> None:
    """Raise `BackupError` if the database is on a server instead of in the data folder."""
    if settings.database_url:
        raise BackupError(_DATABASE_ON_SERVER)


def _copy_library(source: Path, store: FileStore, target: Path) -> tuple[dict[str, int], list[str]]:
    """Copy the database and the files that it lists.

    Return the size in bytes of each copied file by SHA-256, and the SHA-256 of the files that are not stored.
    """
    missing: list[str] = []
    for _ in range(_MAX_COPIES):
        former = missing
        copy_database(source, target / DATABASE)
        with closing(sqlite3.connect(target / DATABASE)) as copy:
            wanted = {str(digest): int(size) for digest, size in copy.execute(_SELECT_FILES)}
        missing = [digest for digest in wanted if not _copy_file(store, digest, locate_file(target, digest))]
        # If the former copy lacked the same files, no document was deleted while files were copied.
        if set(missing) <= set(former):
            for path in (target / FILES).glob("*/*"):
                if path.name not in wanted:
                    path.unlink()
            return {digest: size for digest, size in wanted.items() if digest not in missing}, sorted(missing)
    raise BackupError("Documents are deleted too fast for a backup. Nothing was lost; try again later.")


def _copy_file(store: FileStore, digest: str, target: Path) -> bool:
    """Link or copy a stored file to ``target``, unless ``target`` exists; return false if the file is not stored."""
    if target.exists():
        return True
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with store.local(digest) as path:
            try:
                os.link(path, target)
            except OSError:
                # The target is on another disk, or the file system has no links.
                shutil.copyfile(path, target)
    except (StoreUnavailable, FileNotFoundError):
        target.unlink(missing_ok=True)
        return False
    return True


def locate_file(folder: Path, digest: str) -> Path:
    """Return the path at which a backup in ``folder`` contains the file with this SHA-256."""
    return folder / FILES / digest[:2] / digest


def _read_revision(database: Path) -> str:
    """Return the schema revision of a database; empty if the database is older than Alembic's table."""
    with closing(sqlite3.connect(database)) as copy:
        tables = copy.execute("SELECT name FROM sqlite_master WHERE name = 'alembic_version'").fetchone()
        return str(copy.execute("SELECT version_num FROM alembic_version").fetchone()[0]) if tables else ""


def verify_backup(folder: Path) -> BackupManifest:
    """Compare the backup in ``folder`` with its manifest, and return the manifest.

    Raises
    ------
    BackupError
        The manifest cannot be read, the database or a file is missing or differs from the manifest, or the database is
        damaged.
    """
    manifest = _parse_manifest(_read_manifest(folder / MANIFEST))
    wanted = {folder / DATABASE: (manifest.database_sha256, manifest.database_bytes)}
    wanted |= {locate_file(folder, digest): (digest, size) for digest, size in manifest.files.items()}
    for path, (digest, size) in wanted.items():
        if not path.is_file() or path.is_symlink():
            raise BackupError(f"The backup is incomplete: {path} is missing. Use another backup.")
        if path.stat().st_size != size or hash_file(path) != digest:
            raise BackupError(f"The backup is damaged: {path} has changed. Use another backup.")
    try:
        # An immutable connection does not change the file, whose hash is in the manifest.
        with closing(sqlite3.connect(f"{(folder / DATABASE).absolute().as_uri()}?immutable=1", uri=True)) as copy:
            problem = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        problem = str(error)
    if problem != "ok":
        raise BackupError(f"The database of the backup, {folder / DATABASE}, is damaged: {problem}.")
    return manifest


def _read_manifest(path: Path) -> bytes:
    try:
        if path.stat().st_size > _MAX_MANIFEST_BYTES:
            raise BackupError(f"{path} is too large for the list of the files of a backup.")
        return path.read_bytes()
    except OSError as error:
        raise BackupError(
            f"{path} cannot be read ({error.strerror or error}). Name the folder or the zip file of a backup."
        ) from None


def _parse_manifest(data: bytes) -> BackupManifest:
    try:
        found = json.loads(data)
        if isinstance(found, dict) and found.get("version", 1) != 1:
            raise BackupError("A newer version of Footnote wrote this backup. Restore it with that version.")
        manifest = BackupManifest.model_validate(found)
    except ValueError:
        raise BackupError(f"This is no backup of Footnote, or its list of files, {MANIFEST}, is damaged.") from None
    if manifest.schema_revision > HEAD:
        raise BackupError("A newer version of Footnote wrote this backup. Restore it with that version.")
    return manifest


@contextmanager
def open_backup(source: Path, scratch: Path) -> Iterator[Path]:
    """Verify a backup and yield its folder.

    If ``source`` is a zip file, the yielded folder is a temporary folder in ``scratch``. Only the files that the
    manifest lists are unpacked into this folder, up to the listed sizes.

    Raises
    ------
    BackupError
        The backup cannot be read, is damaged or incomplete, or does not fit the disk.
    """
    if source.is_dir():
        verify_backup(source)
        yield source
        return
    with tempfile.TemporaryDirectory(prefix=TEMPORARY_PREFIX, dir=scratch) as folder:
        try:
            with zipfile.ZipFile(source) as archive:
                _unpack(archive, Path(folder))
        except (OSError, zipfile.BadZipFile, EOFError, KeyError, RuntimeError, NotImplementedError) as error:
            raise BackupError(f"{source} cannot be read as a backup ({error}). Use another backup.") from None
        verify_backup(Path(folder))
        yield Path(folder)


def _unpack(archive: zipfile.ZipFile, folder: Path) -> None:
    with archive.open(MANIFEST) as part:
        data = part.read(_MAX_MANIFEST_BYTES)
    manifest = _parse_manifest(data)
    free = shutil.disk_usage(folder).free
    if manifest.size > free:
        raise BackupError(
            f"The backup takes {manifest.size / 1e9:,.1f} GB, but only {free / 1e9:,.1f} GB of the disk are free. Free "
            "some space, or name a data folder on another disk (--data-dir, RAG_DATA_DIR)."
        )
    (folder / MANIFEST).write_bytes(data)
    parts = {DATABASE: (folder / DATABASE, manifest.database_bytes)}
    for digest, size in manifest.files.items():
        path = locate_file(folder, digest)
        parts[path.relative_to(folder).as_posix()] = (path, size)
    for name, (path, size) in parts.items():
        path.parent.mkdir(exist_ok=True, parents=True)
        with archive.open(name) as part, path.open("wb") as target:
            # One byte more than the listed size is read, so that `verify_backup` finds a file that is too large.
            while size >= 0 and (read := part.read(min(_PART_BYTES, size + 1))):
                size -= len(read)
                target.write(read)


def stream_backup(settings: Settings) -> Generator[bytes, None, None]:
    """Write a backup into a temporary folder, and return an iterator over the bytes of a zip file of this folder.

    The backup is complete when this function returns. The folder is deleted when the iterator ends.

    Raises
    ------
    BackupError
        See `write_backup`.
    """
    try:
        scratch = tempfile.TemporaryDirectory(prefix=TEMPORARY_PREFIX, dir=settings.data_dir)
    except OSError as error:
        raise BackupError(
            f"The data folder {settings.data_dir} cannot be written ({error.strerror or error}), so no backup can be "
            "sent. Use the command backup, which writes into another folder."
        ) from None
    folder = Path(scratch.name) / "backup"
    try:
        write_backup(settings, folder)
    except BaseException:
        scratch.cleanup()
        raise

    def send() -> Generator[bytes, None, None]:
        with scratch:
            paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
            yield from stream_zip((path.relative_to(folder).as_posix(), path) for path in paths)

    return send()


def stream_zip(parts: Iterable[tuple[str, Path | bytes]]) -> Generator[bytes, None, None]:
    """Yield the bytes of a zip file with these parts.

    Each part consists of its name and its content, which is given as bytes or as the path of a file. Parts are stored
    without compression, because most documents are compressed already.
    """
    written = _WriteBuffer()
    with zipfile.ZipFile(written, "w") as archive:  # type: ignore[call-overload] # `ZipFile` only calls `write`
        for name, content in parts:
            if isinstance(content, bytes):
                archive.writestr(name, content)
            else:
                with content.open("rb") as source, archive.open(name, "w", force_zip64=True) as part:
                    while data := source.read(_PART_BYTES):
                        part.write(data)
                        yield written.take()
            yield written.take()
    yield written.take()


class _WriteBuffer:
    """A file object that keeps the written bytes until `take` returns them."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing, because all bytes are in memory."""

    def take(self) -> bytes:
        data = b"".join(self._parts)
        self._parts.clear()
        return data


def remove_temporary_backups(folder: Path) -> None:
    """Delete the temporary folders of backups that were left in ``folder`` when a process was killed."""
    for path in folder.glob(f"{TEMPORARY_PREFIX}*"):
        shutil.rmtree(path, ignore_errors=True)
