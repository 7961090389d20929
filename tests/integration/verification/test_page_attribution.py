"""Claims of an answer that is written from many pages: citations of the right pages, and marks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rag_core.embedding.bundled import BundledEmbedder
from rag_core.types.retrieval import Passage
from rag_core.verification.attribution import MAX_ENCODED_CHARS, attribute_claims
from rag_core.verification.support import create_text_encoder
from rag_core.verification.verified_answer import VerifiedAnswer

QUESTION = "What does the handbook of the harbour say?"
TOPICS = (
    *("anchor", "beacon", "crane", "dredger", "engine", "ferry", "gangway", "hatch", "inspection", "jetty"),
    *("kiosk", "lighthouse", "mooring", "navigation", "office", "pilot", "quay", "radio", "signal", "tugboat"),
)
FACTS = {
    3: "The harbour crane lifts 85 tonnes. It was built by Tellin Works in 1978.",
    7: "The gangway closes at nine in the evening. The night watch opens it for crews only.",
    11: "(in euros)  2021  2022\nBerth fee  1,240  1,310\nPilot fee  460  505\nWaste fee  75  80",
    12: "Ships longer than 120 metres need two tugboats, which are ordered by radio and paid by the",
    13: "owner before departure at the Calder office. The office accepts cards.",
    17: "Visitors wear a yellow helmet. Dogs are not allowed on the quay.",
}


def fill(number: int) -> str:
    """Return sentences about the topic of a page, without figures."""
    topic = TOPICS[number - 1]
    return " ".join(
        f"The {topic} is {state} by the {who} who looks after every {topic} {when}."
        for state, who, when in (
            ("painted", "master", "in spring"),
            ("checked", "clerk", "before each season"),
            ("cleaned", "crew", "after a storm"),
            ("counted", "guard", "when the fog is gone"),
            ("named", "council", "with care"),
            ("repaired", "smith", "as long as it is safe to do so"),
            ("watched", "warden", "through the winter"),
        )
    )


def page(number: int) -> Passage:
    fact = FACTS.get(number, "")
    # The sentence that continues on the next page is the last one of its page.
    parts = (fill(number), fact) if number == 12 else (fact, fill(number))
    text = "\n".join(filter(None, parts))
    place = (number - 1, str(number), number - 1, 0, len(text))
    return Passage(number, str(number), "d", "v", "handbook.pdf", *place, text, "", {})


PAGES = [page(number) for number in range(1, len(TOPICS) + 1)]


@pytest.fixture(scope="module")
def attribute(embedder: BundledEmbedder) -> Callable[[str], VerifiedAnswer]:
    pages = [*PAGES, *(_copy(one, rank) for rank, one in enumerate(PAGES, len(PAGES) + 1))]
    assert sum(len(one.text) for one in pages) > MAX_ENCODED_CHARS
    return lambda text: attribute_claims(text, QUESTION, pages, create_text_encoder(embedder))


def _copy(one: Passage, rank: int) -> Passage:
    """Return a page of another document, without facts, so that there are enough characters."""
    text = fill(one.rank).replace("harbour", "airport")
    return Passage(
        *(rank, str(rank), "e", "w", "other.pdf", one.page_index, one.page_label, one.page_index, 0, len(text)),
        *(text, "", {}),
    )


def assert_quotes(answer: VerifiedAnswer) -> None:
    for one in answer.citations:
        if one.version_id == "v":
            assert PAGES[one.passage_rank - 1].text[one.start : one.end] == one.quote


@pytest.mark.parametrize("wrong", ["", " [9]", " [2][20]", " [33]"])
def test_citation_moves_to_the_page_that_states_the_claim(attribute, wrong: str) -> None:
    answer = attribute(f"The harbour crane lifts 85 tonnes{wrong}.")
    assert answer.text == "The harbour crane lifts 85 tonnes [3]."
    assert [(one.page_index, one.added) for one in answer.citations] == [(2, True)]
    assert answer.citations[0].quote == "The harbour crane lifts 85 tonnes."
    assert answer.statements[0].supported
    assert_quotes(answer)


def test_correct_citations_of_many_pages_stay(attribute) -> None:
    text = (
        "The harbour crane lifts 85 tonnes [3]. The gangway closes at nine in the evening [7]. "
        "Visitors wear a yellow helmet [17]."
    )
    answer = attribute(text)
    assert answer.text == text
    assert [(one.marker, one.added) for one in answer.citations] == [(3, False), (7, False), (17, False)]
    assert [one.mark for one in answer.statements] == ["", "", ""]
    assert_quotes(answer)


def test_sentence_over_a_page_break_cites_both_pages(attribute) -> None:
    claim = "Ships longer than 120 metres need two tugboats, paid by the owner before departure at the Calder office"
    answer = attribute(f"{claim} [12].")
    assert sorted({one.marker for one in answer.citations}) == [12, 13]
    assert answer.text == f"{claim} [12][13]."
    assert answer.statements[0].supported
    assert_quotes(answer)


def test_claim_of_the_first_part_alone_cites_the_first_page(attribute) -> None:
    answer = attribute("Ships longer than 120 metres need two tugboats [12].")
    assert answer.text == "Ships longer than 120 metres need two tugboats [12]."


@pytest.mark.parametrize("signs", [("-", "-", "-"), ("1.", "2.", "3."), ("*", "*", "*")])
def test_list_items_cite_their_pages(attribute, signs: tuple[str, str, str]) -> None:
    answer = attribute(
        "The rules are:\n\n"
        f"{signs[0]} The gangway closes at nine in the evening [1]\n"
        f"{signs[1]} Visitors wear a yellow helmet\n"
        f"{signs[2]} The harbour crane was built by Tellin Works in 1978 [3]"
    )
    items = answer.text.splitlines()[2:]
    assert [item.partition(" [")[2] for item in items] == ["7]", "17]", "3]"]
    assert_quotes(answer)


def test_rows_of_a_table_cite_their_pages(attribute) -> None:
    answer = attribute(
        "| Fee | 2021 | 2022 |\n| --- | --- | --- |\n"
        "| Berth fee | 1,240 | 1,310 [11] |\n"
        "| Pilot fee | 460 | 505 [4] |\n"
        "| Waste fee | 75 | 80 |"
    )
    rows = answer.text.splitlines()[2:]
    assert all(row.endswith("[11] |") for row in rows)
    assert {one.quote.split()[0] for one in answer.citations} == {"Berth", "Pilot", "Waste"}
    assert not any(one.mark for one in answer.statements)
    assert_quotes(answer)


def test_differing_value_is_marked_among_many_pages(attribute) -> None:
    answer = attribute("The harbour crane lifts 58 tonnes [3].")
    [claim] = answer.statements
    assert (claim.mark, claim.source_value, claim.compared_rank) == ("contradicted", "85 tonnes", 3)


@pytest.mark.parametrize("written", ["A ticket for the opera costs 37 dollars [5].", "Seven elephants sing opera."])
def test_invented_claim_is_marked_among_many_pages(attribute, written: str) -> None:
    answer = attribute(written)
    assert [one.mark for one in answer.statements] == ["not_found"]
    assert answer.citations == ()
    assert "[" not in answer.text


def test_language_is_that_of_the_cited_pages(embedder: BundledEmbedder) -> None:
    german = "Der Kran hebt 85 Tonnen und wird von der Firma Tellin im Hafen nicht mehr gebaut. "
    foreign = [_german(rank, german) for rank in range(len(PAGES) + 1, 2 * len(PAGES) + 20)]
    encode = create_text_encoder(embedder)
    answer = attribute_claims("The harbour crane lifts 58 tonnes [3].", QUESTION, [*PAGES, *foreign], encode)
    assert not answer.unchecked
    assert answer.statements[0].mark == "contradicted"


def _german(rank: int, text: str) -> Passage:
    return Passage(rank, str(rank), "g", "x", "kran.pdf", rank, str(rank), rank, 0, len(text), text, "", {})
