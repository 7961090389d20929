"""The parser in the parent process: its pages and its errors, also for hostile files."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pypdf
import pytest

from rag_core.errors import (
    DamagedDocument,
    DocumentTooLarge,
    EmptyDocument,
    EncryptedDocument,
    ExtractionFailed,
    UnknownFormat,
)
from rag_core.parsing.formats.pdf import PdfFormat
from rag_core.parsing.parser import DocumentParser
from rag_core.parsing.workers import process
from rag_core.parsing.workers.document_reader import READERS, DocumentHeader
from rag_core.parsing.workers.messages import build_opening
from rag_core.types.documents import Page, PageState
from tests.support.drawn_pdfs import encrypted, lines, make, raw_pdf, three


@pytest.fixture(scope="module")
def parser():
    with closing(DocumentParser(ocr="off", page_timeout_s=20)) as parser:
        yield parser


def split(items) -> tuple[DocumentHeader, list[Page]]:
    header, *pages = items
    return header, pages


def test_header_precedes_pages_in_order(parser: DocumentParser, tmp_path: Path) -> None:
    header, pages = split(parser.parse(three(tmp_path / "a.pdf")))
    assert header.page_count == 3
    assert [page.page_index for page in pages] == [0, 1, 2]
    assert [page.page_label for page in pages] == ["1", "2", "3"]
    assert [page.state for page in pages] == [PageState.TEXT] * 3
    assert "This is page two." in pages[1].text
    assert pages[0].width == pytest.approx(595.3, abs=0.1)


def idle_workers(parser: DocumentParser) -> set[int]:
    return {worker.pid for worker in parser._pool._idle}


def test_workers_are_started_in_advance_and_reused(tmp_path: Path) -> None:
    with closing(DocumentParser()) as parser:
        parser.warm_up()
        workers = idle_workers(parser)
        assert len(workers) == READERS
        for _ in range(2):
            list(parser.parse(three(tmp_path / "a.pdf")))
            assert idle_workers(parser) == workers


def test_page_labels_and_outline(parser: DocumentParser, tmp_path: Path) -> None:
    writer = pypdf.PdfWriter(clone_from=three(tmp_path / "plain.pdf"))
    writer.set_page_label(page_index_from=0, page_index_to=1, style="/r")
    writer.set_page_label(page_index_from=2, page_index_to=2, style="/D", start=7)
    part = writer.add_outline_item(title="Part I", page_number=0)
    writer.add_outline_item(title="Liquidity", page_number=2, parent=part)
    path = tmp_path / "outlined.pdf"
    writer.write(path)
    header, pages = split(parser.parse(path))
    assert header.metadata.outline == ((0, "Part I"), (2, "Part I › Liquidity"))
    assert [page.page_label for page in pages] == ["i", "ii", "7"]
    assert [page.heading for page in pages] == ["Part I", "Part I", "Part I › Liquidity"]


def test_cyclic_outline_is_read_once(parser: DocumentParser, tmp_path: Path) -> None:
    path = tmp_path / "loop.pdf"
    path.write_bytes(
        raw_pdf(
            [
                b"<< /Type /Catalog /Pages 2 0 R /Outlines 4 0 R >>",
                b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
                b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 6 0 R /Resources "
                b"<< /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
                b"<< /First 5 0 R /Last 5 0 R >>",
                b"<< /Title (Round) /Parent 4 0 R /Next 5 0 R /First 5 0 R /Dest [3 0 R /Fit] >>",
                b"<< /Length 41 >>\nstream\nBT /F 12 Tf 20 100 Td (Some words) Tj ET \nendstream",
            ]
        )
    )
    header, pages = split(parser.parse(path))
    assert header.metadata.outline == ((0, "Round"),)
    assert pages[0].text == "Some words"


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (b"", EmptyDocument, "no bytes"),
        (b"x" * 2000 + b"%PDF-1.4", UnknownFormat, "not a PDF"),
        (b"%PDF-1.4\nand then nothing of the sort", DamagedDocument, "cannot be read"),
        (
            raw_pdf([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [] /Count 0 >>"]),
            EmptyDocument,
            "no pages",
        ),
        (
            raw_pdf([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>"]),
            (EmptyDocument, ExtractionFailed, DamagedDocument),
            "Budget",
        ),
    ],
)
def test_unreadable_file_raises_error(parser: DocumentParser, tmp_path: Path, data, error, message) -> None:
    path = tmp_path / "stored-under-a-hash"
    path.write_bytes(data)
    with pytest.raises(error, match=message) as caught:
        list(parser.parse(path, name="Budget.pdf"))
    assert "Budget.pdf" in str(caught.value)


def test_leading_junk_and_missing_trailer_are_accepted(parser: DocumentParser, tmp_path: Path) -> None:
    whole = three(tmp_path / "a.pdf").read_bytes()
    (tmp_path / "junk.pdf").write_bytes(b"Received: by mx.example.org\r\n\r\n" + whole)
    (tmp_path / "cut.pdf").write_bytes(whole[: whole.rindex(b"xref")])
    for name in ("junk.pdf", "cut.pdf"):
        _, pages = split(parser.parse(tmp_path / name))
        assert "This is page one." in pages[0].text


def test_encrypted_file_needs_its_password(parser: DocumentParser, tmp_path: Path) -> None:
    path = encrypted(tmp_path / "locked.pdf", "open sesame")
    for password in (None, "wrong"):
        with pytest.raises(EncryptedDocument, match=r"locked\.pdf is encrypted"):
            list(parser.parse(path, password=password))
    _, pages = split(parser.parse(path, password="open sesame"))
    assert "This is page one." in pages[0].text
    _, pages = split(parser.parse(encrypted(tmp_path / "a.pdf", "")))
    assert len(pages) == 3


def test_too_many_pages_raise_error(tmp_path: Path) -> None:
    with (
        closing(DocumentParser(ocr="off", max_pages=2)) as parser,
        pytest.raises(DocumentTooLarge, match=r"3 pages.*2 allowed.*Split it"),
    ):
        list(parser.parse(three(tmp_path / "a.pdf")))


def test_missing_text_is_reported_after_the_last_page(parser: DocumentParser, tmp_path: Path) -> None:
    path = make(tmp_path / "blank.pdf", lambda canvas: canvas.rect(10, 10, 50, 50), lambda canvas: None)
    pages = []
    with pytest.raises(EmptyDocument, match="RAG_OCR=auto"):
        pages.extend(parser.parse(path))
    assert [page.state for page in pages[1:]] == [PageState.EMPTY] * 2


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("hangs.pdf", "longer than 3 s"),
        ("crashes.pdf", "crashed"),
        ("eats.pdf", "512 MB"),
        ("raises.pdf", "a bug of ours"),
    ],
)
def test_failing_page_does_not_affect_other_pages(
    hostile: DocumentParser, tmp_path: Path, name: str, reason: str
) -> None:
    _, pages = split(hostile.parse(three(tmp_path / name)))
    assert [page.state for page in pages] == [PageState.TEXT, PageState.FAILED, PageState.TEXT]
    assert reason in pages[1].reason
    assert "page three" in pages[2].text


def test_printed_output_does_not_disturb_the_protocol(hostile: DocumentParser, tmp_path: Path) -> None:
    _, pages = split(hostile.parse(three(tmp_path / "chatters.pdf")))
    assert [page.state for page in pages] == [PageState.TEXT] * 3


def test_parsing_stops_after_consecutive_failures(hostile: DocumentParser, tmp_path: Path) -> None:
    path = make(tmp_path / "all-crashes.pdf", *[lines("text")] * 9)
    pages = []
    with pytest.raises(ExtractionFailed, match=r"No page of all-crashes\.pdf"):
        pages.extend(hostile.parse(path))
    assert len(pages) == 1 + 9
    assert "not tried" in pages[-1].reason


def test_crash_while_opening_raises_error(hostile: DocumentParser, tmp_path: Path) -> None:
    with pytest.raises(ExtractionFailed, match="could not be opened: the reader crashed"):
        list(hostile.parse(three(tmp_path / "dies-at-open.pdf")))
    assert len(list(hostile.parse(three(tmp_path / "fine.pdf")))) == 4


def test_crash_while_reading_metadata_loses_only_metadata(hostile: DocumentParser, tmp_path: Path) -> None:
    header, pages = split(hostile.parse(three(tmp_path / "dies-at-metadata.pdf")))
    assert header == DocumentHeader(3, PdfFormat.parser_version)
    assert [page.state for page in pages] == [PageState.TEXT] * 3


def test_cancellation_stops_a_hanging_page(hostile: DocumentParser, tmp_path: Path) -> None:
    start = time.monotonic()
    items = list(hostile.parse(three(tmp_path / "hangs.pdf"), cancelled=lambda: time.monotonic() > start + 1))
    assert time.monotonic() - start < 20
    assert all(page.state is PageState.TEXT for page in items[1:])


def test_cancellation_between_pages(parser: DocumentParser, tmp_path: Path) -> None:
    calls = iter([False] * 4)
    path = make(tmp_path / "many.pdf", *[lines("text")] * 40)
    assert len(list(parser.parse(path, cancelled=lambda: next(calls, True)))) < 8


def test_closed_iterator_frees_the_worker(parser: DocumentParser, tmp_path: Path) -> None:
    iterator = parser.parse(three(tmp_path / "a.pdf"))
    next(iterator)
    iterator.close()
    assert len(list(parser.parse(tmp_path / "a.pdf"))) == 4


def test_worker_ends_when_its_input_is_closed(tmp_path: Path) -> None:
    worker = process.WorkerProcess(512)
    worker.ask(build_opening(PdfFormat(), three(tmp_path / "a.pdf"), None), 20)
    worker._process.stdin.close()
    assert worker._process.wait(10) == 0
    worker.kill()


def test_environment_of_worker_has_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a secret")
    worker = process.WorkerProcess(512)
    environment = Path(f"/proc/{worker.pid}/environ")
    if environment.exists():
        worker.ask({"do": "close"}, 20)
        assert b"a secret" not in environment.read_bytes()
    worker.close()


def test_import_loads_no_heavy_library() -> None:
    code = (
        "import sys, rag_core.parsing.parser, rag_core.parsing.rendering;"
        "print(sorted({'pypdfium2', 'pypdf', 'rapidocr', 'PIL', 'cv2', 'onnxruntime'} & set(sys.modules)))"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "[]"
