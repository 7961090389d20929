"""The extractive reader, with vectors by which equal words are equal and all others are unrelated."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from rag_core.reading.reader import MAX_SENTENCES, quote_sentences
from rag_core.reading.sentence_scoring import Evidence, SentenceScorer
from rag_core.types import PAGE_BREAK, Passage, Question

DIMENSION = 400
_WORD = re.compile(r"\w+")
_seen: dict[str, int] = {}


def vectors(words: list[str]) -> np.ndarray:
    matrix = np.zeros((len(words), DIMENSION), np.float32)
    for row, word in enumerate(words):
        matrix[row, _seen.setdefault(word.lower(), len(_seen))] = 1.0
    return matrix


def tokens(text: str) -> tuple[np.ndarray, np.ndarray]:
    matches = list(_WORD.finditer(text))
    spans = np.array([match.span() for match in matches], np.int32).reshape(-1, 2)
    return vectors([match.group() for match in matches]), spans


def evidence(text: str, rank: int = 1, *, score: float | None = 0.7, start: int = 0, **values: Any) -> Evidence:
    given = {"page_index": 0, "heading": "", "version_id": "v", "document": "a.pdf", **values}
    passage = Passage(
        rank=rank,
        chunk_id=str(rank),
        document_id="d",
        page_label=str(given["page_index"] + 1),
        page_index_end=given["page_index"] + (PAGE_BREAK in text),
        start=start,
        end=start + len(text),
        text=text,
        scores={"rerank": score},
        **given,
    )
    return Evidence(passage, *tokens(text))


def ask(text: str, *given: Evidence) -> tuple[str, list[str], list[Any]]:
    rows, spans = tokens(text)
    question = Question(text, np.ones(DIMENSION, np.float32), rows, spans)
    weights = np.full(len(rows), 1 / max(len(rows), 1), np.float32)
    answer, citations = quote_sentences(SentenceScorer(question, weights, given))
    for citation in citations:
        source = next(item.passage for item in given if item.passage.rank == citation.passage_rank)
        cited = source.text[citation.start - source.start : citation.end - source.start]
        assert cited == citation.quote
        assert PAGE_BREAK not in citation.quote
        assert f"[{citation.marker}]" in answer
    return answer, [citation.quote for citation in citations], list(citations)


FILLER = "Trains come late. Swans live long. Old houses burn well. "
BRIDGE = "The bridge was opened in 1931 by the mayor. The budget was forty million crowns. Swans live under it today."


def test_answering_sentence_is_quoted_with_marker() -> None:
    text, quotes, (citation,) = ask("How large was its budget, in crowns?", evidence(BRIDGE, start=100))
    assert quotes == ["The budget was forty million crowns."]
    assert text == "The budget was forty million crowns. [1]"
    assert citation.start == 100 + BRIDGE.index("The budget")


TABLE = "Sales of tools, all regions\nYear 2023 2022 2021\nHammers 310 207 101\nSaws 455 380 22"
APPLES = f"Old houses burn well. Lisa sells red apples at noon. {FILLER}Lisa sells green apples at night."
ADJACENT = "Old houses burn well. Lisa sells red apples at noon.\nLisa sells green apples at night. Trains are late."
MILL = f"The mill was rebuilt in haste. {FILLER}The mill fell in 1931."
MILL_QUESTION = "was the tall mill of the north rebuilt by Anna Weir and her good friends?"
PORTS = "Harbour revenue costs\nNorthport 310 207\nEastport 455 380\nWestport 120 99\nSouthport 610 402"
DESIGNED = "She designed the tall bridge."


@pytest.mark.parametrize(
    ("question", "page", "expected"),
    [
        # Similar sentences are quoted in reading order, adjacent ones as one quote.
        ("Lisa sells green apples", APPLES, ["Lisa sells green apples at night."]),
        ("Lisa sells what apples?", APPLES, ["Lisa sells red apples at noon.", "Lisa sells green apples at night."]),
        ("Lisa sells what apples?", ADJACENT, ["Lisa sells red apples at noon.\nLisa sells green apples at night."]),
        # A sentence with the requested type of answer is preferred.
        (f"When {MILL_QUESTION}", MILL, ["The mill was rebuilt in haste.", "The mill fell in 1931."]),
        (f"How {MILL_QUESTION}", MILL, ["The mill was rebuilt in haste."]),
        # A sentence with a pronoun is quoted with the one before, unless that is long.
        ("Who designed the tall bridge?", f"Swans sing. Anna Weir left. {DESIGNED}", [f"Anna Weir left. {DESIGNED}"]),
        ("Who designed the tall bridge?", f"Anna Weir {'walked on and on ' * 10}. {DESIGNED}", [DESIGNED]),
        # A table row is quoted with its column header or its row of years.
        ("Westport revenue", PORTS, ["Harbour revenue costs", "Westport 120 99"]),
        ("Saws", TABLE, ["Year 2023 2022 2021", "Saws 455 380 22"]),
        ("Saws", "Year 2023 2022\nHammers 310 207\nAll is well now.\nSaws 455 380\nAxes 1 2", ["Saws 455 380"]),
        # A heading is not part of the list above.
        (
            "How do I spin the loom?",
            "To spin the loom you need:\na) a frame.\nb) a wheel.\n\n4. Looms and frames\n\nSwans live long.",
            ["To spin the loom you need:\na) a frame.\nb) a wheel."],
        ),
        # White space is kept in the quote.
        (
            "Its budget in crowns",
            "Its budget\nwas forty   million\ncrowns.",
            ["Its budget\nwas forty   million\ncrowns."],
        ),
    ],
)
def test_best_sentences_are_quoted(question: str, page: str, expected: list[str]) -> None:
    text, quotes, _ = ask(question, evidence(page))
    assert quotes == expected
    assert " ".join(text.replace("[1]", "").split()) == " ".join(" ".join(expected).split())


def test_number_of_quoted_sentences_is_limited() -> None:
    page = " ".join(f"Lisa sells apples of sort {number}." for number in range(9))
    _, quotes, _ = ask("Lisa sells what apples?", evidence(page))
    assert " ".join(quotes).count("Lisa") == MAX_SENTENCES


@pytest.mark.parametrize(
    ("listed", "quoted"),
    [
        ("spin start", "spin start"),
        ("• a red frame\n\n• a blue wheel", "• a red frame\n\n• a blue wheel"),
        ("1) Turn it.\n\n2) Wait now.", "1) Turn it.\n\n2) Wait now."),
        ("1 Turn it.\n2 Wait now.\n3 Open it.", "1 Turn it.\n2 Wait now.\n3 Open it."),
        ("(a) a red frame;\n(b) events of a great storm; or\n(c) a wheel.",) * 2,
        ("a) Turn it well.\nb) Wait\nuntil now.\nc) Open it.",) * 2,
        ("\n".join(f"({letter}) a frame of the sort that turns round;" for letter in "abcdefgh") + "\n(i) a wheel.",)
        * 2,
        ("\n\n".join(f"• item {number} of a very long list" for number in range(30)), None),
    ],
    ids=[
        "a command as short as a heading",
        "items",
        "numbered",
        "numbered without points",
        "lettered",
        "sentences on two lines",
        "of a hundred words",
        "a very long list",
    ],
)
def test_text_after_a_colon_is_quoted_with_it(listed: str, quoted: str | None) -> None:
    page = f"{FILLER}To spin the loom this is what you need:\n\n{listed}\n\n{FILLER}"
    text, quotes, _ = ask("How do I spin the loom?", evidence(page))
    if quoted is None:
        assert quotes[0].count("•") < 30
        assert 140 <= len(text.split()) < 170
        assert text.endswith("list … [1]")
    else:
        assert quotes == [f"To spin the loom this is what you need:\n\n{quoted}"]
        assert "…" not in text


@pytest.mark.parametrize(
    ("after", "quoted"),
    [
        ("\n\nYes, turn the wheel.", "\n\nYes, turn the wheel."),
        ("\n\nYou need:\n• a frame.\n• a wheel.", "\n\nYou need:\n• a frame.\n• a wheel."),
        ("\nWhere is the boat?\nWho is there?", ""),
    ],
    ids=["sentence", "list", "next question"],
)
def test_question_is_quoted_with_its_answer(after: str, quoted: str) -> None:
    _, quotes, _ = ask("How do I spin the loom?", evidence(f"{FILLER}How do I spin the loom?{after}\n\n{FILLER}"))
    assert quotes == [f"How do I spin the loom?{quoted}"]


def test_list_cut_by_passage_end_has_an_ellipsis() -> None:
    page = "To spin the loom this is what you need:\n(a) a red frame;\n(b) a blue wheel; or"
    text, _, _ = ask("How do I spin the loom?", evidence(page))
    assert text.endswith("or … [1]")


def test_list_in_overlapping_passage_is_quoted() -> None:
    first = f"{FILLER}To spin the loom you need:"
    second = "you need:\n\nspin start now\n\nSwans live long."
    _, quotes, _ = ask("How do I spin the loom?", evidence(first), evidence(second, 2, start=first.index("you")))
    assert quotes == ["To spin the loom you need:", "spin start now"]
    assert ask("How do I spin the loom?", evidence(first))[1] == ["To spin the loom you need:"]


@pytest.mark.parametrize(
    ("question", "is_cut"),
    [
        ("Who designed the stone bridge?", True),
        ("Who designed the bridge before which a ferry with sheep went?", False),
    ],
)
def test_long_sentence_is_cut_to_the_answering_clause(question: str, is_cut: bool) -> None:
    rest = "the ferry went from one shore to the other with sheep and carts and people " * 3
    clause = "the stone bridge was designed by Anna Weir from the north."
    page = f"For years {rest.strip()}; {clause}"
    text, quotes, _ = ask(question, evidence(page))
    assert quotes == [clause if is_cut else page]
    assert text == (f"… {clause} [1]" if is_cut else f"{page} [1]")


def test_row_of_years_is_never_the_answer() -> None:
    _, quotes, _ = ask("Year 2021", evidence(TABLE))
    assert quotes != ["Year 2023 2022 2021"]


@pytest.mark.parametrize("period", ["2019", "Q3 2019", "the third quarter of 2019"])
def test_sentences_of_requested_period_are_preferred(period: str) -> None:
    other = "The grand old mill of Anna Weir sold bread in 2018, with great success."
    page = f"{other} {FILLER}The mill sold bread in {period}."
    _, quotes, _ = ask(f"What bread was sold by the grand old mill in {period}?", evidence(page))
    assert f"The mill sold bread in {period}." in quotes


def test_table_row_has_the_years_of_its_header() -> None:
    page = f"Saws are red. {FILLER}Saws rust soon. {FILLER}Saws cut well. {FILLER}\n\n{TABLE}"
    _, quotes, _ = ask("Which saws sold in 2021?", evidence(page))
    assert "Saws 455 380 22" in quotes
    _, quotes, _ = ask("Which saws sold in 1999?", evidence(page))
    assert "Saws 455 380 22" not in quotes


def test_only_one_page_is_quoted() -> None:
    first = evidence("Lisa sells red apples at noon.", 1, score=0.8)
    second = evidence("Lisa sells green apples at night.", 2, score=0.7, page_index=1)
    other = evidence("Lisa sells blue apples at dawn.", 3, score=0.7, version_id="w", document="b.pdf")
    _, quotes, (citation,) = ask("Who sells apples?", first, second, other)
    assert quotes == ["Lisa sells red apples at noon."]
    assert citation.page_index == 0


def test_sentence_in_two_passages_is_quoted_once() -> None:
    page = "Swans live here. Lisa sells red apples at noon. Trains are late."
    first = evidence(page[:47], 1)
    second = evidence(page[17:], 2, start=17)
    _, quotes, citations = ask("Lisa sells red apples", first, second)
    assert quotes == ["Lisa sells red apples at noon."]
    assert citations[0].marker == 1


def test_sentences_of_better_passage_are_preferred() -> None:
    weak = evidence("Lisa sells red apples at noon.", 1, score=0.3)
    strong = evidence("Lisa sells green apples at night.", 2, score=0.9, page_index=1)
    _, _, (citation,) = ask("Who sells apples?", weak, strong)
    assert (citation.marker, citation.passage_rank, citation.page_label) == (2, 2, "2")


@pytest.mark.parametrize("heading", ["Lisa sells apples", "Trade › Lisa sells apples"])
@pytest.mark.parametrize("line", ["Lisa sells apples", "LISA SELLS APPLES", "4 Lisa sells apples"])
def test_heading_is_never_the_answer(heading: str, line: str) -> None:
    page = f"{line}\n\nThe fruit is red and Lisa is eighty years old by now."
    _, quotes, _ = ask("Lisa sells apples", evidence(page, heading=heading))
    assert not [quote for quote in quotes if quote.strip() == line]


TEXT_BELOW = "\n\nThe firm of Acme Robotics makes red robots and has sold them everywhere for years."


@pytest.mark.parametrize(
    ("page", "question"),
    [
        ("Acme Robotics plc Annual Report 2023" + TEXT_BELOW, "Where is Acme Robotics plc based?"),
        ("Minutes of Acme Robotics plc,\n7 February 2024" + TEXT_BELOW, "Who leads Acme Robotics plc?"),
        ("Invoice No. 8841 to Acme Robotics" + TEXT_BELOW, "How much is the total of invoice 8841 to Acme Robotics?"),
        ("Terms.\n\n2. Duties of Acme Robotics" + TEXT_BELOW, "What are the duties of Acme Robotics?"),
        ("Terms.\n\nAcme Robotics in 2023" + TEXT_BELOW, "Who leads Acme Robotics?"),
        ("Terms.\n\n3.3 Robots of Acme Robotics" + TEXT_BELOW, "Which robots of Acme Robotics are there?"),
        ("Terms.\n\n3 Acme Robotics\n\n3.1 ACME-330" + TEXT_BELOW, "What does Acme Robotics do?"),
    ],
    ids=["a year", "a date", "a number", "numbered", "not the first", "a section", "of two levels"],
)
def test_title_is_not_the_answer(page: str, question: str) -> None:
    text, _, _ = ask(question, evidence(page))
    assert text.startswith("The firm")


def test_column_header_is_quoted_with_a_row() -> None:
    header = "All of the robots of Acme Robotics by name, place and year"
    _, quotes, _ = ask("Red robots of Acme by name", evidence(f"Swans live long.\n\n{header}\n\nRed 3 4\n\nBlue 5 6"))
    assert "\n".join(quotes).startswith(f"{header}\n\nRed 3 4")


@pytest.mark.parametrize(
    ("page", "question"),
    [
        ("Minutes of Acme Robotics, 7 February 2024" + TEXT_BELOW, "When were the minutes of Acme Robotics made?"),
        ("Invoice No. 8841 to Acme" + TEXT_BELOW, "What is the number of the invoice to Acme?"),
        ("Terms.\n\n1. Rice of Acme\n\n2. Beans of Acme\n\n3. Fish\n\nThe end.", "Rice of Acme"),
        ("Terms.\n\nAcme was founded in 2023\n\nIt moved to Leeds in 2024", "Who founded Acme?"),
        ("Terms.\n\n3.5 million robots of Acme" + TEXT_BELOW, "How many robots of Acme are there?"),
        ("Terms.\n\n12 robots of Acme" + TEXT_BELOW, "Which robots of Acme are there?"),
    ],
    ids=["a date", "a number", "an item", "a statement", "a count", "a number of things"],
)
def test_line_with_requested_detail_is_not_a_title(page: str, question: str) -> None:
    text, _, _ = ask(question, evidence(page))
    assert text.startswith(page.removeprefix("Terms.\n\n").split("\n")[0])


def test_text_of_next_page_is_not_quoted() -> None:
    page = f"The fruit is red and sweet. Lisa told everyone that she{PAGE_BREAK}sells apples at noon."
    _, quotes, _ = ask("Who sells apples at noon?", evidence(page))
    assert not any("noon" in quote for quote in quotes)


def test_without_matching_words_there_is_no_answer() -> None:
    assert ask("Who?")[:2] == ("", [])
    assert ask("Who sells?", evidence("…"))[:2] == ("", [])
    assert ask("…", evidence(BRIDGE))[:2] == ("", [])


def test_passage_without_score_can_be_quoted() -> None:
    _, quotes, _ = ask("budget in crowns", evidence(BRIDGE, score=None))
    assert quotes == ["The budget was forty million crowns."]
