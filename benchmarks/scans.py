"""Measure OCR: render pages as images, read the images, and compare the words with the text layer.

    python -m benchmarks.scans FOLDER [--pages 10] [--scale 2.5]

FOLDER contains PDFs with a text layer. Pages with at least 150 words are chosen at random (seed 0), rendered, saved as
PDFs without text, and read by OCR. Words are compared as multisets, ignoring case.
"""

from __future__ import annotations

import argparse
import io
import random
import re
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pypdfium2

from rag_core.parsing.parser import DocumentParser
from rag_core.types.documents import Page

WORD = re.compile(r"[^\W_]+")
LEAST_WORDS = 150


def words(text: str) -> Counter[str]:
    """Count the words of a text."""
    return Counter(WORD.findall(text.casefold()))


def render_page(file: Path, number: int, scale: float) -> bytes:
    """Return a PDF that contains only an image of the page."""
    document = pypdfium2.PdfDocument(file)
    picture = document[number].render(scale=scale).to_pil().convert("L")
    document.close()
    buffer = io.BytesIO()
    picture.save(buffer, "PDF", resolution=72 * scale)
    return buffer.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=10)
    parser.add_argument("--scale", type=float, default=2.5, help="pixels per point; 2.5 is 180 dpi")
    arguments = parser.parse_args()
    chance = random.Random(0)
    files = sorted(arguments.folder.glob("*.pdf"))
    recalls: list[float] = []
    with closing(DocumentParser(ocr="auto")) as reader, tempfile.TemporaryDirectory() as folder:
        while len(recalls) < arguments.pages:
            file = chance.choice(files)
            pages = [item for item in DocumentParser(ocr="off").parse(file) if isinstance(item, Page)]
            page = chance.choice(pages)
            expected = words(page.text)
            if expected.total() < LEAST_WORDS:
                continue
            scan = Path(folder) / "scan.pdf"
            scan.write_bytes(render_page(file, page.page_index, arguments.scale))
            started = time.perf_counter()
            (page_read,) = [item for item in reader.parse(scan) if isinstance(item, Page)]
            seconds = time.perf_counter() - started
            recalls.append((expected & words(page_read.text)).total() / expected.total())
            print(
                f"{file.name} page {page.page_index + 1}: {recalls[-1]:.3f} of {expected.total()} words, "
                f"{page_read.state.value}, confidence {page_read.confidence or 0:.2f}, {seconds:.1f} s",
                flush=True,
            )
    print(f"mean {sum(recalls) / len(recalls):.3f}, lowest {min(recalls):.3f}")


if __name__ == "__main__":
    main()
