"""Near-duplicates are folded unless they differ in a figure or an important word."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from rag_core.retrieval.near_duplicates import fold_near_duplicates

WORDS = " ".join(f"{letter}{other}" for letter in "abcdefghij" for other in "klmnopqrstuv")  # 120 words


@dataclass
class Chunk:
    id: int
    text: str
    version_id: str = ""
    page_index: int = 0
    start: int = 0
    page_index_end: int = 0
    end: int = 100

    def __post_init__(self) -> None:
        self.version_id = self.version_id or f"v{self.id}"


def test_better_of_two_equal_texts_is_kept() -> None:
    chunks = [Chunk(1, "Something else."), Chunk(2, WORDS), Chunk(3, f"{WORDS.upper()}!"), Chunk(4, "More.")]
    assert fold_near_duplicates(chunks, 3) == {1: (), 2: (3,), 4: ()}


def test_texts_with_other_ends_are_folded() -> None:
    assert fold_near_duplicates([Chunk(1, WORDS), Chunk(2, f"{WORDS.split(maxsplit=2)[2]} and more")], 2) == {1: (2,)}


@pytest.mark.parametrize(
    ("first_text", "second_text"),
    [
        ("The fee is 30 dollars.", "The fee is 31 dollars."),
        ("The form is FY_2021.", "The form is FY_2022."),
        ("It is of the 1990's.", "It is of the 1990."),
        ("The seller is liable.", "The seller is not liable."),
        ("The seller isn’t liable.", "The seller is liable."),
    ],
)
@pytest.mark.parametrize("template", ["{0} {1}", "{1} {0}", "{1} {0} {1}", "{0}"])
def test_different_figure_or_negation_is_not_folded(first_text: str, second_text: str, template: str) -> None:
    long = " ".join(f"{word} {tail}" for tail in ("one", "two", "three", "four") for word in WORDS.split())
    first, second = (
        Chunk(number, template.format(text, long)) for number, text in enumerate((first_text, second_text), 1)
    )
    assert fold_near_duplicates([first, second], 2) == {1: (), 2: ()}


@pytest.mark.parametrize(
    ("first_text", "second_text"), [("The seller pays.", "The buyer pays."), ("", "It ends here.")]
)
def test_different_word_within_the_text_is_not_folded(first_text: str, second_text: str) -> None:
    first, second = (
        Chunk(number, f"{WORDS[:180]} {text} {WORDS[180:]}") for number, text in ((1, first_text), (2, second_text))
    )
    assert fold_near_duplicates([first, second], 2) == {1: (), 2: ()}


def test_overlapping_chunks_of_a_page_are_kept() -> None:
    first = Chunk(1, WORDS, "v", 0, 0, 0, 500)
    overlapping, elsewhere = Chunk(2, WORDS, "v", 0, 400, 1, 20), Chunk(3, WORDS, "v", 7, 0, 7, 500)
    assert fold_near_duplicates([first, overlapping], 2) == {1: (), 2: ()}
    assert fold_near_duplicates([first, elsewhere], 2) == {1: (3,)}


def test_only_the_first_chunks_are_compared() -> None:
    same = [Chunk(number, WORDS) for number in range(1, 10)]
    assert fold_near_duplicates(same, 2) == {1: (2, 3, 4, 5, 6), 7: ()}
    assert fold_near_duplicates(same, 9) == {1: (2, 3, 4, 5, 6, 7, 8, 9)}
    assert fold_near_duplicates([], 3) == {}


@pytest.mark.parametrize("text", ["", "…", "Total", "12"])
def test_equal_short_texts_are_folded(text: str) -> None:
    assert fold_near_duplicates([Chunk(1, text), Chunk(2, text), Chunk(3, f"{text} net")], 3) == {1: (2,), 3: ()}
