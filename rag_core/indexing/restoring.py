"""Restore a library from a backup, and fill its indexes from its database."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np

from rag_core.errors import BackupError
from rag_core.index.dense import LIBRARY
from rag_core.indexing.chunk_indexing import add_chunks, build_chunk_batch
from rag_core.runtime.models import LocalModels
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.store.backups import (
    DATABASE,
    MANIFEST,
    TEMPORARY_PREFIX,
    BackupManifest,
    check_database_is_local,
    locate_file,
    open_backup,
)
from rag_core.store.database import create_id
from rag_core.store.folder_lock import FolderLock
from rag_core.store.schema import versions
from rag_core.store.serialization import chunk_from_row
from rag_core.types.chunks import Fingerprint, build_embedded_text
from rag_core.types.documents import VersionRow

Progress = Callable[[int, int], None]


def restore_library(settings: Settings, source: Path, progress: Progress = lambda done, total: None) -> BackupManifest:
    """Restore a backup into the data folder, which must contain no library, and return the manifest of the backup.

    The database is moved into the folder last, so the folder contains no library if the restoration is interrupted.
    Unfinished jobs continue when the library is opened.

    Parameters
    ----------
    settings : Settings
    source : Path
        The folder or the zip file of a backup.
    progress : callable
        Called with the number of complete versions whose chunks were added to the indexes so far, and the number of all
        complete versions.

    Raises
    ------
    BackupError
        The backup is damaged, the settings name a database on a server, the data folder contains a library, or the
        data folder cannot be written.
    DataFolderInUse, DataFolderUnwritable, StoreUnavailable
    """
    check_database_is_local(settings)
    folder = settings.data_dir
    lock = FolderLock(folder)
    try:
        if (folder / DATABASE).exists():
            raise BackupError(
                f"{folder} contains a library already, which is unchanged. Name a new data folder (--data-dir, "
                "RAG_DATA_DIR) for the backup."
            )
        with (
            open_backup(source, folder) as backup,
            tempfile.TemporaryDirectory(prefix=TEMPORARY_PREFIX, dir=folder) as name,
        ):
            scratch = Path(name)
            shutil.copyfile(backup / DATABASE, scratch / DATABASE)
            _give_new_id(scratch / DATABASE)
            stores = Stores(settings.model_copy(update={"data_dir": scratch}))
            try:
                manifest = _restore_files(stores, backup)
                _fill_indexes(settings, stores, progress)
            finally:
                stores.close()
            _move_library(scratch, folder)
    except OSError as error:
        raise BackupError(
            f"The backup cannot be restored into {folder} ({error.strerror or error}). Free some space or give write "
            "access, then try again."
        ) from error
    finally:
        lock.release()
    return manifest


def _give_new_id(database: Path) -> None:
    """Give the library another id, so that it and the original have separate collections on a Chroma server."""
    value = json.dumps({"id": create_id(), "renamed": True})
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("DELETE FROM preferences WHERE name = ?", (LIBRARY,))
        connection.execute("INSERT INTO preferences (name, value) VALUES (?, ?)", (LIBRARY, value))


def _restore_files(stores: Stores, backup: Path) -> BackupManifest:
    """Store the files of a backup, and return its manifest."""
    manifest = BackupManifest.model_validate_json((backup / MANIFEST).read_bytes())
    for digest in manifest.files:
        stores.files.put(locate_file(backup, digest).read_bytes())
    return manifest


def _fill_indexes(settings: Settings, stores: Stores, progress: Progress) -> None:
    """Add the chunks of all complete versions to the indexes. Other versions are indexed at the next start."""
    generations = dict(stores.documents.generations("active", "building"))
    complete = stores.documents.find_versions(versions.c.state == "full")
    models = LocalModels(settings)
    try:
        for done, row in enumerate(complete):
            progress(done, len(complete))
            if row.generation_id in generations:
                _fill_version(stores, models, row, row.generation_id, generations[row.generation_id])
        progress(len(complete), len(complete))
    finally:
        models.close()


def _fill_version(
    stores: Stores, models: LocalModels, row: VersionRow, generation_id: int, fingerprint: Fingerprint
) -> None:
    rows = stores.documents.chunk_rows(row.id)
    dense = stores.embeddings.read_dense_of_chunks([one.id for one in rows])
    # The chunk of a figure's description may have no embedding yet. The job that describes figures adds this chunk.
    rows = [one for one in rows if one.id in dense]
    if not rows:
        return
    batch = build_chunk_batch([one.id for one in rows], [chunk_from_row(one) for one in rows], row.id)
    retrievers = stores.list_retrievers(fingerprint)
    texts = [build_embedded_text(*text) for text in batch.texts]
    encodings = {
        one.score.name: models.sparse_encoder(fingerprint.sparse).encode(texts)
        for one in retrievers
        if one.reads == "encoding"
    }
    indexes = [(one, one.open(generation_id)) for one in retrievers]
    add_chunks(indexes, replace(batch, vectors=np.stack([dense[one] for one in batch.chunk_ids])), encodings)


def _move_library(scratch: Path, folder: Path) -> None:
    """Move a closed library into the data folder, its database last."""
    for path in sorted(scratch.iterdir(), key=lambda one: one.name == DATABASE):
        if path.name.startswith(".") or path.name.endswith(".lock"):
            continue
        target = folder / path.name
        if target.is_dir():
            shutil.rmtree(target)
        path.replace(target)
