"""Sections are found by their first lines, and end where the next one of their level begins."""

from __future__ import annotations

import pytest

from rag_core.text.sections import DocumentSections, PageText, find_section_name
from rag_core.types.places import PlaceKind

CONTENTS = "Contents\n\n1 Moorings 2\n2 Fees 2\n2.1 Boats ...... 3\n3 Ice 3"
RULES = (
    "1 Moorings\n\nA ship has six lines.\n\n2 Fees\n\nFees are due on Monday in accordance with\nSection 3.\n\n"
    "2.1 Boats\n\nA boat pays:\n\n1. ten crowns,\n\n2. or a crate of fish."
)
END = (
    "2.2 Ships\n\nA ship pays 420 crowns.\n\n3 Ice\n\nShips wait for the icebreaker.\n\n"
    "Annex A Buoys\n\nNine buoys.\n\nTable 1: Depths"
)
LAW = "§ 1 Name\n\nDer Verein heißt Auwiese.\n\n§ 2 Sitz\n\nEr sitzt in Lohnau. Nach\n§ 1 heißt er so."


def read(texts: dict[int, str], kind: PlaceKind, label: str) -> list[str]:
    sections = DocumentSections({page: PageText(text) for page, text in texts.items()}, lambda _: {})
    _, found = sections.find(kind, label)
    spans = map(sections.find_spans, found)
    return [" ".join(" ".join(texts[page][slice(*span)] for page, span in one.items()).split()) for one in spans]


@pytest.mark.parametrize(
    ("kind", "label", "begins", "ends"),
    [
        ("section", "1", "1 Moorings A ship", "six lines."),
        ("section", "2", "2 Fees Fees are", "420 crowns."),
        ("section", "2.1", "2.1 Boats", "crate of fish."),
        ("chapter", "3", "3 Ice", "icebreaker."),
        ("annex", "A", "Annex A Buoys", "Table 1: Depths"),
        ("table", "1", "Table 1: Depths", "Table 1: Depths"),
    ],
)
def test_section_ends_at_the_next_one(kind: PlaceKind, label: str, begins: str, ends: str) -> None:
    text = read({0: CONTENTS, 1: RULES, 2: END}, kind, label)[0]
    assert text.startswith(begins)
    assert text.endswith(ends)


@pytest.mark.parametrize(("kind", "label"), [("section", "9"), ("annex", "B"), ("part", "1"), ("table", "2")])
def test_missing_section_is_not_found(kind: PlaceKind, label: str) -> None:
    assert read({0: CONTENTS, 1: RULES, 2: END}, kind, label) == []


def test_reference_in_a_sentence_is_no_heading() -> None:
    assert read({0: LAW}, "section", "1") == ["§ 1 Name Der Verein heißt Auwiese."]
    assert find_section_name(PageText(LAW), LAW.index("Lohnau"), "section") == "§ 2 Sitz"


BOOK = "Chapter One: Oars\n\nAsh is best.\n\nChapter Two\n\nSpruce floats.\n\nPart IV Sails\n\nHemp."


@pytest.mark.parametrize(
    ("kind", "label", "text"),
    [
        ("chapter", "1", "Chapter One: Oars Ash is best."),
        ("chapter", "II", "Chapter Two Spruce floats."),
        ("part", "4", "Part IV Sails Hemp."),
    ],
)
def test_number_in_words_or_in_roman_numerals_is_read(kind: PlaceKind, label: str, text: str) -> None:
    assert read({0: BOOK}, kind, label) == [text]
