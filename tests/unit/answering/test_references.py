from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.answering.references import resolve
from rag_core.types import Passage
from tests.unit.answering.samples import over_two_pages, passage

CAPEX = passage(1, "3M makes tape. Capital expenditure was $1,749 million in 2022. It was $1,603 million in 2021.")
SALES = passage(2, "Net sales were $34.2 billion. They fell by 3 %.")
CASH = passage(3, "Cash at year-end was $3.7 billion.")
ALL = [CAPEX, SALES, CASH]


def test_each_marker_gets_the_sentence_that_supports_it() -> None:
    text, citations = resolve("Capex was $1,749 m [1], up from $1,603 m [1]. Net sales fell by 3 % [2].", ALL)
    assert text == "Capex was $1,749 m [1], up from $1,603 m [1]. Net sales fell by 3 % [2]."
    assert [(one.marker, one.quote) for one in citations] == [
        (1, "Capital expenditure was $1,749 million in 2022."),
        (1, "It was $1,603 million in 2021."),
        (2, "They fell by 3 %."),
    ]


def test_a_citation_says_where_it_stands() -> None:
    _, (citation,) = resolve("Capital expenditure was $1,749 million [1].", ALL)
    assert citation.passage_rank == citation.marker == 1
    assert (citation.document, citation.page_index, citation.page_label) == ("report.pdf", 3, "iv")
    page = " " * 100 + CAPEX.text
    assert page[citation.start : citation.end] == citation.quote


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("[1, 2]", "[1][2]"),
        ("[1; 2]", "[1][2]"),
        ("[1 and 2]", "[1][2]"),
        ("[1-3]", "[1][2][3]"),
        ("[1\u20133]", "[1][2][3]"),
        ("[ 1 ]", "[1]"),
        ("[01]", "[1]"),
        ("[^1]", "[1]"),
        ("\u30101\u3011", "[1]"),
        ("\u30101\u2020source\u3011", "[1]"),
        ("\uff3b\uff11\uff0c\uff12\uff3d", "[1][2]"),
        ("[passage 2]", "[2]"),
        ("[Passages 1, 3]", "[1][3]"),
        ("[1, 9]", "[1]"),
        ("[1-900000]", "[1][2][3]"),
        ("[2, 2]", "[2]"),
    ],
)
def test_variants_become_the_normal_form(written: str, normal: str) -> None:
    statement = "Expenditure, net sales and cash at year-end were $1,749 million in total"
    text, citations = resolve(f"{statement} {written}.", ALL)
    assert text == f"{statement} {normal}."
    assert [one.marker for one in citations] == [int(number) for number in re.findall(r"\d", normal)]


@pytest.mark.parametrize("marker", ["[4]", "[0]", "[2022]", "[9, 8]", "\u30109\u3011", f"[{'9' * 5000}]", "[7-9]"])
def test_a_marker_of_no_passage_goes_with_its_blank(marker: str) -> None:
    assert resolve(f"Net sales fell {marker}. Then?", ALL) == ("Net sales fell. Then?", ())
    assert resolve(f"{marker} Net sales fell.\n{marker} So", ALL)[0] == "Net sales fell.\nSo"


def test_markers_after_the_full_stop_belong_to_the_sentence_before() -> None:
    _, citations = resolve("Net sales fell by 3 %. [2] Cash at year-end was $3.7 billion.[3]", ALL)
    assert [one.quote for one in citations] == ["They fell by 3 %.", "Cash at year-end was $3.7 billion."]


def test_a_marker_without_words_of_its_own_takes_those_around_it() -> None:
    _, citations = resolve("[2] Net sales fell by 3 %.", ALL)
    assert [one.quote for one in citations] == ["They fell by 3 %."]


@pytest.mark.parametrize("text", ["Penguins live in Antarctica [1].", "It was the [2].", "[3]"])
def test_a_marker_whose_passage_says_nothing_of_the_kind_goes(text: str) -> None:
    resolved, citations = resolve(text, ALL)
    assert "[" not in resolved
    assert citations == ()


@pytest.mark.parametrize("text", ["", "No marker.", "[sic] f[x] [1 apple] [a] []", "[1.5] (1) 1]"])
def test_other_brackets_stay(text: str) -> None:
    assert resolve(text, ALL) == (text, ())


def test_taking_a_marker_out_leaves_none_behind() -> None:
    text, citations = resolve("Net sales fell [[9]2] and [[8]7].", ALL)
    assert text == "Net sales fell [2] and."
    assert [one.marker for one in citations] == [2]


def test_quotes_come_from_the_first_page_only() -> None:
    both = over_two_pages("Costs rose by 4 %.", "Net sales fell by 3 %.")
    assert resolve("Net sales fell by 3 % [1].", [both]) == ("Net sales fell by 3 %.", ())
    _, (citation,) = resolve("Costs rose [1].", [both])
    assert (citation.quote, citation.start) == ("Costs rose by 4 %.", 100)


def test_chinese_is_matched_by_character() -> None:
    text = "会社は東京にある。売上高は増加した。"
    _, (citation,) = resolve("売上は増加 [1]", [passage(1, text)])
    assert citation.quote == "売上高は増加した。"


WORDS = st.sampled_from(["Net", "sales", "fell", "3", "34.2", "cash", "tape", "USA", ".", ". ", " ", "\n", "é", "会"])
MARKS = st.sampled_from(["[1]", "[2]", "[9]", "[1, 2]", "[1-3]", "【2】", "[", "]", "[[", "1", "9", "［３］", ",", "-"])
ANSWERS = st.lists(WORDS | MARKS, max_size=25).map("".join) | st.text(max_size=60)
PASSAGES = st.lists(st.lists(WORDS, max_size=15).map("".join), max_size=3).map(
    lambda texts: [
        passage(rank, text) if rank != 2 else over_two_pages(text, "sales fell") for rank, text in enumerate(texts, 1)
    ]
)


@given(ANSWERS, PASSAGES)
def test_citations_and_markers_agree_and_nothing_else_changes(answer: str, passages: list[Passage]) -> None:
    text, citations = resolve(answer, passages)
    by_rank = {one.rank: one for one in passages}
    for citation in citations:
        cited = by_rank[citation.passage_rank]
        offset = citation.start - cited.start
        assert citation.quote
        assert cited.text[offset : offset + len(citation.quote)] == citation.quote
        assert citation.end - citation.start == len(citation.quote)
        assert offset + len(citation.quote) <= len(cited.first_page_text)
    assert {int(number) for number in re.findall(r"\[(\d+)\]", text)} == {one.marker for one in citations}
    assert len({(one.marker, one.start) for one in citations}) == len(citations)
    assert visible(text) == visible(answer)
    assert resolve(text, passages) == (text, citations)


def visible(text: str) -> str:
    """A text without blanks and anything a marker may be written with."""
    return re.sub(r"[\s\d\[\]【】［］,-]", "", text)
