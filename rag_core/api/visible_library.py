"""The documents that a caller of the API sees: all of them, or those of some collections."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

from rag_core.api.access import require_all_collections
from rag_core.engine import Engine
from rag_core.errors import CollectionError, RequestError, SettingsError, UnknownDocument
from rag_core.store.file_names import clean_collection, normalize_name
from rag_core.types.access import Caller
from rag_core.types.answers import AskEvent
from rag_core.types.documents import DEFAULT_COLLECTION, DocumentInfo
from rag_core.types.jobs import Job
from rag_core.types.retrieval import RetrievalConfig, SearchResult

# The value of ``model`` for answers without a language model.
QUOTES = "quotes"
_NO_COLLECTION = "No document is in a collection named {name!r}. The list of documents shows the collections."


class VisibleLibrary:
    """The documents that a caller may see. A caller with a token for some collections sees no others.

    A document belongs to the collection to which it was added first.

    Parameters
    ----------
    engine : Engine
    caller : Caller
    """

    def __init__(self, engine: Engine, caller: Caller) -> None:
        self._engine = engine
        self._caller = caller

    def list(self) -> list[DocumentInfo]:
        """Return the documents, newest first."""
        found = self._engine.documents.list()
        if not self._caller.collections:
            return found
        # Remove the further names of documents, which may be in other collections.
        return [replace(one, aliases=()) for one in found if one.collection in self._caller.collections]

    def get(self, document_id: str) -> DocumentInfo:
        """Return a document; raise `UnknownDocument` if the caller does not see it."""
        document = self._engine.documents.get(document_id)
        if self._caller.collections and document.collection not in self._caller.collections:
            raise UnknownDocument("That document is no longer in the library. It may have been deleted.")
        return replace(document, aliases=()) if self._caller.collections else document

    def get_job(self, job_id: str) -> Job:
        """Return a job; raise `UnknownDocument` if it is not listed, or belongs to a document that is not visible."""
        job = self._engine.jobs.get(job_id)
        if self._caller.collections:
            try:
                self.get(job.document_id or "")
            except UnknownDocument:
                raise UnknownDocument("That job is no longer listed, because its document was deleted.") from None
        return job

    def choose_collection(self, collection: str | None) -> str:
        """Return the stored form of the collection for a new document.

        The default is the first collection of the caller's token or, if the caller sees all, `DEFAULT_COLLECTION`.

        Raises
        ------
        CollectionError
            The name has no visible character.
        RequestError
            The caller does not see this collection.
        """
        allowed = self._caller.collections
        if collection is None:
            return allowed[0] if allowed else DEFAULT_COLLECTION
        clean = clean_collection(collection)
        if allowed and clean not in allowed:
            raise RequestError(403, f"This token does not allow to add documents to the collection {clean!r}.")
        return clean

    def submit(self, name: str, data: bytes, collection: str, **options: Any) -> Job:
        """Queue a file to be indexed, and return its job; ``options`` are those of `Documents.submit`."""
        is_separate = bool(self._caller.collections)
        return self._engine.documents.submit(name, data, collection=collection, is_separate=is_separate, **options)

    def search(self, question: str, **options: Any) -> SearchResult:
        """Return passages of visible documents; ``options`` are those of `Engine.search`."""
        return self._engine.search(question, **self._restrict_options(**options))

    def ask(self, question: str, *, model: str | None = None, **options: Any) -> Generator[AskEvent, None, None]:
        """Yield the events of an answer from visible documents; ``options`` are those of `Engine.ask`."""
        writer = find_writer(self._engine, model)
        return self._engine.ask(question, model=writer, **self._restrict_options(**options))

    def _restrict_options(
        self,
        *,
        documents: Sequence[str] = (),
        collections: Sequence[str] = (),
        as_of: str = "",
        strategy: str = "plain",
        **options: Any,
    ) -> dict[str, Any]:
        """Return the options for the engine that limit a question to the documents that the caller sees."""
        options["configuration"] = RetrievalConfig(strategy=strategy, counts_alone=bool(self._caller.collections))
        if not self._caller.collections:
            return {**options, "documents": tuple(documents), "collections": tuple(collections), "as_of": as_of}
        if as_of or strategy != "plain":
            require_all_collections(self._caller, "Snapshots and other strategies than plain need")
        return {**options, "documents": self._find_ids(documents, collections)}

    def _find_ids(self, names: Sequence[str], collections: Sequence[str]) -> Sequence[str]:
        """Return the ids of the visible documents with one of these names or ids, and of those in these collections.

        Without names and collections, return the ids of all visible documents. Never return an empty sequence: raise
        `UnknownDocument` for a name, and `CollectionError` for a collection, that has no visible document.
        """
        visible = self.list()
        for name in collections:
            if all(one.collection != name for one in visible):
                raise CollectionError(_NO_COLLECTION.format(name=name[:120]))
        wanted = list(dict.fromkeys(map(normalize_name, names)))
        known = {key for one in visible for key in (one.document_id, one.name)}
        if missing := [name for name in wanted if name not in known]:
            listed = ", ".join(repr(name[:120]) for name in missing[:5])
            raise UnknownDocument(f"No document is named {listed}. The list of documents shows the names.")
        found = [one.document_id for one in visible if one.document_id in wanted or one.name in wanted]
        found += [one.document_id for one in visible if one.collection in collections]
        if not names and not collections:
            found = [one.document_id for one in visible]
        if not found:
            # With an empty list, the engine would search all documents.
            raise CollectionError("The collections of this token contain no document. Add one, then ask again.")
        return tuple(dict.fromkeys(found))


def find_writer(engine: Engine, model: str | None) -> str | None:
    """Convert a model that a caller names to the parameter ``model`` of `Engine.ask`: `QUOTES` becomes an empty name.

    Raises
    ------
    SettingsError
        A model is named, but no endpoint is connected.
    """
    writer = "" if model == QUOTES else model
    if writer and engine.models.find_name(writer) != writer:
        raise SettingsError(
            f"The model “{model}” cannot be used, because no endpoint is connected. Leave out the model, or set "
            "RAG_OPENAI_BASE_URL to the address of the endpoint."
        )
    return writer


def find_document(engine: Engine, job: Job) -> DocumentInfo | None:
    """Return the document of a job; ``None`` if the job has no document, or if the document was deleted meanwhile."""
    try:
        return engine.documents.get(job.document_id) if job.document_id else None
    except UnknownDocument:
        return None
