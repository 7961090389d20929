"""Export the content of a library as one file, and import it into another library."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Annotated, Any, BinaryIO, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from rag_core.errors import BackupError, CollectionError, StoreUnavailable
from rag_core.indexing.documents import Documents
from rag_core.parsing.flow.archive import Archive
from rag_core.parsing.formats.base import UnpackedSizeError, UnreadableError
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.store.backups import MANIFEST as BACKUP_MANIFEST
from rag_core.store.backups import stream_zip
from rag_core.store.database import now
from rag_core.store.file_names import clean_collection
from rag_core.store.files import compute_sha256
from rag_core.store.schema import versions
from rag_core.store.serialization import answer_from_json
from rag_core.types.conversations import MAX_INSTRUCTION_CHARS, MAX_TITLE_CHARS
from rag_core.types.documents import VersionRow
from rag_core.types.jobs import Job

MANIFEST = "footnote.json"
# Limits on an imported file, so that a damaged or hostile file does not fill the memory or the disk: its number of
# parts, the bytes of its manifest, and the bytes of all documents as a multiple of the limit on one document.
_MAX_PARTS, _MAX_MANIFEST_BYTES, _MAX_FILES = 1_000_000, 500_000_000, 100_000
# The number that `Naming` adds to a name that exists already, as in "report (2).pdf".
_NUMBER = re.compile(r" \(\d+\)(?=(?:\.[^.]*)?$)")
_Id = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True, allow_inf_nan=False)


class _Name(_Part):
    name: str = Field(min_length=1, max_length=400)
    collection: str = Field(min_length=1, max_length=400)
    folder: str = ""

    @property
    def file(self) -> str:
        """The name of the file, without the folders that `Naming` added."""
        return PurePosixPath(self.name).name


class _Document(_Part):
    """A document. Answers show its first name."""

    document_id: _Id
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    names: list[_Name] = Field(min_length=1)
    tags: list[str] = []


class _Message(_Part):
    role: Literal["user", "assistant"]
    text: str
    answer: dict[str, Any] | None
    created_at: AwareDatetime


class _Conversation(_Part):
    conversation_id: _Id
    title: str = Field(max_length=MAX_TITLE_CHARS)
    created_at: AwareDatetime
    updated_at: AwareDatetime
    pinned: bool
    documents: list[str]
    collections: list[str]
    as_of: str
    model: str | None
    instructions: str = Field(max_length=MAX_INSTRUCTION_CHARS)
    tags: list[str]
    messages: list[_Message]


class _Settings(_Part):
    """The settings for answers. Settings that belong to a computer, such as its models and folders, are left out."""

    threshold: float | None = None
    model_threshold: float | None = None
    top_k: int | None = Field(default=None, ge=1, le=1000)
    context_budget: int | None = Field(default=None, ge=0)
    instructions: str | None = Field(default=None, max_length=MAX_INSTRUCTION_CHARS)


class _Export(_Part):
    format: Literal["footnote-export"] = "footnote-export"
    version: Literal[1] = 1
    created_at: datetime
    documents: list[_Document]
    conversations: list[_Conversation]
    settings: _Settings


@dataclass(frozen=True, slots=True)
class ImportedDocument:
    """A document of an export: its name in the export, its id in this library, and the job that adds it.

    ``job_id`` is ``None`` if the library already had the document with all its names, or had failed to index the file.
    """

    file: str
    document_id: str
    job_id: str | None


@dataclass(frozen=True, slots=True)
class Import:
    """The result of an import.

    Attributes
    ----------
    documents : tuple of ImportedDocument
        In the order of the export. A job for content that the library already had has ended as a duplicate.
    conversations : int
        Number of conversations that were added.
    settings : tuple of str
        Names of the settings that were imported.
    """

    documents: tuple[ImportedDocument, ...]
    conversations: int
    settings: tuple[str, ...]


class Transfers:
    """Exports and imports documents with their names, conversations and settings.

    An export contains no documents that could not be indexed, no replaced versions, no snapshots, no labels, and no
    tokens or keys.
    """

    def __init__(self, settings: Settings, stores: Stores, documents: Documents) -> None:
        self._max_file_bytes = settings.max_file_mb * 1_000_000
        self._stores = stores
        self._documents = documents

    def export_library(self) -> Generator[bytes, None, None]:
        """Return an iterator over the bytes of a zip file with the documents, the conversations and the settings."""
        stores = self._stores
        digests = {row.id: row.sha256 for row in stores.documents.find_versions()}
        found = []
        for one in reversed(stores.documents.documents()):
            digest = digests.get(one.version_id)
            if (
                digest is not None
                and stores.documents.find_document_with_content(digest)
                and stores.files.exists(digest)
            ):
                names = [
                    _Name(name=name.name, collection=name.collection, folder=name.folder or "")
                    for name in stores.names.names(one.document_id)
                ]
                found.append(_Document(document_id=one.document_id, sha256=digest, names=names, tags=list(one.tags)))
        manifest = _Export(
            created_at=now(),
            documents=found,
            conversations=[_Conversation.model_validate(one) for one in stores.conversations.export_conversations()],
            settings=_Settings(**{name: stores.preferences.get(name) for name in _Settings.model_fields}),
        )

        def list_parts() -> Iterator[tuple[str, bytes]]:
            yield MANIFEST, _serialize_manifest(manifest)
            for digest in dict.fromkeys(one.sha256 for one in found):
                try:
                    yield _build_part_name(digest), stores.files.get(digest)
                except StoreUnavailable:
                    # If the document was deleted meanwhile, leave its file out; the import says that it is missing.
                    if digest in stores.documents.searchable_digests():
                        raise

        return stream_zip(list_parts())

    def import_library(self, file: BinaryIO) -> Import:
        """Check a file that `export_library` wrote, and queue its documents; return at once.

        - If the library has the content of a document, only missing names are added to it.
        - If the name of a document exists already, a number is added to the name.
        - If the library has a conversation with the same id, the conversation is left out.
        - If the library has a value of a setting, this value stays.

        Parameters
        ----------
        file : BinaryIO
            The file, which may lack documents whose content the library has.

        Raises
        ------
        BackupError
            The file is damaged, of a newer version, or too large. Nothing was imported.
        """
        try:
            archive = Archive(file, _MAX_FILES * self._max_file_bytes, max_parts=_MAX_PARTS)
            manifest = _read_manifest(archive)
            for one in manifest.documents:
                self._check_file(archive, one)
        except (UnreadableError, UnpackedSizeError, CollectionError) as error:
            raise BackupError(f"The file cannot be imported: {str(error).rstrip('.')}. Nothing was imported.") from None
        added = tuple(self._add_document(archive, one) for one in manifest.documents)
        known = {one.document_id: new.document_id for one, new in zip(manifest.documents, added, strict=True)}
        return Import(
            added,
            sum(
                self._stores.conversations.import_conversation(_replace_ids(one.model_dump(), known))
                for one in manifest.conversations
            ),
            tuple(self._set_missing_settings(manifest.settings)),
        )

    def _check_file(self, archive: Archive, one: _Document) -> None:
        """Raise `CollectionError` for an invalid collection, and `UnreadableError` for a missing or damaged file."""
        shown = one.names[0].name
        for name in one.names:
            clean_collection(name.collection)
        if _build_part_name(one.sha256) not in archive:
            if not self._find_versions(one.sha256):
                raise UnreadableError(f"it lacks the file of {shown}")
        elif compute_sha256(archive.read(_build_part_name(one.sha256), self._max_file_bytes + 1)) != one.sha256:
            raise UnreadableError(f"the file of {shown} is damaged or has more bytes than RAG_MAX_FILE_MB allows")

    def _find_versions(self, digest: str) -> Sequence[VersionRow]:
        return self._stores.documents.find_versions(versions.c.sha256 == digest, versions.c.state != "removing")

    def _add_document(self, archive: Archive, one: _Document) -> ImportedDocument:
        part, known = _build_part_name(one.sha256), self._stores.documents.find_document_with_content(one.sha256)
        names = self._list_missing_names(one, known.document_id) if known else one.names
        jobs: list[Job] = []
        if names and (known or part in archive):
            data = archive.read(part) if part in archive else self._stores.files.get(one.sha256)
            jobs = [
                self._documents.submit(
                    name.file, data, collection=name.collection, folder=name.folder, on_same_name="keep"
                )
                for name in names
            ]
        if jobs:
            document_id = str(jobs[0].document_id)
        else:  # the library has the document, or could not index its file
            document_id = known.document_id if known else self._find_versions(one.sha256)[-1].document_id
        if one.tags:
            self._documents.set_tags({document_id: [*self._documents.get(document_id).tags, *one.tags]})
        return ImportedDocument(one.names[0].name, document_id, jobs[0].job_id if jobs else None)

    def _list_missing_names(self, one: _Document, document_id: str) -> list[_Name]:
        """Return the names of an exported document that the stored document lacks.

        Numbers that an earlier import added to stored names are ignored.
        """
        stored = self._stores.names.names(document_id)
        has = {(_NUMBER.sub("", PurePosixPath(name.name).name), name.collection, name.folder or "") for name in stored}
        has |= {(PurePosixPath(name.name).name, name.collection, name.folder or "") for name in stored}
        return [name for name in one.names if (name.file, name.collection, name.folder) not in has]

    def _set_missing_settings(self, settings: _Settings) -> Iterator[str]:
        """Store the settings of which this library has no value, and yield their names."""
        for name, value in settings.model_dump(exclude_none=True).items():
            if self._stores.preferences.get(name) is None:
                self._stores.preferences.set(name, value)
                yield name


def split_export(file: BinaryIO) -> Iterator[bytes]:
    """Yield small exports with the content of a large export.

    First comes an export for each document whose file is in the large export. The last export contains the whole
    manifest, with the conversations and the settings, but no files.

    Raises
    ------
    BackupError
        The file is damaged or of a newer version.
    """
    try:
        archive = Archive(file, None, max_parts=_MAX_PARTS)
        manifest = _read_manifest(archive)
        for one in manifest.documents:
            alone = manifest.model_copy(update={"documents": [one], "conversations": [], "settings": _Settings()})
            if (part := _build_part_name(one.sha256)) in archive:
                yield b"".join(stream_zip([(MANIFEST, _serialize_manifest(alone)), (part, archive.read(part))]))
        yield b"".join(stream_zip([(MANIFEST, _serialize_manifest(manifest))]))
    except (UnreadableError, UnpackedSizeError) as error:
        raise BackupError(f"The file cannot be imported: {error}.") from None


def _serialize_manifest(manifest: _Export) -> bytes:
    return manifest.model_dump_json().encode("utf-8", "replace")


def _build_part_name(digest: str) -> str:
    return f"files/{digest}"


def _read_manifest(archive: Archive) -> _Export:
    if MANIFEST not in archive and BACKUP_MANIFEST in archive:
        raise UnreadableError(
            "it is a backup of a separate library; run python -m rag_core --data-dir NEW-FOLDER restore FILE"
        )
    data = archive.read(MANIFEST, _MAX_MANIFEST_BYTES)
    try:
        found = json.loads(data)
        if isinstance(found, dict) and isinstance(found.get("version"), int) and found["version"] > 1:
            raise UnreadableError("a newer version of Footnote wrote it; install that version")
        manifest = _Export.model_validate(found)
        for one in manifest.conversations:
            for message in one.messages:
                if message.answer is not None:
                    answer_from_json(_replace_ids(message.answer, {}))
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        raise UnreadableError(f"its manifest, {MANIFEST}, is damaged at {place or 'its beginning'}") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise UnreadableError(f"its manifest, {MANIFEST}, is damaged") from None
    return manifest


def _replace_ids(value: Any, known: Mapping[str, str]) -> Any:
    """Return a JSON value in which ids of documents are replaced; ``known`` maps ids in the export to ids here.

    Ids are looked for in the values named ``document_id``, and in lists of texts.
    """
    if isinstance(value, dict):
        return {
            name: known.get(one, one) if name == "document_id" and isinstance(one, str) else _replace_ids(one, known)
            for name, one in value.items()
        }
    if isinstance(value, list):
        return [known.get(one, one) if isinstance(one, str) else _replace_ids(one, known) for one in value]
    return value
