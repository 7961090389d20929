"""Files made to do harm, or that need what was not given: each is refused in words, and the others go on."""

from __future__ import annotations

import io
import logging
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

from rag_core.engine import Engine
from rag_core.errors import EncryptedPdf
from rag_core.types import DocumentStatus, Job
from tests.support.drawn_pdfs import raw_pdf
from tests.support.engines import (
    ASK_BUDGET,
    BUDGET,
    PENGUINS,
    add_document,
    assert_in_agreement,
    indexed,
    names_found,
    opened,
    page_text,
)
from tests.support.pdfs import make_pdf

CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
PAGE = (
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R /Resources "
    b"<< /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
)
WORDS = b"<< /Length 41 >>\nstream\nBT /F 12 Tf 20 100 Td (Some words) Tj ET \nendstream"
PASSWORD = "open-sesame-4711"


@pytest.fixture(scope="module")
def _strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with opened(tmp_path_factory.mktemp("strict") / "data", max_decompressed_mb=2, ocr="off") as made:
        yield made


@pytest.fixture
def strict(_strict: Engine) -> Iterator[Engine]:
    """An engine whose streams may unpack to 2 MB."""
    yield _strict
    _strict.documents.delete([document.document_id for document in _strict.documents.list()])


def tree(kids: bytes, count: int) -> bytes:
    return raw_pdf([CATALOG, b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count), PAGE, WORDS])


def streamed(packed: bytes, filters: bytes) -> bytes:
    """A page of words, beside a content stream that is packed."""
    content = b"<< /Length %d /Filter %s >>\nstream\n%s\nendstream" % (len(packed), filters, packed)
    page = PAGE.replace(b"4 0 R", b"[4 0 R 5 0 R]")
    return raw_pdf([CATALOG, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", page, WORDS, content])


def gigabytes(count: int) -> bytes:
    """A deflated stream of that many gigabytes of blanks, put together from one block of a megabyte."""
    packer, megabyte = zlib.compressobj(9), b" " * 1_000_000
    start = packer.compress(megabyte) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(megabyte) + packer.flush(zlib.Z_FULL_FLUSH)
    return start + block * (1000 * count - 1) + packer.flush(zlib.Z_FINISH)


def rejected(engine: Engine, data: bytes) -> Job:
    """Add a file that must be refused, and see that the next one is not harmed."""
    job = add_document(engine, "bad.pdf", data)
    assert job.result is DocumentStatus.REJECTED, job
    assert "bad.pdf" in job.reason
    indexed(engine, "good.pdf", BUDGET)
    assert names_found(engine, ASK_BUDGET) == ["good.pdf"]
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
def test_a_stream_that_unpacks_beyond_the_limit_is_refused_by_the_setting(
    strict: Engine, packed: bytes, filters: bytes
) -> None:
    assert "RAG_MAX_DECOMPRESSED_MB" in rejected(strict, streamed(packed, filters)).reason


def test_streams_within_the_limit_and_damaged_ones_are_read(strict: Engine) -> None:
    whole = zlib.compress(b" " * 1_900_000)
    for number, packed in enumerate((whole, whole[:900], b"x\x9cnot deflated", zlib.compress(b"x\x9cnor this"))):
        job = add_document(strict, f"{number}.pdf", streamed(packed, b"/FlateDecode"))
        assert job.result is DocumentStatus.INDEXED, job
        assert page_text(strict, str(job.document_id), 0) == "Some words"


@pytest.mark.parametrize("kids", [b"3 0 R " * 100_000, b"3 0 R"], ids=["so many", "says so"])
def test_a_hundred_thousand_pages_are_refused_by_the_setting(strict: Engine, kids: bytes) -> None:
    reason = rejected(strict, tree(kids, 100_000)).reason
    assert "100,000 pages" in reason
    assert "RAG_MAX_PAGES" in reason


def test_pages_that_are_counted_but_not_there_are_told(strict: Engine) -> None:
    job = add_document(strict, "a.pdf", tree(b"3 0 R", 3))
    assert job.result is DocumentStatus.PARTIAL
    assert "pages 2, 3 could not be read" in job.reason


@pytest.mark.parametrize("count", [-5, 0, 2**31 - 1])
def test_a_count_that_cannot_be_is_not_believed(strict: Engine, count: int) -> None:
    job = add_document(strict, "a.pdf", tree(b"3 0 R 3 0 R", count))
    assert job.result is DocumentStatus.INDEXED
    assert strict.documents.get(str(job.document_id)).pages == 2


def test_a_page_tree_that_is_its_own_child_is_refused(strict: Engine) -> None:
    loop = raw_pdf([CATALOG, b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>"])
    assert "damaged" in rejected(strict, loop).reason


def test_a_page_tree_that_loops_beside_a_page_gives_the_page(strict: Engine) -> None:
    back = b"<< /Type /Pages /Parent 2 0 R /Kids [2 0 R] /Count 1 >>"
    nodes = [CATALOG, b"<< /Type /Pages /Kids [3 0 R 5 0 R] /Count 2 >>", PAGE, WORDS, back]
    job = add_document(strict, "a.pdf", raw_pdf(nodes))
    assert job.result in (DocumentStatus.INDEXED, DocumentStatus.PARTIAL)
    assert page_text(strict, str(job.document_id), 0) == "Some words"


# encryption


def encrypted(*pages: str) -> bytes:
    writer, buffer = PdfWriter(clone_from=PdfReader(io.BytesIO(make_pdf(*pages)))), io.BytesIO()
    writer.encrypt(PASSWORD, algorithm="AES-256")
    writer.write(buffer)
    return buffer.getvalue()


def test_a_file_without_pages_read_after_an_encrypted_one_is_not_called_encrypted(engine: Engine) -> None:
    add_document(engine, "locked.pdf", encrypted(BUDGET))
    job = add_document(engine, "empty.pdf", raw_pdf([CATALOG, b"<< /Type /Pages /Kids [] /Count 0 >>"]))
    assert "no pages" in job.reason
    assert not engine.documents.get(str(job.document_id)).needs_password


def test_a_password_opens_a_file_and_is_kept_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    wrong = "wrong-password-0815"
    with opened(tmp_path / "data") as engine:
        job = add_document(engine, "locked.pdf", encrypted(BUDGET))
        document_id = str(job.document_id)
        assert job.result is DocumentStatus.REJECTED
        assert "Give its password" in job.reason
        assert engine.documents.get(document_id).needs_password
        again = engine.jobs.wait([engine.documents.retry(document_id, password=wrong).job_id])[0]
        assert again.result is DocumentStatus.REJECTED
        assert "does not open it" in again.reason
        assert engine.documents.get(document_id).needs_password
        third = engine.jobs.wait([engine.documents.retry(document_id, password=PASSWORD).job_id])[0]
        assert (third.result, third.document_id) == (DocumentStatus.INDEXED, document_id)
        assert not engine.documents.get(document_id).needs_password
        assert names_found(engine, ASK_BUDGET) == ["locked.pdf"]
        told = " ".join(map(repr, [*engine.jobs.list(), *engine.documents.list(), engine.status()]))
        assert engine._indexer._passwords == {}
        assert_in_agreement(engine)
    kept = b"".join(path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file())
    for secret in (PASSWORD, wrong):
        assert secret not in caplog.text
        assert secret not in told
        assert secret.encode() not in kept


def test_the_page_of_an_encrypted_file_is_not_drawn_and_says_why(engine: Engine) -> None:
    job = add_document(engine, "locked.pdf", encrypted(BUDGET), password=PASSWORD)
    assert job.result is DocumentStatus.INDEXED
    with pytest.raises(EncryptedPdf, match=r"locked\.pdf is encrypted, and its password is not kept") as told:
        engine.documents.render_page(str(job.document_id), 0)
    assert "its text was read and can be searched" in str(told.value)
    assert "Zanzibar" in page_text(engine, str(job.document_id), 0)


# asked for again


def test_a_partial_document_is_read_again_when_that_is_asked(engine: Engine) -> None:
    job = add_document(engine, "a.pdf", make_pdf(BUDGET, ""))
    assert job.result is DocumentStatus.PARTIAL
    before = engine.documents.get(str(job.document_id)).version_id
    again = engine.jobs.wait([engine.documents.retry(str(job.document_id)).job_id])[0]
    assert (again.result, again.document_id) == (DocumentStatus.PARTIAL, job.document_id)
    assert engine.documents.get(str(job.document_id)).version_id != before
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    assert len(engine.documents.list()) == 1
    assert_in_agreement(engine)


def test_content_that_comes_back_while_another_takes_its_place_ends_as_the_last(engine: Engine) -> None:
    jobs = [engine.documents.submit("a.pdf", make_pdf(text)).job_id for text in (BUDGET, PENGUINS, BUDGET)]
    assert engine.jobs.wait(jobs)[-1].result is DocumentStatus.INDEXED
    assert names_found(engine, ASK_BUDGET) == ["a.pdf"]
    (document,) = engine.documents.list()
    assert engine.documents.content(document.document_id) == make_pdf(BUDGET)
    assert_in_agreement(engine)
