"""Measure what each step of page layout contributes to the text of pages.

    python -m benchmarks.layout DATA [DATA ...]

DATA contains ``pdfs/`` and ``tests.jsonl``; `benchmarks.layout_documents` writes such a folder. Each line of
``tests.jsonl`` has ``file``, ``kind``, ``value`` and optionally ``page_index``. Without ``page_index``, the test is
about the whole document. The kinds of tests are:

- ``present``: the page contains the value;
- ``absent``: the page does not contain the value;
- ``count``: the page contains the value a given number of times;
- ``order``: the page contains several texts in the given order;
- ``row``: a line of the page contains several texts in the given order.

The table has the share of tests that pass with the text in pdfium's order, and the share of tests that pass with the
product's text. It also has the share that each step adds to the product's share, with its 95 % paired bootstrap
interval. OCR does not run.
"""

from __future__ import annotations

import argparse
import json
import unicodedata
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pypdfium2

from benchmarks.ablation import difference, share, without
from benchmarks.quality import Row
from rag_core.parsing.formats.base import UnreadableError
from rag_core.parsing.layout.assembly import PageAssembler
from rag_core.parsing.pdf.document import PdfiumDocument
from rag_core.parsing.pdf.fonts import Fonts
from rag_core.parsing.pdf.page_parser import parse_page

Texts = dict[int, str]


def _keep_runs(runs: list[Any], *_: Any) -> list[Any]:
    return runs


# `STEPS` maps the name of each step to a context manager that replaces the code of the step, which turns the step off.
LAYOUT = "rag_core.parsing.layout"
STEPS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "columns found": without(f"{LAYOUT}.reading_order.find_columns", lambda runs: None),
    "rows by position if the text jumps back": without(f"{LAYOUT}.reading_order._jumps_back", lambda runs: False),
    "cells on one baseline share a line": without(f"{LAYOUT}.reading_order._continues", lambda before, run: False),
    "runs far from their row moved to it": without(f"{LAYOUT}.reading_order.separate_strays", lambda runs: (runs, [])),
    "line numbers removed": without("rag_core.parsing.pdf.page_parser.remove_line_numbers", _keep_runs),
    "words joined over line ends": without(f"{LAYOUT}.page_text._choose_word_separator", lambda *_, **__: None),
    "accents composed": without("rag_core.parsing.pdf.page_parser.compose_accents", lambda characters: characters),
    "form fields inserted": without(
        "rag_core.parsing.pdf.page_parser.insert_form_fields", lambda reader, characters: _numbered(characters)
    ),
}


def _numbered(characters: Any) -> tuple[Any, Any]:
    return characters, range(len(characters.codes))


def read_with_layout(path: Path) -> Texts:
    """Return the texts of a file's pages in the product's layout, by page index; empty if the file is unreadable."""
    try:
        document = PdfiumDocument(path)
    except UnreadableError:
        return {}
    fonts, assembler, texts = Fonts(path, None), PageAssembler(name=path.name), {}
    for index in range(document.page_count):
        with document.open_page(index) as page:
            texts.update({done.page_index: done.text for done in assembler.add(parse_page(page, index, fonts))})
    texts.update({done.page_index: done.text for done in assembler.flush()})
    fonts.close()
    document.close()
    return texts


def read_with_pdfium(path: Path) -> Texts:
    """Return the texts of a file's pages in pdfium's order, by page index; empty if the file is unreadable."""
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError:
        return {}
    return {index: page.get_textpage().get_text_range() for index, page in enumerate(document)}


def fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split()).casefold()


def passes(test: Row, text: str) -> bool:
    """Return whether the text of a page passes a test."""
    kind, value, whole = test["kind"], test["value"], fold(text)
    if kind == "present":
        return fold(value) in whole
    if kind == "absent":
        return fold(value) not in whole
    if kind == "count":
        return whole.count(fold(value[0])) == int(value[1])
    if kind == "order":
        return _in_order(value, whole)
    return any(_in_order(value, fold(line)) for line in text.splitlines())


def _in_order(values: list[str], text: str) -> bool:
    places = [text.find(fold(value)) for value in values]
    return -1 not in places and places == sorted(places)


def measure(data: Path, tests: list[Row], read: Callable[[Path], Texts]) -> list[float | None]:
    """Return for each test 1.0 if the text passes the test, else 0.0."""
    texts = {name: read(data / "pdfs" / name) for name in sorted({test["file"] for test in tests})}
    results: list[float | None] = []
    for test in tests:
        pages, index = texts[test["file"]], test.get("page_index")
        text = "\n".join(pages.values()) if index is None else pages.get(index, "")
        results.append(float(passes(test, text)))
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+")
    for data in parser.parse_args().data:
        tests = [json.loads(line) for line in (data / "tests.jsonl").read_text("utf-8").splitlines()]
        full = measure(data, tests, read_with_layout)
        print(f"| {data.name} | passed |\n| --- | --- |")
        print(f"| pdfium's order | {share(measure(data, tests, read_with_pdfium))} |")
        print(f"| all steps | {share(full)} |", flush=True)
        for name, off in STEPS.items():
            with off():
                less = measure(data, tests, read_with_layout)
            print(f"| {name} | {difference(full, less)} |", flush=True)


if __name__ == "__main__":
    main()
