"""Convert the check of a text for exports: paragraphs for Markdown and PDF, and rows for CSV."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from io import StringIO

from rag_core.answering.export import Block, remove_secrets
from rag_core.settings import Settings
from rag_core.types.answer_markup import Paragraph
from rag_core.types.checks import VERDICT_WORDS, CheckedStatement
from rag_core.types.formatting import escape_formula
from rag_core.types.local_time import get_today

_COLUMNS = ("Number", "Sentence", "Result", "Document", "Page", "Source")


def list_check_blocks(checked: Sequence[CheckedStatement]) -> Iterator[tuple[str, Block]]:
    """Yield the paragraphs of a checked text in order, each with the name of its style; see `export.write_markdown`."""
    yield "title", Paragraph.of("Check of a text")
    counts = Counter(one.verdict for one in checked)
    found = " · ".join(f"{words}: {counts[verdict]:,}" for verdict, words in VERDICT_WORDS.items())
    yield "date", Paragraph.of(f"Checked with Footnote, exported {get_today():%Y-%m-%d}. {found}.")
    for number, one in enumerate(checked, 1):
        yield "answer", Paragraph.of(f"[{number}] {' '.join(one.statement.split())}")
        yield "source", Paragraph.of(" · ".join(filter(None, (one.words, _describe_source(one)))))


def export_csv(settings: Settings, checked: Sequence[CheckedStatement]) -> bytes:
    """Return CSV with a row for each sentence, in UTF-8 with a byte order mark, which spreadsheets need."""
    target = StringIO()
    writer = csv.writer(target)
    writer.writerow(_COLUMNS)
    for number, one in enumerate(checked, 1):
        place = (one.citation.document, one.citation.page_label, one.citation.quote) if one.citation else ("", "", "")
        cells = (remove_secrets(settings, text) for text in (one.statement, one.words, *place))
        writer.writerow([number, *map(escape_formula, cells)])
    return target.getvalue().encode("utf-8-sig")


def _describe_source(one: CheckedStatement) -> str:
    if one.citation is None:
        return ""
    return f"{one.citation.document}, page {one.citation.page_label}: “{' '.join(one.citation.quote.split())}”"
