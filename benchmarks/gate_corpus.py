"""Create the PDFs and questions that the gate is fitted on.

    apt-get install anarchism debian-handbook dict-foldoc dict-jargon dict-elements
    python -m benchmarks.gate_corpus OUT

The command extracts the paragraphs that ``gate_questions.jsonl`` asks about from the installed texts. The file
identifies the paragraphs by their SHA-256. The command adds a random sample of other paragraphs, which is the same in
every run, and writes all paragraphs to PDFs in OUT, three per page. It also writes the questions with their pages to
OUT.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import html
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.pdfs import make_pdf

QUESTIONS = Path(__file__).with_name("gate_questions.jsonl")
OTHERS = 400
A_PAGE, A_DOCUMENT = 3, 24


def text_of(markup: str) -> str:
    """Return the text of an HTML page, with blank lines between its blocks."""
    markup = re.sub(r"(?is)<(script|style|pre|head).*?</\1>", " ", markup)
    markup = re.sub(r"(?i)</?(p|div|h\d|li|br|tr|table|ul|ol|dd|dt)[^>]*>", "\n\n", markup)
    return html.unescape(re.sub(r"<[^>]+>", "", markup))


def paragraphs(text: str) -> Iterator[str]:
    """Yield the blocks of the text that have 90 to 220 words and consist of sentences."""
    for block in re.split(r"\n\s*\n", text):
        paragraph = " ".join(block.split())
        letters = sum(character.isalpha() or character == " " for character in paragraph)
        if 90 <= len(paragraph.split()) <= 220 and paragraph.count(".") >= 3 and letters / len(paragraph) > 0.93:
            yield paragraph


def read_installed() -> dict[str, str]:
    """Return a dictionary that maps hashes to the paragraphs of the installed texts, in the order of the files."""
    pages = [*Path("/usr/share/doc/anarchism").rglob("*.html"), *Path("/usr/share/doc/debian-handbook").rglob("*.html")]
    texts = [text_of(page.read_text("utf-8", errors="replace")) for page in sorted(pages)]
    for name in ("elements", "foldoc", "jargon"):
        with gzip.open(f"/usr/share/dictd/{name}.dict.dz", "rt", errors="replace") as stream:
            texts.append(stream.read())
    all_paragraphs = (paragraph for text in texts for paragraph in paragraphs(text))
    return {hashlib.sha256(one.encode()).hexdigest()[:16]: one for one in all_paragraphs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    folder = parser.parse_args().out
    (folder / "pdfs").mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    texts = read_installed()
    needed = sorted({row["passage"] for row in rows if row["passage"]})
    if missing := [one for one in needed if one not in texts]:
        raise SystemExit(f"{len(missing)} of {len(needed)} paragraphs are not in the installed versions of the texts.")
    others = sorted(texts.keys() - set(needed))
    names = needed + random.Random(0).sample(others, min(OTHERS, len(others)))
    random.Random(1).shuffle(names)
    place: dict[str, tuple[str | None, int | None]] = {}
    for first in range(0, len(names), A_DOCUMENT):
        document = f"texts_{first // A_DOCUMENT + 1}.pdf"
        of_document = names[first : first + A_DOCUMENT]
        pages = [of_document[start : start + A_PAGE] for start in range(0, len(of_document), A_PAGE)]
        place |= {one: (document, index) for index, page in enumerate(pages) for one in page}
        # The built-in font of PDFs has only Latin-1 characters.
        lines = [[texts[one].encode("latin-1", "replace").decode("latin-1") for one in page] for page in pages]
        (folder / "pdfs" / document).write_bytes(make_pdf(*lines))
    with (folder / "questions.jsonl").open("w", encoding="utf-8") as stream:
        for row in rows:
            name, index = place.get(row["passage"], (None, None))
            evidence = [{"document": name, "page_index": index}] if row["kind"] == "answerable" else []
            stream.write(json.dumps({**row, "document": name, "evidence": evidence}) + "\n")


if __name__ == "__main__":
    main()
