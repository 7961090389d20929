"""Endpoints of documents and of the jobs that index them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import datetime
from typing import Any, Literal, TypeVar

from pydantic import Field
from starlette.responses import Response

from rag_core.api import json_rows
from rag_core.api.access import require_right
from rag_core.api.calls import Body, Call, Endpoint, build_json_response
from rag_core.api.visible_library import find_document
from rag_core.engine import Engine
from rag_core.errors import RequestError, UnknownDocument
from rag_core.types.documents import DocumentInfo
from rag_core.types.jobs import Job
from rag_core.types.page_links import build_page_link

# Most idempotency keys that are remembered.
MAX_KEYS = 1000
# Most pages in a reply.
MAX_PAGES = 100
T = TypeVar("T")


class ListQuery(Body):
    """Which part of a list to return."""

    limit: int = Field(100, ge=1, le=1000)
    cursor: str = Field("", description="The next_cursor of the previous part.")


class DocumentsQuery(ListQuery):
    """Which documents to list."""

    collection: str = ""


class PagesQuery(Body):
    """Which pages to return, counted from 1."""

    first: int = Field(1, ge=1)
    count: int = Field(20, ge=1, le=MAX_PAGES)


class PictureQuery(Body):
    """How to draw a page."""

    scale: float = Field(1.5, gt=0, le=4, description="Pixels per point.")
    start: int | None = Field(None, ge=0, description="Offset in the text of the page where the highlight begins.")
    end: int | None = Field(None, ge=0)


class Upload(Body):
    """The form of an upload; its field `file` is the file."""

    collection: str | None = None
    on_same_name: Literal["replace", "keep"] = "replace"
    password: str | None = None
    folder: str = ""


class RepeatedRequests:
    """The results of requests by their Idempotency-Key, so that a repeated request is not executed again.

    The results are lost when the process ends. After that, a repeated file is recognized by its content.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[object, str], tuple[str, Future[Any]]] = OrderedDict()

    def run(self, owner: object, key: str, digest: str, work: Callable[[], T]) -> T:
        """Return the result of ``work``, or that of an earlier request of the same owner with the same key and digest.

        If ``work`` raises an exception, requests that wait for its result raise it too, and the key is removed.

        Raises
        ------
        RequestError
            The key was used for another request.
        """
        with self._lock:
            is_new = (owner, key) not in self._known
            if is_new:
                self._known[owner, key] = digest, Future()
            while len(self._known) > MAX_KEYS:
                self._known.popitem(last=False)
            known, future = self._known[owner, key]
        if known != digest:
            raise RequestError(422, "This Idempotency-Key was used for another file. Send a new key.")
        if is_new:
            try:
                future.set_result(work())
            except Exception as error:  # noqa: BLE001 - requests that wait for the result raise it too
                with self._lock:
                    self._known.pop((owner, key), None)
                future.set_exception(error)
        result: T = future.result()
        return result

    def forget(self, owner: object, key: str) -> None:
        """Remove a key, so that the next request with this key is executed."""
        with self._lock:
            self._known.pop((owner, key), None)


_repeated = RepeatedRequests()


def paginate(
    found: Sequence[T], query: ListQuery, get_key: Callable[[T], tuple[datetime, str]]
) -> tuple[list[T], str | None]:
    """Return the part of a list after the cursor, newest first, and the cursor of the next part.

    ``get_key`` returns the time and the id of a row. A cursor contains those of the last row of a part, so that rows
    that are added or removed meanwhile do not move the other rows. The cursor of the last part is ``None``.
    """
    ordered = sorted(found, key=get_key, reverse=True)
    if query.cursor:
        last = _parse_cursor(query.cursor)
        ordered = [one for one in ordered if get_key(one) < last]
    part = ordered[: query.limit]
    if len(ordered) <= query.limit:
        return part, None
    moment, row_id = get_key(part[-1])
    return part, base64.urlsafe_b64encode(json.dumps([moment.isoformat(), row_id]).encode()).decode()


def _parse_cursor(cursor: str) -> tuple[datetime, str]:
    try:
        text, key = json.loads(base64.urlsafe_b64decode(cursor))
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            raise ValueError
        return moment, str(key)
    except (ValueError, TypeError, binascii.Error):
        raise RequestError(422, "This cursor is invalid. Send the next_cursor of the previous part.") from None


def _list_documents(call: Call) -> dict[str, Any]:
    query: DocumentsQuery = call.query
    found = [one for one in call.library.list() if query.collection in ("", one.collection)]
    part, cursor = paginate(found, query, lambda one: (one.added_at, one.document_id))
    return {"documents": [row for one in part for row in json_rows.build_document_rows(one)], "next_cursor": cursor}


def _add_document(call: Call) -> Response:
    assert call.file is not None
    (name, data), form = call.file, call.body
    collection = call.library.choose_collection(form.collection)
    options = {"on_same_name": form.on_same_name, "password": form.password, "folder": form.folder}

    def submit() -> str:
        return call.library.submit(name, data, collection, **options).job_id

    if key := call.headers.get("idempotency-key", ""):
        parts = [name, collection, options, hashlib.sha256(data).hexdigest()]
        # Keep only a digest of the options, which contain the password.
        digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
        job_id = _repeated.run(call.caller, key, digest, submit)
        if not _is_listed(call.engine, job_id):
            _repeated.forget(call.caller, key)
            job_id = _repeated.run(call.caller, key, digest, submit)
    else:
        job_id = submit()
    row = _build_job_row(call.engine, call.engine.jobs.get(job_id))
    return build_json_response(row, 202, {"Location": f"/api/v1/jobs/{job_id}"})


def _is_listed(engine: Engine, job_id: str) -> bool:
    """Return whether a job is listed, which it is until its document is deleted."""
    try:
        engine.jobs.get(job_id)
    except UnknownDocument:
        return False
    return True


def _get_document(call: Call) -> dict[str, Any]:
    return json_rows.build_document_row(_find_document(call))


def _delete_document(call: Call) -> dict[str, Any]:
    document = _find_document(call)
    receipts = call.engine.documents.delete([document.document_id], collections=call.caller.collections)
    return {"receipts": [json_rows.build_deletion_row(one) for one in receipts]}


def _list_pages(call: Call) -> dict[str, Any]:
    document, query = _find_document(call), call.query
    _require_page(document, query.first)
    last = min(query.first - 1 + query.count, document.pages)
    rows = [_build_page_row(call, document, page_index) for page_index in range(query.first - 1, last)]
    return {"pages": rows, "page_count": document.pages}


def _require_page(document: DocumentInfo, number: int) -> None:
    if number > max(document.pages, 1):
        raise UnknownDocument(f"{document.name} has no page {number}: its last page is {document.pages}.")


def _build_page_row(call: Call, document: DocumentInfo, page_index: int) -> dict[str, Any]:
    page = call.engine.documents.page(document.document_id, page_index)
    key = document.version_id, page_index
    described = call.engine.documents.find_descriptions([key]).get(key, ())
    link = build_page_link(call.application, document.document_id, page_index)
    return {**json_rows.build_page_row(document.name, page, described), "link": link}


def _draw_page(call: Call) -> Response:
    document, query = _find_document(call), call.query
    marked = [(query.start, query.end)] if query.start is not None and query.end is not None else []
    page = int(call.path["page"])
    _require_page(document, page)
    image = call.engine.documents.render_page(document.document_id, page - 1, highlights=marked, scale=query.scale)
    return Response(image.png, media_type="image/png", headers={"Cache-Control": "no-store"})


def _list_sections(call: Call) -> dict[str, Any]:
    document = _find_document(call)
    entries = call.engine.documents.outline(document.document_id)
    return {"sections": [json_rows.build_outline_row(document.name, entry) for entry in entries]}


def _get_job(call: Call) -> dict[str, Any]:
    return _build_job_row(call.engine, call.library.get_job(call.path["job_id"]))


def _cancel_job(call: Call) -> dict[str, Any]:
    job = call.library.get_job(call.path["job_id"])
    if job.kind != "index":
        require_right(call.caller, "manage")
    call.engine.jobs.cancel(job.job_id)
    return _get_job(call)


def _build_job_row(engine: Engine, job: Job) -> dict[str, Any]:
    return json_rows.build_job_row(job, find_document(engine, job))


def _find_document(call: Call) -> DocumentInfo:
    return call.library.get(call.path["document_id"])


_ONE, _JOB = "/documents/{document_id}", "/jobs/{job_id}"
ENDPOINTS = (
    Endpoint(
        "GET", "/documents", "read", "List documents, newest first", _list_documents, "DocumentsRow", DocumentsQuery
    ),
    Endpoint(
        "POST",
        "/documents",
        "add",
        "Add a file; the reply is the job that indexes it. With an Idempotency-Key, it can be sent again safely",
        _add_document,
        "JobRow",
        body=Upload,
        takes_file=True,
    ),
    Endpoint("GET", _ONE, "read", "Describe a document and its status", _get_document, "DocumentRow"),
    Endpoint("DELETE", _ONE, "manage", "Delete a document from every store", _delete_document, "DeletionsRow"),
    Endpoint("GET", f"{_ONE}/pages", "read", "Read pages as text and tables", _list_pages, "PagesRow", PagesQuery),
    Endpoint(
        "GET",
        f"{_ONE}/pages/{{page:int}}/picture",
        "read",
        "Draw a page, counted from 1, with highlighted words",
        _draw_page,
        query=PictureQuery,
        media_types=("image/png",),
    ),
    Endpoint("GET", f"{_ONE}/outline", "read", "Read the table of contents", _list_sections, "OutlineRow"),
    Endpoint("GET", _JOB, "read", "Follow the job of a file", _get_job, "JobRow"),
    Endpoint("DELETE", _JOB, "add", "Cancel a job; follow it until it has ended", _cancel_job, "JobRow"),
)
