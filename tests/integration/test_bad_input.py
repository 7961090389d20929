"""Malicious and encrypted files: each is rejected with its reason, and other files are not affected."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.errors import EncryptedDocument
from rag_core.indexing import parsing_stage
from rag_core.parsing.parser import DocumentParser
from rag_core.types.documents import DocumentStatus
from rag_core.types.jobs import Job
from tests.support.drawn_pdfs import raw_pdf
from tests.support.engines import (
    BUDGET,
    add_document,
    assert_found,
    assert_in_agreement,
    emptied,
    indexed,
    opened,
    page_text,
    retry_document,
)
from tests.support.pdfs import encrypted, make_pdf

CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
PAGE = (
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R /Resources "
    b"<< /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
)
WORDS = b"<< /Length 41 >>\nstream\nBT /F 12 Tf 20 100 Td (Some words) Tj ET \nendstream"
PASSWORD = "open-sesame-4711"


@pytest.fixture(scope="module")
def _strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parsing_stage, "DocumentParser", partial(DocumentParser, max_decompressed_mb=2))
        with opened(tmp_path_factory.mktemp("strict") / "data", ocr="off") as engine:
            yield engine


@pytest.fixture
def strict(_strict: Engine) -> Iterator[Engine]:
    """Return an empty engine that unpacks streams up to 2 MB."""
    yield _strict
    emptied(_strict)


def tree(kids: bytes, count: int) -> bytes:
    return raw_pdf([CATALOG, b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count), PAGE, WORDS])


def streamed(packed: bytes, filters: bytes) -> bytes:
    """Return a PDF whose page has words and a second, packed content stream."""
    content = b"<< /Length %d /Filter %s >>\nstream\n%s\nendstream" % (len(packed), filters, packed)
    page = PAGE.replace(b"4 0 R", b"[4 0 R 5 0 R]")
    return raw_pdf([CATALOG, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", page, WORDS, content])


def gigabytes(count: int) -> bytes:
    """Return a deflated stream of so many gigabytes of blanks, which repeats one packed block of a megabyte."""
    packer, megabyte = zlib.compressobj(9), b" " * 1_000_000
    start = packer.compress(megabyte) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(megabyte) + packer.flush(zlib.Z_FULL_FLUSH)
    return start + block * (1000 * count - 1) + packer.flush(zlib.Z_FINISH)


def rejected(engine: Engine, data: bytes) -> Job:
    """Add a file that must be rejected; check that the next file is indexed."""
    job = add_document(engine, "bad.pdf", data)
    assert job.result is DocumentStatus.REJECTED, job
    assert "bad.pdf" in job.reason
    indexed(engine, "good.pdf", BUDGET)
    assert_found(engine, budget=["good.pdf"])
    assert_in_agreement(engine)
    return job


@pytest.mark.parametrize(
    ("packed", "filters"),
    [
        (gigabytes(3), b"/FlateDecode"),
        (zlib.compress(gigabytes(3)), b"[/FlateDecode /FlateDecode]"),
        (zlib.compress(b" " * 2_100_000), b"/FlateDecode"),
    ],
    ids=["gigabytes", "packed twice", "a little over"],
)
def test_stream_beyond_the_limit_is_rejected(strict: Engine, packed: bytes, filters: bytes) -> None:
    assert "more than 2 MB after decompression" in rejected(strict, streamed(packed, filters)).reason


def test_damaged_and_large_streams_within_the_limit_are_read(strict: Engine) -> None:
    whole = zlib.compress(b" " * 1_900_000)
    for number, packed in enumerate((whole, whole[:900], b"x\x9cnot deflated", zlib.compress(b"x\x9cnor this"))):
        job = add_document(strict, f"{number}.pdf", streamed(packed, b"/FlateDecode"))
        assert job.result is DocumentStatus.INDEXED, job
        assert page_text(strict, str(job.document_id), 0) == "Some words"


@pytest.mark.parametrize("kids", [b"3 0 R " * 100_000, b"3 0 R"], ids=["so many", "says so"])
def test_too_many_pages_are_rejected(strict: Engine, kids: bytes) -> None:
    reason = rejected(strict, tree(kids, 100_000)).reason
    assert "100,000 pages" in reason
    assert "20,000 allowed" in reason


def test_missing_pages_of_the_page_count_are_reported(strict: Engine) -> None:
    job = add_document(strict, "a.pdf", tree(b"3 0 R", 3))
    assert job.result is DocumentStatus.PARTIAL
    assert "pages 2, 3 could not be read" in job.reason


@pytest.mark.parametrize("count", [-5, 0, 2**31 - 1])
def test_impossible_page_count_is_ignored(strict: Engine, count: int) -> None:
    job = add_document(strict, "a.pdf", tree(b"3 0 R 3 0 R", count))
    assert job.result is DocumentStatus.INDEXED
    assert strict.documents.get(str(job.document_id)).pages == 2


def test_cyclic_page_tree_is_rejected(strict: Engine) -> None:
    loop = raw_pdf([CATALOG, b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>"])
    assert "damaged" in rejected(strict, loop).reason


def test_page_is_read_from_partly_cyclic_page_tree(strict: Engine) -> None:
    back = b"<< /Type /Pages /Parent 2 0 R /Kids [2 0 R] /Count 1 >>"
    nodes = [CATALOG, b"<< /Type /Pages /Kids [3 0 R 5 0 R] /Count 2 >>", PAGE, WORDS, back]
    job = add_document(strict, "a.pdf", raw_pdf(nodes))
    assert job.result in (DocumentStatus.INDEXED, DocumentStatus.PARTIAL)
    assert page_text(strict, str(job.document_id), 0) == "Some words"


def test_file_without_pages_is_not_reported_as_encrypted(engine: Engine) -> None:
    add_document(engine, "locked.pdf", encrypted(PASSWORD, BUDGET))
    job = add_document(engine, "empty.pdf", raw_pdf([CATALOG, b"<< /Type /Pages /Kids [] /Count 0 >>"]))
    assert "no pages" in job.reason
    assert not engine.documents.get(str(job.document_id)).needs_password


def test_password_opens_a_file_and_is_not_stored(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    wrong = "wrong-password-0815"
    with opened(tmp_path / "data") as engine:
        job = add_document(engine, "locked.pdf", encrypted(PASSWORD, BUDGET))
        document_id = str(job.document_id)
        assert job.result is DocumentStatus.REJECTED
        assert "Give its password" in job.reason
        assert engine.documents.get(document_id).needs_password
        job = retry_document(engine, document_id, password=wrong)
        assert job.result is DocumentStatus.REJECTED
        assert "does not open it" in job.reason
        assert engine.documents.get(document_id).needs_password
        job = retry_document(engine, document_id, password=PASSWORD)
        assert (job.result, job.document_id) == (DocumentStatus.INDEXED, document_id)
        assert len(engine.documents.list()) == 1
        assert not engine.documents.get(document_id).needs_password
        assert_found(engine, budget=["locked.pdf"])
        shown = " ".join(map(repr, [*engine.jobs.list(), *engine.documents.list(), engine.status()]))
        assert engine._indexer._pipeline.passwords == {}
        assert_in_agreement(engine)
    stored = b"".join(path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file())
    for secret in (PASSWORD, wrong):
        assert secret not in caplog.text
        assert secret not in shown
        assert secret.encode() not in stored


def test_page_of_encrypted_file_is_not_rendered(engine: Engine) -> None:
    job = add_document(engine, "locked.pdf", encrypted(PASSWORD, BUDGET), password=PASSWORD)
    assert job.result is DocumentStatus.INDEXED
    with pytest.raises(EncryptedDocument, match=r"locked\.pdf is encrypted, and its password is not kept") as error:
        engine.documents.render_page(str(job.document_id), 0)
    assert "its text was read and can be searched" in str(error.value)
    assert "Zanzibar" in page_text(engine, str(job.document_id), 0)


def test_partial_document_can_be_retried(engine: Engine) -> None:
    job = add_document(engine, "a.pdf", make_pdf(BUDGET, ""))
    assert job.result is DocumentStatus.PARTIAL
    before = engine.documents.get(str(job.document_id)).version_id
    retried = retry_document(engine, str(job.document_id))
    assert (retried.result, retried.document_id) == (DocumentStatus.PARTIAL, job.document_id)
    assert engine.documents.get(str(job.document_id)).version_id != before
    assert_found(engine, budget=["a.pdf"])
    assert len(engine.documents.list()) == 1
    assert_in_agreement(engine)


def test_one_document_can_be_read_with_ocr(strict: Engine) -> None:
    job = add_document(strict, "blank.pdf", make_pdf(""))
    assert "turn on text recognition (RAG_OCR=auto)" in job.reason
    assert "Text recognition found no text either" in retry_document(strict, str(job.document_id), ocr="auto").reason
