"""Add, list, read, render and delete documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from rag_core import guide
from rag_core.chunking.document_titles import extract_title
from rag_core.errors import UnknownDocument
from rag_core.indexing.figures import draw_figure
from rag_core.indexing.jobs import Jobs
from rag_core.indexing.naming import Naming
from rag_core.indexing.office_drawings import OfficeDrawings
from rag_core.indexing.queue import IndexingQueue
from rag_core.indexing.removal import Removal
from rag_core.parsing.formats.accepted import ACCEPTED
from rag_core.parsing.libreoffice import ConversionError
from rag_core.parsing.rendering import render_page
from rag_core.runtime.stores import Stores
from rag_core.store.file_names import clean_collection, normalize_name
from rag_core.store.schema import versions
from rag_core.store.serialization import chunk_from_row
from rag_core.store.snapshots import copy_with_version
from rag_core.text.outline import build_outline
from rag_core.types.chunks import ChunkSpan
from rag_core.types.documents import (
    DEFAULT_COLLECTION,
    DeleteReceipt,
    DocumentInfo,
    DocumentVersion,
    OutlineEntry,
    Page,
    PageImage,
    PageKey,
    PageView,
    SameName,
    VersionRow,
)
from rag_core.types.figures import FigureDescription
from rag_core.types.jobs import Job
from rag_core.types.tables import Table

# States of versions of which only the file is stored. An ended version could not be indexed again for a snapshot.
_FILE_ONLY_STATES = ("replaced", "ended")


class Documents:
    """The documents of the library.

    Methods that read a document read its active version, which searches find, or its latest version if none is active.

    Parameters
    ----------
    stores : Stores
    indexer : IndexingQueue
    jobs : Jobs
    removal : Removal
    drawings : OfficeDrawings
    describe_figures : callable
        See `FigureDescriber.request`.
    """

    def __init__(
        self,
        stores: Stores,
        indexer: IndexingQueue,
        jobs: Jobs,
        removal: Removal,
        drawings: OfficeDrawings,
        describe_figures: Callable[[VersionRow], Job | None],
    ) -> None:
        self._describe_figures = describe_figures
        self._stores = stores
        self._library = stores.documents
        self._snapshots = stores.snapshots
        self._files = stores.files
        self._submission = indexer.submission
        self._jobs = jobs
        self._removal = removal
        self._drawings = drawings
        self._naming = Naming(stores)

    def list(self) -> list[DocumentInfo]:
        """Return all documents, newest first, including rejected documents and documents that are being indexed."""
        return self._library.documents()

    def get(self, document_id: str, *, version_id: str | None = None) -> DocumentInfo:
        """Return a document; raise `UnknownDocument` if the library does not contain it.

        If ``version_id`` is a replaced version that searches of a snapshot find, the document has the data of that
        version. Any other ``version_id`` is ignored.
        """
        document = self._library.document(document_id)
        if version_id in (None, document.version_id) or version_id not in self._snapshots.find_snapshot_only_versions():
            return document
        return copy_with_version(document, self._library.find_versions(versions.c.id == version_id)[0])

    def find_ids(self, names: Sequence[str]) -> Sequence[str]:
        """Return the ids of the documents with these names or ids; raise `UnknownDocument` if one does not exist."""
        return self._library.find_ids(names)

    def submit(
        self,
        name: str,
        data: bytes,
        *,
        collection: str = DEFAULT_COLLECTION,
        on_same_name: SameName = "replace",
        password: str | None = None,
        folder: str | None = None,
        is_separate: bool = False,
    ) -> Job:
        """Store a file, queue its indexing, and return at once.

        A problem with the file does not raise an exception. The job's ``result`` and ``reason`` and the document's
        ``status`` and ``reason`` describe the problem. If the library already contains the same content, no document
        is added, and the job's result is ``duplicate``. If that content is still being indexed, the job's detail
        ``continues`` is the id of the job that indexes it.

        Parameters
        ----------
        name : str
            Name of the file. Folders and control characters are removed from it.
        data : bytes
        collection : str
        on_same_name : {"replace", "keep"}
            What to do if the collection contains a document with the same name and folder but other content.
            ``"replace"``: replace that document as soon as the new file is indexed. ``"keep"``: keep that document,
            and add a number to the name of the new document.
        password : str, optional
            Password of an encrypted file. It stays in memory until the job ends and is never stored.
        folder : str, optional
            Path of the folder or archive that contains the file. Files with the same name from different folders
            become different documents, whose names contain the folders that distinguish them.
        is_separate : bool
            Whether to add a document even if another collection has a document with the same content.
        """
        return self._submission.submit(
            name,
            data,
            clean_collection(collection),
            on_same_name,
            password=password,
            folder=folder,
            is_separate=is_separate,
        )

    def add_guide(self) -> Job:
        """Add the user guide of the application to the library, and return the job that indexes it."""
        return self.submit(guide.GUIDE_NAME, guide.build_guide_pdf())

    def has_name_clash(self, name: str, data: bytes, *, collection: str = DEFAULT_COLLECTION) -> bool:
        """Return whether the collection has an indexed or queued document with this name but other content.

        Return false if a document of any collection has this content, because `submit` then adds no document.
        """
        return self._submission.has_name_clash(name, data, clean_collection(collection))

    def retry(self, document_id: str, *, password: str | None = None, ocr: str | None = None) -> Job:
        """Queue a document's file to be indexed again, and return the job.

        If the same content is queued already, the returned job has ended with the result ``duplicate``.

        Parameters
        ----------
        password : str, optional
        ocr : {"auto", "on", "off"}, optional
            How text in pictures is recognized this time; by default as the settings say.

        Raises
        ------
        UnknownDocument
        StoreUnavailable
            The file of the document is no longer stored.
        """
        return self._submission.retry(document_id, password, ocr)

    def delete(self, document_ids: Sequence[str], *, collections: Sequence[str] = ()) -> Sequence[DeleteReceipt]:
        """Remove documents from every store, and return receipts with the amount of data that each store still has.

        Jobs of the documents are cancelled first. Attached documents are removed as well; their receipts follow the
        receipt of the document that contains them. If a store fails, searches no longer find the document, and its
        removal continues in the background or when the document is deleted again. With ``collections``, documents are
        removed from these collections only.

        Raises
        ------
        UnknownDocument
            A document is not in the library. The documents before it in ``document_ids`` are removed.
        """
        for job in self._jobs.list(active=True, limit=None):
            if job.document_id in document_ids:
                self._jobs.cancel(job.job_id)
                self._jobs.wait([job.job_id])
        receipts: list[DeleteReceipt] = []
        for document_id in document_ids:
            if collections:
                receipts += self._removal.remove_from(document_id, collections)
            else:
                receipts += self._removal.remove_document(document_id)
        return receipts

    def delete_named(self, names: Sequence[str]) -> Iterator[DeleteReceipt]:
        """Remove the documents with these names or ids one by one, and yield the receipts.

        - A document is removed with its attached documents if its id or all its names are given; see `delete`.
        - Of any other document, only the given names are removed, with one receipt for each name. Its content stays.

        Raises
        ------
        UnknownDocument
            At least one name or id does not exist. Nothing is removed.
        """
        wanted = set(map(normalize_name, names))
        for document_id in self.find_ids(names):
            document = self._library.document(document_id)
            given = [name for name in (document.name, *document.aliases) if name in wanted]
            if document_id in wanted or len(given) > len(document.aliases):
                yield from self.delete([document_id])
                continue
            for name in given:
                kept_as = self._naming.remove_name(document_id, name)
                yield DeleteReceipt(document_id, name, 0, {}, kept_as)

    def set_tags(self, tags: Mapping[str, Sequence[str]]) -> None:
        """Replace the tags of each document; ``tags`` maps document ids to tags.

        Tags are normalized by `normalize_name` and sorted. Of tags that differ only in letter case, the last is stored.
        """
        cleaned: dict[str, Sequence[str]] = {}
        for document_id, names in tags.items():
            by_key = {name.casefold(): name for name in map(normalize_name, names) if name}
            cleaned[document_id] = [by_key[key] for key in sorted(by_key)]
        self._library.set_tags(cleaned)

    def rename(self, document_id: str, name: str) -> str:
        """Rename a document, and return the new name, which keeps the ending of the file name.

        A re-index of the document is queued, because its name is part of the indexed text.

        Raises
        ------
        UnknownDocument
        CollectionError
            The name is empty, or the collection has a document with the new name already.
        """
        return self._naming.rename(self._library.document(document_id).document_id, name)

    def versions(self, document_id: str) -> Sequence[DocumentVersion]:
        """Return the current version of a document, and then the former versions whose file is stored, newest first.

        The current version is the active version, or the latest version if none is active. Raise `UnknownDocument` if
        the document does not exist.
        """
        current = self._find_version_id(document_id)
        rows = self._library.find_versions(versions.c.document_id == document_id)
        in_snapshots = self._snapshots.find_snapshot_only_versions()
        names = self._snapshots.find_names(document_id)
        shown = [row for row in rows if row.id == current or row.state in _FILE_ONLY_STATES or row.id in in_snapshots]
        shown.sort(key=lambda row: (row.id == current, row.added_at), reverse=True)
        return [
            DocumentVersion(row.id, row.added_at, row.size, row.id != current, tuple(names.get(row.sha256, ())))
            for row in shown
        ]

    def restore_version(self, version_id: str) -> Job:
        """Queue the indexing of a replaced version's file, which then replaces the current version.

        Raises
        ------
        UnknownDocument
            The version is not stored.
        StoreUnavailable
            Its file is not stored.
        """
        row = self._find_replaced(version_id)
        data = self._files.get(row.sha256)
        return self._submission.submit(
            row.name, data, row.collection, "replace", document_id=row.document_id, folder=row.folder
        )

    def remove_version(self, version_id: str) -> None:
        """Remove a replaced version and its file, also from snapshots; raise `UnknownDocument` if it is not stored."""
        self._removal.remove_content(self._find_replaced(version_id))

    def _find_replaced(self, version_id: str) -> VersionRow:
        """Return a version of which the file is stored, or which only searches of a snapshot find.

        Raise `UnknownDocument` for any other version. A version that has ended counts only if its document has an
        active version.
        """
        row = self._library.version(version_id)
        states = _FILE_ONLY_STATES if row and row.active_version else ("replaced",)
        if row is None or (row.state not in states and row.id not in self._snapshots.find_snapshot_only_versions()):
            raise UnknownDocument("That version is no longer stored. Reload the page to see the stored versions.")
        return row

    def title(self, document_id: str) -> str:
        """Return the title on the first page of a document; raise `UnknownDocument` if the document does not exist.

        The title is empty if the page has no title, or if the name of the document contains the title.
        """
        first = self._library.page(self._find_version_id(document_id), 0)
        return extract_title(self._library.document(document_id).name, first)

    def pages(self, document_id: str, *, with_layout: bool = False) -> Sequence[Page]:
        """Return a document's pages in order; raise `UnknownDocument` if it does not exist.

        The word boxes and tables of the pages are empty unless ``with_layout`` is true.
        """
        return self._library.pages(self._find_version_id(document_id), with_layout=with_layout)

    def outline(self, document_id: str) -> Sequence[OutlineEntry]:
        """Return a document's table of contents; raise `UnknownDocument` if the document does not exist."""
        return build_outline(self._library.page_headings(self._find_version_id(document_id)))

    def page(self, document_id: str, page_index: int, *, version_id: str | None = None) -> Page:
        """Return one page with its word boxes; raise `UnknownDocument` if the page does not exist.

        See `get` for ``version_id``.
        """
        return self._get_page(self.get(document_id, version_id=version_id).version_id, page_index)

    def find_text(
        self, document_id: str, text: str, *, version_id: str | None = None
    ) -> dict[int, Sequence[tuple[int, int]]]:
        """Return where the pages of a document contain a text, as character offsets by page index.

        Letter case is ignored, and any white space matches any other. See `get` for ``version_id``.
        """
        if not text.strip():
            return {}
        pattern = re.compile(r"\s+".join(map(re.escape, text.split())), re.IGNORECASE)
        pages = self._library.pages(self.get(document_id, version_id=version_id).version_id)
        found = {page.page_index: [match.span() for match in pattern.finditer(page.text)] for page in pages}
        return {page_index: spans for page_index, spans in found.items() if spans}

    def tables(self, places: Collection[PageKey]) -> dict[PageKey, tuple[Table, ...]]:
        """Return the tables of pages by version id and page index; pages without tables are left out."""
        return self._library.tables(places)

    def chunks(self, document_id: str, page_index: int | None = None) -> Sequence[ChunkSpan]:
        """Return the chunks of a document in order; with ``page_index``, only chunks with text of this page.

        Raises
        ------
        UnknownDocument
        """
        return [chunk_from_row(row) for row in self._library.chunk_rows(self._find_version_id(document_id), page_index)]

    def neighbours(self, chunk_id: str) -> tuple[ChunkSpan | None, ChunkSpan | None]:
        """Return the chunks before and after a chunk; ``None`` in place of a chunk that does not exist.

        Both are ``None`` if no search, of the present documents or of a snapshot, finds the given chunk any more.
        """
        wanted = [int(chunk_id)]
        found = self._library.visible_chunks(wanted) or self._snapshots.chunks(None, wanted)
        if not found:
            return None, None
        row = found[int(chunk_id)]
        before, after = self._library.adjacent_chunks(row.version_id, row.ordinal)
        return before and chunk_from_row(before), after and chunk_from_row(after)

    def content(self, document_id: str, *, version_id: str | None = None) -> bytes:
        """Return the bytes of a document's file, or of the file of a replaced version.

        Raises
        ------
        UnknownDocument
            The document or the version does not exist.
        StoreUnavailable
            The file is not stored.
        """
        current_id = self._find_version_id(document_id)
        if version_id is None or version_id == current_id:
            return self._files.get(self._find_digest(current_id))
        return self._files.get(self._find_replaced(version_id).sha256)

    def render_page(
        self,
        document_id: str,
        page_index: int,
        *,
        version_id: str | None = None,
        highlights: Sequence[tuple[int, int]] = (),
        scale: float = 1.5,
    ) -> PageImage:
        """Return an image of a page with highlighted spans of its text.

        Parameters
        ----------
        version_id : str, optional
            The version to whose text ``highlights`` refer. If this version was replaced and is in no snapshot, the page
            of the present version is drawn without highlights, because the offsets could select other text.
        highlights : sequence of (start, end)
            Character offsets in the page's text.
        scale : float
            Pixels per point.

        Raises
        ------
        UnknownDocument
            The document or the page is not in the library.
        EncryptedDocument
            The file needs a password. Passwords are not stored, so the page cannot be rendered.
        """
        return self._draw_page(*self._find_highlighted(document_id, page_index, version_id, highlights), scale)

    def render_view(
        self,
        document_id: str,
        page_index: int,
        *,
        version_id: str | None = None,
        highlights: Sequence[tuple[int, int]] = (),
        scale: float = 1.5,
        wait_s: float = 0.0,
    ) -> PageView:
        """Return images of a page for a reader. If LibreOffice is installed, it draws the pages of Office documents.

        See `render_page` for the other parameters and the errors. ``wait_s`` is the maximum time in seconds to wait for
        LibreOffice. If LibreOffice fails or takes longer, or if its pages lack most of the highlighted words, Footnote
        draws the page.
        """
        document, page, spans = self._find_highlighted(document_id, page_index, version_id, highlights)
        name, is_pending = document.name, False
        try:
            pdf, reason = self._drawings.find(document, wait_s), ""
        except (ConversionError, TimeoutError) as error:
            pdf, reason, is_pending = None, f"{error}", isinstance(error, TimeoutError)
        if pdf is not None:
            found = pdf.find(page, spans or [(0, len(page.text))])
            images = [
                render_page(pdf.path, index, name=name, rects=rects if spans else None, scale=scale)
                for index, rects in found.items()
            ]
            if images:
                return PageView(tuple(images), "libreoffice")
            reason = "its pages do not contain enough of the text"
        image = self._draw_page(document, page, spans, scale)
        drawn_by: Literal["", "footnote"] = "footnote" if ACCEPTED.find_by_name(name).is_laid_out else ""
        return PageView((image,), drawn_by, reason, is_pending)

    def render_figure(
        self, document_id: str, page_index: int, *, version_id: str, span: tuple[int, int], scale: float = 1.5
    ) -> PageImage | None:
        """Return an image of the figure whose caption overlaps ``span`` of the page's text.

        Return ``None`` if there is no such figure, or if ``version_id`` was replaced and is in no snapshot.

        Raises
        ------
        UnknownDocument, EncryptedDocument
            See `render_page`.
        """
        document = self.get(document_id, version_id=version_id)
        self._get_page(document.version_id, page_index)
        row = self._library.version(document.version_id)
        if row is None or document.version_id != version_id:
            return None
        return draw_figure(self._stores, row, page_index, span, scale)

    def find_descriptions(self, places: Collection[PageKey]) -> Mapping[PageKey, Sequence[FigureDescription]]:
        """Return what models wrote about the figures of pages, by version id and page index; see `FigureStore.find`."""
        return self._stores.figures.find(places)

    def describe_figures(self, document_id: str) -> Job | None:
        """Queue the description of a document's figures that have no description; see `FigureDescriber.request`."""
        version = self._library.version(self._find_version_id(document_id))
        return version and self._describe_figures(version)

    def _find_version_id(self, document_id: str) -> str:
        return self._library.document(document_id).version_id

    def _get_page(self, version_id: str, page_index: int) -> Page:
        page = self._library.page(version_id, page_index)
        if page is None:
            raise UnknownDocument(f"Page {page_index + 1} of that document is not in the library.")
        return page

    def _find_highlighted(
        self, document_id: str, page_index: int, version_id: str | None, highlights: Sequence[tuple[int, int]]
    ) -> tuple[DocumentInfo, Page, Sequence[tuple[int, int]]]:
        """Return a document, one of its pages, and the spans of this page to highlight, without header and footer.

        If ``highlights`` refer to another version, there are no spans.
        """
        document = self.get(document_id, version_id=version_id)
        page = self._get_page(document.version_id, page_index)
        shown = highlights if version_id in (None, document.version_id) else ()
        return document, page, [span for one in shown for span in _subtract_spans(one, page.skip)]

    def _draw_page(
        self, document: DocumentInfo, page: Page, spans: Sequence[tuple[int, int]], scale: float
    ) -> PageImage:
        rects = [page.boxes.find_overlapping(*span) for span in ((0, 0), *spans)]
        with self._files.local(self._find_digest(document.version_id)) as path:
            return render_page(path, page.page_index, name=document.name, rects=np.concatenate(rects), scale=scale)

    def _find_digest(self, version_id: str) -> str:
        return str(self._library.find_versions(versions.c.id == version_id)[0].sha256)


def _subtract_spans(span: tuple[int, int], skip: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the parts of ``span`` outside the spans in ``skip``."""
    parts, position = [], span[0]
    for start, end in sorted(skip):
        if start < span[1] and end > position:
            parts.append((position, start))
            position = end
    parts.append((position, span[1]))
    return [(start, end) for start, end in parts if start < end]
