"""Parsing of one file by two workers: the same pages as with one, also if a worker fails."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from rag_core.parsing.parser import DocumentParser
from rag_core.parsing.workers import document_reader, process
from rag_core.types.documents import Page, PageState
from tests.support.drawn_pdfs import lines, make

PAGES = 30


@pytest.fixture(autouse=True)
def two_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_reader, "READERS", 2)
    monkeypatch.setattr(document_reader, "_MIN_PAGES", PAGES // 2)


def long(path: Path) -> Path:
    """Make a document whose hyphenation can only be resolved with the words of earlier pages."""
    first = [f"Page {number} of the long-winded informa-" for number in range(PAGES)]
    return make(path, *(lines("Running header", text, f"tion on part{number}s.") for number, text in enumerate(first)))


def pages_of(parser: DocumentParser, path: Path) -> list[Page]:
    # Start both workers before the first page is read.
    workers = [parser._pool.acquire() for _ in range(2)]
    for worker in workers:
        worker.ask({"do": "close"}, 20)
        parser._pool.release(worker)
    return [item for item in parser.parse(path) if isinstance(item, Page)]


def contents(pages: list[Page]) -> list[object]:
    return [(page.page_index, page.page_label, page.text, page.skip, page.state, page.reason) for page in pages]


def test_two_workers_give_the_pages_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = long(tmp_path / "long.pdf")
    readers: set[int] = set()
    send = process.WorkerProcess.send

    def record(worker: process.WorkerProcess, request: dict[str, object]) -> None:
        if request["do"] == "page":
            readers.add(worker.pid)
        send(worker, request)

    with closing(DocumentParser(ocr="off")) as parser:
        monkeypatch.setattr(process.WorkerProcess, "send", record)
        by_two = pages_of(parser, path)
        assert len(readers) == 2
        monkeypatch.setattr(document_reader, "READERS", 1)
        by_one = pages_of(parser, path)
    assert contents(by_two) == contents(by_one)
    assert [page.page_index for page in by_two] == list(range(PAGES))
    assert "the long-winded information on" in by_two[-1].text


def test_short_document_has_one_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_reader, "_MIN_PAGES", PAGES)
    with closing(DocumentParser(ocr="off")) as parser:
        list(parser.parse(long(tmp_path / "short.pdf")))
        assert len(parser._pool._idle) == 1


@pytest.mark.parametrize("name", ["crashes.pdf", "hangs.pdf"])
def test_failing_page_does_not_affect_other_pages(hostile: DocumentParser, tmp_path: Path, name: str) -> None:
    pages = pages_of(hostile, long(tmp_path / name))
    assert [page.page_index for page in pages if page.state is PageState.FAILED] == [1]
    assert [page.page_index for page in pages] == list(range(PAGES))
    assert all(f"Page {page.page_index} " in page.text for page in pages if page.page_index != 1)


@pytest.mark.parametrize("name", ["opens-once.pdf", "opens-once-or-aborts.pdf"])
def test_worker_that_cannot_open_the_file_loses_no_page(hostile: DocumentParser, tmp_path: Path, name: str) -> None:
    pages = pages_of(hostile, long(tmp_path / name))
    assert [page.state for page in pages] == [PageState.TEXT] * PAGES


def test_file_that_cannot_be_reopened_loses_the_remaining_pages(hostile: DocumentParser, tmp_path: Path) -> None:
    pages = pages_of(hostile, long(tmp_path / "opens-once-and-crashes.pdf"))
    assert pages[0].state is PageState.TEXT
    assert {page.state for page in pages[1:]} == {PageState.FAILED}
    assert "could not be opened again (bug: LookupError: not twice)" in pages[2].reason
    assert "not tried" in pages[-1].reason


def test_scanned_pages_are_read_by_one_worker(hostile: DocumentParser, tmp_path: Path) -> None:
    pages = pages_of(hostile, long(tmp_path / "recognizes.pdf"))
    assert {page.state for page in pages} == {PageState.OCR}
    assert len({page.reason for page in pages}) == 1
    # A worker that has loaded the recognition models is ended, since they occupy memory.
    assert pages[0].reason not in {str(worker.pid) for worker in hostile._pool._idle}


def test_closed_iterator_ends_the_workers(hostile: DocumentParser, tmp_path: Path) -> None:
    iterator = hostile.parse(long(tmp_path / "hangs.pdf"))
    next(iterator)
    next(iterator)
    iterator.close()
    assert len(pages_of(hostile, long(tmp_path / "fine.pdf"))) == PAGES
