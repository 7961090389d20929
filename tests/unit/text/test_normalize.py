"""Characters as people type them."""

from __future__ import annotations

import unicodedata

import pytest

from rag_core.text.normalize import normalize_characters, replace_look_alikes

EXAMPLES = {
    "\uff2b\uff38\uff0d\uff17\uff17\uff12\uff11": "KX-7721",
    "\ufb01lter of the o\ufb03ce": "filter of the office",
    "A\u20117731": "A-7731",
    "70\u00a0555\u202f018": "70 555 018",
    "step \u2463, step \u2469": "step 4, step 10",
    "Cafe\u0301": "Caf\u00e9",
    "wind\u00adscreen pump\u200bhouse": "windscreen pumphouse",
    "\U0001d400\U0001d7d3": "A5",
    "\u2116 5": "No 5",
    "12.5\u2460 and 1,234\u2461": "12.5  and 1,234 ",
}
UNCHANGED = [
    "plain text, 1.5 and 15",
    "4\u00b2 and x\u2081",
    "2\u00bd cups",
    "\u65e5\u672c\uff08\u6771\u4eac\uff09\u3001\u3068\uff01",
    "\u0e01\u0e33",
    "wait\u2026",
]


@pytest.mark.parametrize(("text", "typed"), EXAMPLES.items())
def test_text_is_as_people_type_it(text: str, typed: str) -> None:
    assert normalize_characters(text) == typed
    assert normalize_characters(typed) == typed


@pytest.mark.parametrize("text", UNCHANGED)
def test_characters_with_a_meaning_of_their_own_stay(text: str) -> None:
    assert normalize_characters(text) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize("text", [*EXAMPLES, *UNCHANGED])
def test_look_alikes_keep_their_number_of_characters(text: str) -> None:
    assert len(replace_look_alikes(text)) == len(text)
