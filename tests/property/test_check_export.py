"""The exports of a checked text contain every sentence."""

from __future__ import annotations

import csv
import io
import string

from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfReader

from rag_core.answering.check_export import export_csv, list_check_blocks
from rag_core.answering.export import write_markdown, write_pdf
from rag_core.settings import Settings
from rag_core.types.checks import CheckedStatement

# The font of the PDF has these characters.
SENTENCE = st.text(string.digits + string.ascii_letters + string.punctuation + " é", min_size=1, max_size=80)


def without_blanks(text: str) -> str:
    return "".join(text.split())


@given(st.lists(SENTENCE, min_size=1, max_size=5))
def test_exports_contain_every_sentence(sentences: list[str]) -> None:
    settings, checked = Settings(), [CheckedStatement(one, "unsure") for one in sentences]
    markdown = write_markdown(settings, list_check_blocks(checked)).replace("\\", "")
    pages = PdfReader(io.BytesIO(write_pdf(settings, list_check_blocks(checked)))).pages
    pdf = "".join(page.extract_text() for page in pages)
    rows = list(csv.reader(io.StringIO(export_csv(settings, checked).decode("utf-8-sig"), newline="")))
    for one, row in zip(sentences, rows[1:], strict=True):
        assert without_blanks(one.replace("\\", "")) in without_blanks(markdown)
        assert without_blanks(one.replace("~~", "")) in without_blanks(pdf.replace("~~", ""))
        assert row[1] == (f"'{one}" if one[0] in "=+-@" else one)
