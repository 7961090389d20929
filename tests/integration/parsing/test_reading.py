"""One file read by two workers: the pages are those that one gives, whatever happens to either."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from rag_core.parsing import PdfParser
from rag_core.parsing.workers import document_reader, process
from rag_core.types import Page, PageState
from tests.support.drawn_pdfs import lines, make

PAGES = 30


@pytest.fixture(autouse=True)
def two_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_reader, "READERS", 2)
    monkeypatch.setattr(document_reader, "_LEAST_PAGES", PAGES // 2)


def long(path: Path) -> Path:
    """Whether a hyphen goes depends on what the pages before it say."""
    told = [f"Page {number} of the long-winded informa-" for number in range(PAGES)]
    return make(path, *(lines("Running header", text, f"tion on part{number}s.") for number, text in enumerate(told)))


def pages_of(extractor: PdfParser, path: Path) -> list[Page]:
    # So that both have been started by the time that the first page is read.
    workers = [extractor._pool.acquire() for _ in range(2)]
    for worker in workers:
        worker.ask({"do": "close"}, 20)
        extractor._pool.release(worker)
    return [item for item in extractor.parse(path) if isinstance(item, Page)]


def told(pages: list[Page]) -> list[object]:
    return [(page.page_index, page.page_label, page.text, page.skip, page.state, page.reason) for page in pages]


def test_two_workers_read_what_one_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = long(tmp_path / "long.pdf")
    asked: list[int] = []
    send = process.WorkerProcess.send

    def noted(worker: process.WorkerProcess, request: dict[str, object]) -> None:
        if request["do"] == "page":
            asked.append(worker.pid)
        send(worker, request)

    with closing(PdfParser(ocr="off")) as extractor:
        monkeypatch.setattr(process.WorkerProcess, "send", noted)
        by_two = pages_of(extractor, path)
        assert len(set(asked)) == 2
        monkeypatch.setattr(document_reader, "READERS", 1)
        by_one = pages_of(extractor, path)
    assert told(by_two) == told(by_one)
    assert [page.page_index for page in by_two] == list(range(PAGES))
    assert "the long-winded information on" in by_two[-1].text


def test_a_short_document_has_one_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_reader, "_LEAST_PAGES", PAGES)
    with closing(PdfParser(ocr="off")) as extractor:
        list(extractor.parse(long(tmp_path / "short.pdf")))
        assert len(extractor._pool._idle) == 1


@pytest.mark.parametrize("name", ["crashes.pdf", "hangs.pdf"])
def test_a_bad_page_costs_that_page_only(hostile: PdfParser, tmp_path: Path, name: str) -> None:
    pages = pages_of(hostile, long(tmp_path / name))
    assert [page.page_index for page in pages if page.state is PageState.FAILED] == [1]
    assert [page.page_index for page in pages] == list(range(PAGES))
    assert all(f"Page {page.page_index} " in page.text for page in pages if page.page_index != 1)


@pytest.mark.parametrize("name", ["opens-once.pdf", "opens-once-or-aborts.pdf"])
def test_a_worker_that_cannot_open_the_file_costs_nothing(hostile: PdfParser, tmp_path: Path, name: str) -> None:
    pages = pages_of(hostile, long(tmp_path / name))
    assert [page.state for page in pages] == [PageState.TEXT] * PAGES


def test_a_file_that_cannot_be_opened_again_costs_the_pages_from_there(hostile: PdfParser, tmp_path: Path) -> None:
    pages = pages_of(hostile, long(tmp_path / "opens-once-and-crashes.pdf"))
    assert pages[0].state is PageState.TEXT
    assert {page.state for page in pages[1:]} == {PageState.FAILED}
    assert "could not be opened again (bug: LookupError: not twice)" in pages[2].reason
    assert "not tried" in pages[-1].reason


def test_scanned_pages_are_left_to_one_worker(hostile: PdfParser, tmp_path: Path) -> None:
    pages = pages_of(hostile, long(tmp_path / "recognises.pdf"))
    assert {page.state for page in pages} == {PageState.OCR}
    assert len({page.reason for page in pages}) == 1
    # It keeps what recognition needs in memory, and so is ended.
    assert pages[0].reason not in {str(worker.pid) for worker in hostile._pool._idle}


def test_leaving_half_way_ends_the_workers_that_still_read(hostile: PdfParser, tmp_path: Path) -> None:
    iterator = hostile.parse(long(tmp_path / "hangs.pdf"))
    next(iterator)
    next(iterator)
    iterator.close()
    assert len(pages_of(hostile, long(tmp_path / "fine.pdf"))) == PAGES
