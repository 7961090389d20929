"""Codes and long numbers that resemble each other."""

from __future__ import annotations

import pytest

from rag_core.text.identifiers import contains_identifier, contains_only_similar_identifier, find_identifiers


@pytest.mark.parametrize(
    ("text", "asked", "expected"),
    [
        ("Type 4X-2000 pump", "licence 27480119", False),
        ("licence 27480119", "Type 4X-2000 pump", False),
        ("licence 27480118", "licence 27480119", True),
        ("licence 27480119A", "licence 27480119", True),
        ("invoice 2023-00417A", "invoice 202300418", True),
        ("Type 4X-2001 pump", "Type 4X-2000 pump", True),
        ("Valve FT-204-91", "Valve FT-204-19", True),
    ],
)
def test_number_resembles_only_codes_with_as_many_digits_first(text: str, asked: str, expected: bool) -> None:
    assert contains_only_similar_identifier(text, find_identifiers(asked)) is expected


@pytest.mark.parametrize(
    ("text", "asked", "contains"),
    [
        ("Certificate 27\n480 120 belongs to Weber.", "certificate 27 480 120", True),
        ("Certificate 27\n480 121 belongs to Weber.", "certificate 27 480 120", False),
        ("Ask for the pump KV-\n3318 at the desk.", "pump KV-3318", True),
        ("Ask for the pump KV. 3318 litres fit.", "pump KV-3318", False),
    ],
)
def test_number_is_found_over_a_line_break(text: str, asked: str, contains: bool) -> None:
    assert contains_identifier(text, find_identifiers(asked)) is contains
