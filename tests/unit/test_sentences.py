from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.sentences import sentence_spans


def pieces(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


def test_abbreviations_and_decimals_do_not_end_a_sentence() -> None:
    text = "Mr. Smith paid $1.5 million to U.S. Steel Inc. last year.  He left 😀. Done"
    assert pieces(text) == [
        "Mr. Smith paid $1.5 million to U.S. Steel Inc. last year.",
        "He left 😀.",
        "Done",
    ]


@pytest.mark.parametrize("blank", ["\xa0", "\u2003", "\u2028", "\x85", "\u3000"])
def test_blanks_outside_ascii_are_blanks(blank: str) -> None:
    assert pieces(f"See{blank}Note{blank}5.{blank}Sales fell.") == [f"See{blank}Note{blank}5.", "Sales fell."]


@given(st.text() | st.text("aB1 .!?\n\r\t\f\u2028😀。", max_size=1000))
def test_spans_are_ordered_trimmed_and_hold_every_visible_character(text: str) -> None:
    spans = sentence_spans(text)
    assert all(start < end for start, end in spans)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())


def test_half_a_surrogate_pair_does_no_harm() -> None:
    assert len(pieces("Sales\ud800 fell. So?")) == 2
