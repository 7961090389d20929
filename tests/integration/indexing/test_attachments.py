"""Files that are attached to PDFs."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import cast

import pytest
from pypdf import PdfReader, PdfWriter

from rag_core.engine import Engine
from rag_core.indexing.attached_files import AttachedFiles
from rag_core.parsing import Attachment
from rag_core.types import DocumentStatus, Job, VersionRow
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
from tests.support.pdfs import make_pdf, with_attachments


def names(engine: Engine) -> list[str]:
    idle(engine)
    return sorted(document.name for document in engine.documents.list())


def test_attached_pdfs_are_documents_of_their_own(engine: Engine) -> None:
    cover = with_attachments(
        make_pdf("The papers are attached."), bridge_pdf=make_pdf(BUDGET), birds_pdf=make_pdf(PENGUINS)
    )
    job = add_document(engine, "cover.pdf", cover)
    assert job.reason == "The attached files are documents of their own: birds.pdf, bridge.pdf."
    assert names(engine) == ["birds.pdf", "bridge.pdf", "cover.pdf"]
    assert_found(engine, budget=["bridge.pdf"], penguins=["birds.pdf"])
    assert_in_agreement(engine)


def test_other_attached_files_are_reported(engine: Engine) -> None:
    cover = with_attachments(make_pdf(BUDGET), table_xlsx=b"PK", fake_pdf=b"no pdf", empty_pdf=b"")
    job = add_document(engine, "cover.pdf", cover)
    assert job.result is DocumentStatus.INDEXED
    assert job.reason.startswith("Attached and not read")
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

    def submit(name: str, *_: object) -> Job:
        submitted.append(name)
        return cast(Job, SimpleNamespace(job_id=name))

    parent = cast(VersionRow, SimpleNamespace(name="cover.pdf", folder="/papers", collection="default"))
    files = AttachedFiles(parent, submit, 1000)
    for name in ("a.pdf", "b.pdf", "c.pdf"):
        files.add(Attachment(name, b"%PDF-".ljust(400)))
    assert submitted == ["a.pdf", "b.pdf"]
    assert files.describe().endswith(": c.pdf.")


def test_deleted_attachment_does_not_return_with_a_reindex(engine: Engine) -> None:
    add_document(engine, "cover.pdf", with_attachments(make_pdf(PENGUINS), bridge_pdf=make_pdf(BUDGET)))
    idle(engine)
    engine.documents.delete(engine.documents.find_ids(["bridge.pdf"]))
    rebuild_index(engine, engine.documents.find_ids(["cover.pdf"]))
    assert names(engine) == ["cover.pdf"]
