"""The names of file formats in messages, and their endings."""

from __future__ import annotations

import pytest

from rag_core.types.formats import AcceptedFormats, FormatDescription

PDF = FormatDescription("PDF", "PDF", (".pdf",), "application/pdf")
TEXT = FormatDescription("text", "text file", (".txt", ".text"), "text/plain")
WEB = FormatDescription("HTML", "web page", (".html",), "text/html")


@pytest.mark.parametrize(
    ("formats", "names"), [((PDF,), "PDF"), ((PDF, TEXT), "PDF or text"), ((PDF, TEXT, WEB), "PDF, text or HTML")]
)
def test_formats_are_listed(formats: tuple[FormatDescription, ...], names: str) -> None:
    assert AcceptedFormats(formats).names == names


@pytest.mark.parametrize(
    ("name", "found", "has_suffix"),
    [
        ("a.pdf", PDF, True),
        ("A.TXT", TEXT, True),
        ("b/a.text", TEXT, True),
        ("a", PDF, False),
        ("txt", PDF, False),
        ("b/~$a.txt", TEXT, False),
    ],
)
def test_format_is_found_by_the_name_of_a_file(name: str, found: FormatDescription, has_suffix: bool) -> None:
    accepted = AcceptedFormats((PDF, TEXT))
    assert (accepted.find_by_name(name), accepted.has_suffix(name)) == (found, has_suffix)
