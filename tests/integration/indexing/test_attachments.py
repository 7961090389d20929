"""Files that are attached to PDFs."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import cast

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    DictionaryObject,
    NameObject,
    NullObject,
    NumberObject,
    PdfObject,
    StreamObject,
    TextStringObject,
)

from rag_core.engine import Engine
from rag_core.indexing.attached_files import AttachedFiles
from rag_core.parsing.workers.document_reader import Attachment
from rag_core.types.documents import DocumentStatus, VersionRow
from rag_core.types.jobs import Job
from tests.support.documents import make_docx, make_mail
from tests.support.engines import (
    BUDGET,
    COPPER,
    PENGUINS,
    add_document,
    assert_found,
    assert_in_agreement,
    idle,
    rebuild_index,
)
from tests.support.pdfs import encrypted, make_pdf, with_attachments


def names(engine: Engine) -> list[str]:
    idle(engine)
    return sorted(document.name for document in engine.documents.list())


def test_attached_pdfs_are_documents_of_their_own(engine: Engine) -> None:
    cover = with_attachments(
        make_pdf("The papers are attached."), bridge_pdf=make_pdf(BUDGET), birds_pdf=make_pdf(PENGUINS)
    )
    job = add_document(engine, "cover.pdf", cover)
    assert job.reason == "The attached files are listed as documents of their own: birds.pdf, bridge.pdf."
    assert names(engine) == ["birds.pdf", "bridge.pdf", "cover.pdf"]
    assert_found(engine, budget=["bridge.pdf"], penguins=["birds.pdf"])
    assert_in_agreement(engine)


def test_files_in_mails_are_documents_of_their_own(engine: Engine) -> None:
    inner = make_mail("The inner mail.", birds_docx=make_docx(PENGUINS))
    add_document(engine, "letter.eml", make_mail("See the papers.", bridge_docx=make_docx(BUDGET), inner_eml=inner))
    assert names(engine) == ["birds.docx", "bridge.docx", "inner.eml", "letter.eml"]
    assert_found(engine, budget=["bridge.docx"], penguins=["birds.docx"])
    assert_in_agreement(engine)
    engine.documents.delete([engine.documents.find_ids(["letter.eml"])[0]])
    assert names(engine) == []


def test_other_attached_files_are_reported(engine: Engine) -> None:
    cover = with_attachments(make_pdf(BUDGET), table_xlsx=b"PK", fake_pdf=b"no pdf", empty_pdf=b"")
    job = add_document(engine, "cover.pdf", cover)
    assert job.result is DocumentStatus.INDEXED
    assert job.reason.startswith("Attached, but not read")
    assert all(name in job.reason for name in ("table.xlsx", "fake.pdf", "empty.pdf"))
    assert engine.documents.list()[0].reason == job.reason
    assert names(engine) == ["cover.pdf"]


def test_attachments_of_a_cover_without_text_are_read(engine: Engine) -> None:
    job = add_document(engine, "cover.pdf", with_attachments(make_pdf(""), mine_pdf=make_pdf(COPPER)))
    assert job.result is DocumentStatus.REJECTED
    assert names(engine) == ["cover.pdf", "mine.pdf"]
    assert_found(engine, copper=["mine.pdf"])


def test_nesting_is_limited(engine: Engine) -> None:
    pdf = make_pdf("The innermost sheet.")
    for level in range(4):
        pdf = with_attachments(make_pdf(f"Sheet of level {level}."), **{f"level{level}_pdf": pdf})
    add_document(engine, "outer.pdf", pdf)
    assert names(engine) == ["level2.pdf", "level3.pdf", "outer.pdf"]


@pytest.mark.parametrize("attached", ["bridge_pdf", "cover_pdf"])
def test_reindex_adds_attached_files_no_second_time(engine: Engine, attached: str) -> None:
    add_document(engine, "cover.pdf", with_attachments(make_pdf(PENGUINS), **{attached: make_pdf(BUDGET)}))
    before = names(engine)
    assert len(before) == 2
    rebuild_index(engine, [document.document_id for document in engine.documents.list()])
    assert names(engine) == before


def test_attached_files_of_one_name_are_all_kept(engine: Engine) -> None:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(make_pdf(COPPER))))
    for name, text in (("a/invoice.pdf", BUDGET), ("b/invoice.pdf", PENGUINS), ("b/invoice.pdf", f"{PENGUINS} Again.")):
        writer.add_attachment(name, make_pdf(text))
    buffer = io.BytesIO()
    writer.write(buffer)
    add_document(engine, "cover.pdf", buffer.getvalue())
    found = names(engine)
    assert len(found) == 4
    assert sum(name.endswith("invoice.pdf") for name in found) == 3


def test_total_size_of_attached_files_is_limited() -> None:
    submitted: list[str] = []

    def submit(name: str, *_: object, **__: object) -> Job:
        submitted.append(name)
        return cast(Job, SimpleNamespace(job_id=name))

    parent = cast(VersionRow, SimpleNamespace(name="cover.pdf", folder="/papers", collection="default"))
    files = AttachedFiles(parent, submit, 1000)
    for name in ("a.pdf", "b.pdf", "c.pdf"):
        files.add(Attachment(name, b"%PDF-".ljust(400)))
    assert submitted == ["a.pdf", "b.pdf"]
    assert files.describe().endswith(
        "not read: c.pdf. Footnote reads up to 100 attached files of up to 50 MB each and 0.001 MB in total, on 2 "
        "levels."
    )


def test_deleted_attachment_does_not_return_with_a_reindex(engine: Engine) -> None:
    add_document(engine, "cover.pdf", with_attachments(make_pdf(PENGUINS), bridge_pdf=make_pdf(BUDGET)))
    idle(engine)
    engine.documents.delete(engine.documents.find_ids(["bridge.pdf"]))
    rebuild_index(engine, engine.documents.find_ids(["cover.pdf"]))
    assert names(engine) == ["cover.pdf"]


def test_files_in_paper_clips_of_pages_are_read(engine: Engine) -> None:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(make_pdf("The papers are clipped to this page."))))
    content = StreamObject()
    content.set_data(make_pdf(BUDGET))
    file = {"/Type": "/Filespec", "/F": "bridge", "/UF": "bridge", "/EF": {"/F": writer._add_object(content)}}
    rectangle = [10, 10, 30, 30]
    clip = {"/Type": "/Annot", "/Subtype": "/FileAttachment", "/Rect": rectangle, "/FS": file, "/Contents": "bridge"}
    writer.pages[0][NameObject("/Annots")] = pdf_object([NullObject(), clip])
    buffer = io.BytesIO()
    writer.write(buffer)
    job = add_document(engine, "cover.pdf", buffer.getvalue())
    assert job.reason == "The attached files are listed as documents of their own: bridge."
    assert names(engine) == ["bridge", "cover.pdf"]
    assert_found(engine, budget=["bridge"])


def pdf_object(value: object) -> PdfObject:
    """Return a pypdf object for nested lists and dictionaries; texts with a slash are names."""
    if isinstance(value, dict):
        return DictionaryObject({NameObject(key): pdf_object(one) for key, one in value.items()})
    if isinstance(value, list):
        return ArrayObject([pdf_object(one) for one in value])
    if isinstance(value, str):
        return NameObject(value) if value.startswith("/") else TextStringObject(value)
    return value if isinstance(value, PdfObject) else NumberObject(cast(int, value))


def test_password_of_the_cover_opens_attached_files(engine: Engine) -> None:
    add_document(engine, "cover.pdf", with_attachments(make_pdf(PENGUINS), bridge_pdf=encrypted("open", BUDGET)))
    assert names(engine) == ["bridge.pdf", "cover.pdf"]
    assert_found(engine, budget=[])
    cover = with_attachments(make_pdf(COPPER), bridge_pdf=encrypted("open", BUDGET))
    add_document(engine, "second.pdf", cover, password="open")
    idle(engine)
    assert_found(engine, budget=["second.pdf/bridge.pdf"])


def test_attached_documents_are_deleted_with_their_cover(engine: Engine) -> None:
    inner = with_attachments(make_pdf(PENGUINS), copper_pdf=make_pdf(COPPER))
    add_document(engine, "cover.pdf", with_attachments(make_pdf(BUDGET), birds_pdf=inner))
    assert names(engine) == ["birds.pdf", "copper.pdf", "cover.pdf"]
    receipts = engine.documents.delete(engine.documents.find_ids(["cover.pdf"]))
    assert {receipt.document for receipt in receipts} == {"birds.pdf", "copper.pdf", "cover.pdf"}
    assert names(engine) == []
    assert_in_agreement(engine)


def test_file_attached_to_two_covers_stays_with_the_other(engine: Engine) -> None:
    for cover, text in (("a.pdf", BUDGET), ("b.pdf", COPPER)):
        add_document(engine, cover, with_attachments(make_pdf(text), birds_pdf=make_pdf(PENGUINS)))
        idle(engine)
    engine.documents.delete(engine.documents.find_ids(["a.pdf"]))
    assert names(engine) == ["b.pdf", "birds.pdf"]
    engine.documents.delete(engine.documents.find_ids(["b.pdf"]))
    assert names(engine) == []


def test_attached_file_that_the_next_version_lacks_is_removed(engine: Engine) -> None:
    add_document(
        engine,
        "cover.pdf",
        with_attachments(make_pdf("First."), birds_pdf=make_pdf(PENGUINS), bridge_pdf=make_pdf(BUDGET)),
    )
    idle(engine)
    add_document(engine, "cover.pdf", with_attachments(make_pdf("Second."), bridge_pdf=make_pdf(BUDGET)))
    assert names(engine) == ["bridge.pdf", "cover.pdf"]
    assert_found(engine, budget=["bridge.pdf"], penguins=[])
    assert_in_agreement(engine)


def test_copy_of_a_nested_file_stays_when_its_cover_is_deleted(engine: Engine) -> None:
    inner = with_attachments(make_pdf(PENGUINS), bridge_pdf=make_pdf(BUDGET))
    add_document(engine, "cover.pdf", with_attachments(make_pdf("Papers."), inner_pdf=inner), folder="/x")
    idle(engine)
    add_document(engine, "mine.pdf", make_pdf(BUDGET), folder="/docs")
    engine.documents.delete(engine.documents.find_ids(["cover.pdf"]))
    assert names(engine) == ["mine.pdf"]
    assert_found(engine, budget=["mine.pdf"])


@pytest.mark.parametrize("name", ["inner_pdf", "x" * 250 + "_pdf"])
def test_unchanged_attached_files_stay_with_the_next_version(engine: Engine, name: str) -> None:
    inner = with_attachments(make_pdf(PENGUINS), bridge_pdf=make_pdf(BUDGET))
    for text in ("First.", "Second."):
        add_document(engine, "cover.pdf", with_attachments(make_pdf(text), **{name: inner}))
        before = names(engine)
    assert len(before) == 3
    assert_found(engine, budget=["bridge.pdf"])
