"""Claims of a generated answer: citations of supporting passages, marks of contradicted and unsupported claims."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.embedding.bundled import BundledEmbedder
from rag_core.types.retrieval import Passage
from rag_core.verification.attribution import SourceComparison, attribute_claims
from rag_core.verification.support import create_text_encoder
from rag_core.verification.verified_answer import VerifiedAnswer

QUESTION = "What does the Zanzibar bridge cost?"
TEXTS = (
    "The council met on 4 May. The budget of the Zanzibar bridge is 42 million euros. Building ends next May.",
    "Penguins breed on the island. Four thousand pairs were counted by the rangers in spring.",
    "(in millions)  2022  2021\nNet sales  14,694  14,544\nGross profit  2,725  2,820",
)


def passage(rank: int, text: str) -> Passage:
    return Passage(rank, str(rank), "d", "v", f"report {rank}.pdf", 0, "1", 0, 0, len(text), text, "", {})


PASSAGES = [passage(rank, text) for rank, text in enumerate(TEXTS, 1)]


@pytest.fixture(scope="module")
def attribute(embedder: BundledEmbedder):
    encode = create_text_encoder(embedder)
    return lambda text: attribute_claims(text, QUESTION, PASSAGES, encode)


def marks(answer: VerifiedAnswer) -> list[str]:
    return [claim.mark_text for claim in answer.statements]


@pytest.mark.parametrize(
    ("written", "cited", "quote"),
    [
        ("It is 42 million euros.", "It is 42 million euros [1].", "The budget of the Zanzibar bridge is 42 million"),
        ("**42 million euros**", "**42 million euros [1]**", "The budget of the Zanzibar bridge"),
        ("Four thousand pairs breed there.", "Four thousand pairs breed there [2].", "Four thousand pairs"),
        ("Net sales were $14,694 million.", "Net sales were $14,694 million [3].", "Net sales  14,694  14,544"),
        ("- Cost: 42 million euros\n- Pairs: 4,000", "- Cost: 42 million euros [1]\n- Pairs: 4,000 [2]", "The budget"),
        ("| Cost |\n|---|\n| 42 million euros |", "| Cost |\n|---|\n| 42 million euros [1] |", "The budget"),
    ],
)
def test_unmarked_claim_gets_a_citation_of_its_passage(attribute, written: str, cited: str, quote: str) -> None:
    answer = attribute(written)
    assert answer.text == cited
    assert answer.citations[0].quote.startswith(quote)
    assert all(citation.added for citation in answer.citations)
    assert all(claim.supported for claim in answer.statements)


def test_correct_marker_is_kept(attribute) -> None:
    answer = attribute("It is 42 million euros [1]. Four thousand pairs were counted [2].")
    assert answer.text == "It is 42 million euros [1]. Four thousand pairs were counted [2]."
    assert [(citation.marker, citation.added) for citation in answer.citations] == [(1, False), (2, False)]


@pytest.mark.parametrize("wrong", ["[2]", "[3]", "[9]", "[2][3]"])
def test_wrong_marker_is_replaced(attribute, wrong: str) -> None:
    answer = attribute(f"The budget of the Zanzibar bridge is 42 million euros {wrong}. Net sales rose to 14,694.")
    assert answer.text == "The budget of the Zanzibar bridge is 42 million euros [1]. Net sales rose to 14,694 [3]."
    assert {(citation.marker, citation.added) for citation in answer.citations} == {(1, True), (3, True)}


@pytest.mark.parametrize(
    ("written", "cited"),
    [
        ("[1] The bridge costs 42 million euros.", "The bridge costs 42 million euros [1]."),
        ("[1]. The bridge costs 42 million euros.", "The bridge costs 42 million euros [1]."),
        ("[2] 42 million euros", "42 million euros [1]"),
        (
            "[1] It costs 42 million euros.\n[2] Four thousand pairs.",
            "It costs 42 million euros [1].\nFour thousand pairs [2].",
        ),
        ("According to [1], it costs 42 million euros.", "According to [1], it costs 42 million euros."),
        ("[1] says that it costs 42 million euros.", "[1] says that it costs 42 million euros."),
    ],
)
def test_leading_marker_is_moved_behind_its_claim(attribute, written: str, cited: str) -> None:
    assert attribute(written).text == cited


def test_markers_after_a_paragraph_apply_to_all_its_claims(attribute) -> None:
    text = "- Cost: 42 million euros\n- Pairs: 4,000\n\nSources: [1][2]"
    answer = attribute(text)
    assert answer.text == text
    assert [(citation.marker, citation.added) for citation in answer.citations] == [(1, False), (2, False)]


def test_claims_and_citations_have_correct_offsets(attribute) -> None:
    answer = attribute("No. The bridge costs 42 million euros. Building ends next May [3].")
    claims = [answer.text[claim.start : claim.end] for claim in answer.statements]
    assert claims == ["The bridge costs 42 million euros", "Building ends next May"]
    for citation in answer.citations:
        assert PASSAGES[citation.passage_rank - 1].text[citation.start : citation.end] == citation.quote


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("Net sales were 15,130 in total [3].", "15,130"),
        ("The bridge will cost 77 million euros to build, maintain and insure [1].", "77 million euros"),
        ("The bridge is built by Strabag [1].", "Strabag"),
        ("Die Brücke kostet 77 Millionen Euro.", "77 Millionen Euro"),
    ],
)
def test_value_that_no_source_states_is_marked(attribute, written: str, value: str) -> None:
    assert marks(attribute(written)) == [f"not found in the sources: {value}"]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("The council met on 9 May [1].", "4 May"),
        # The value of another year.
        ("Net sales were 14,544 in 2022 [3].", "14,694"),
        ("The budget of the Zanzibar bridge is 77 million euros [1].", "42 million euros"),
        ("The budget of the Zanzibar bridge is 43 million euros.", "42 million euros"),
        ("Nine thousand pairs were counted by the rangers in spring.", "Four thousand"),
    ],
)
def test_differing_value_is_marked_with_the_value_of_the_source(attribute, written: str, value: str) -> None:
    answer = attribute(written)
    assert marks(answer) == [f"differs from the source: {value}"]
    assert answer.statements[0].compared_rank == answer.citations[0].passage_rank
    assert not answer.statements[0].supported


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("In 2022:\n- Net sales: 14,694\n- Gross profit: 2,725", []),
        ("In 2022:\n- Net sales: 14,544\n- Gross profit: 2,725", ["14,694"]),
        ("**2021**\n\n* Net sales: 14,544 [3]\n* Gross profit: 2,725 [3]", ["2,820"]),
        ("In 2021:\n1. Net sales: 14,694", ["14,544"]),
        ("- Net sales:\n  - 2022: 14,694\n  - 2021: 2,820", ["14,544"]),
        ("| | 2021 |\n| --- | ---: |\n| Net sales | 14,544 |\n| Gross profit | 2,725 |", ["2,820"]),
        ("| Bridge | Budget (million euros) |\n| --- | --- |\n| Zanzibar | 42 |", []),
        ("The budget of the Zanzibar bridge is\n- 42 million euros.", []),
    ],
)
def test_item_is_compared_with_its_introduction_also_while_it_is_written(
    attribute, embedder: BundledEmbedder, written: str, values: list[str]
) -> None:
    expected = [f"differs from the source: {value}" for value in values]
    assert list(filter(None, marks(attribute(written)))) == expected
    comparison = SourceComparison(PASSAGES, QUESTION, create_text_encoder(embedder))
    assert [claim.mark_text for claim in comparison.mark_complete_claims(f"{written}\n", 0)[0]] == expected


@pytest.mark.parametrize(
    "written",
    [
        "The budget of the Zanzibar bridge is €42 million [1].",
        "The budget of the Zanzibar bridge is about 40 million euros [1].",
        # Computed from two values of the table.
        "Net sales rose by 150 million [3].",
        # A number of things that the sources list.
        "Three matters were decided [1].",
    ],
)
def test_uncertain_difference_is_not_marked(attribute, written: str) -> None:
    assert marks(attribute(written)) == [""]


def test_unrelated_claim_is_marked(attribute) -> None:
    answer = attribute("The moon is made of green cheese. It is 42 million euros.")
    assert marks(answer) == ["not found in the sources", ""]
    assert answer.text == "The moon is made of green cheese. It is 42 million euros [1]."
    assert answer.statements[0].compared_rank in (1, 2, 3)


@pytest.mark.parametrize("written", ["Penguins like cheese.", "In May it was full.", "Zanzibar has a football team."])
def test_claim_that_shares_a_word_or_name_is_not_marked(attribute, written: str) -> None:
    assert marks(attribute(written)) == [""]


@pytest.mark.parametrize(
    ("written", "cited"),
    [
        (
            "Die Kosten der Brücke liegen bei 42 Millionen Euro.",
            "Die Kosten der Brücke liegen bei 42 Millionen Euro [1].",
        ),
        ("Der Mond besteht aus grünem Käse.", "Der Mond besteht aus grünem Käse."),
        ("桥的费用是四千二百万欧元 [1]。", "桥的费用是四千二百万欧元 [1]。"),
    ],
)
def test_text_in_another_language_gets_no_marks(attribute, written: str, cited: str) -> None:
    answer = attribute(written)
    assert answer.text == cited
    assert not any(marks(answer))


def test_statement_about_missing_information_is_no_claim(attribute) -> None:
    answer = attribute("It is 42 million euros [1]. The passages do not say who pays.")
    assert [answer.text[claim.start : claim.end] for claim in answer.statements] == ["It is 42 million euros"]


@pytest.mark.parametrize("written", ["", "[1]", "…", "Yes.", "| a |\n|---|"])
def test_text_without_claims_is_unchanged(attribute, written: str) -> None:
    answer = attribute(written)
    assert answer.text.replace("[1]", "").strip() == written.replace("[1]", "").strip()


@settings(max_examples=60, deadline=None)
@given(text=st.text(st.sampled_from("ab 4.[]12\n|*-—É漢!?,"), max_size=60))
def test_only_markers_change(attribute, text: str) -> None:
    answer = attribute(text)
    characters = [char for char in answer.text if char.isalpha() or char in "*|—!?"]
    assert characters == [char for char in text if char.isalpha() or char in "*|—!?"]
    for claim in answer.statements:
        assert 0 <= claim.start < claim.end <= len(answer.text)


KILN = (
    "Pinewick Kiln GmbH (the “Operator”) fires the kiln. The Operator heats it to 940 °C for eleven hours a day.",
    "The deposit is 250 euros and is returned within thirty working days.\nWorking pressure bar 2.5 4.0 6.5",
    "Clay worth 14,694 million crowns was sold.",
    "Three Months Ended Six Months Ended\nJune 30, June 30,\n2031 2030 2031 2030\nTiles sold 7,310 6,905 15,220 –",
)


@pytest.mark.parametrize(
    ("written", "mark"),
    [
        ("The Operator heats the kiln for eleven days.", "differs from the source: eleven hours"),
        ("The deposit is 250 dollars.", "differs from the source: 250 euros"),
        ("The deposit is 250 euros.", ""),
        ("The deposit is returned within thirty weeks.", "differs from the source: thirty working"),
        ("Clay worth 14,694 billion crowns was sold.", "differs from the source: 14,694 million"),
        ("Clay worth 14.694 billion crowns was sold.", ""),
        ("The working pressure is 6.5 mbar.", "differs from the source: 6.5"),
        ("The working pressure is 6.5 bar.", ""),
        ("In the six months to June 2031, 7,310 tiles were sold.", "differs from the source: 15,220"),
        ("In the three months to June 2031, 7,310 tiles were sold.", ""),
        ("In the six months to June 2031, 15,220 tiles were sold.", ""),
        ("Pinewick heats the kiln to 940 °C.", ""),
    ],
)
def test_units_and_cells_are_compared(embedder: BundledEmbedder, written: str, mark: str) -> None:
    encode = create_text_encoder(embedder)
    passages = [passage(rank, text) for rank, text in enumerate(KILN, 1)]
    [found] = marks(attribute_claims(written, "", passages, encode))
    assert found.endswith(mark) if mark else not found


CHANGES = "Sales in millions\n2017 2016 Change Growth\nNet sales 1,250 1,100 150 –"


@pytest.mark.parametrize(
    ("written", "source", "mark"),
    [
        ("The village church dates from the 14th century.", "The village church dates from 1340.", ""),
        ("Drivers from Chester take the A483.", "From Chester, drivers take the A55/A483 for ten miles.", ""),
        ("In 2016, net sales were 1,100.", CHANGES, ""),
        ("In 2016, net sales were 1,250.", CHANGES, "differs from the source: 1,100"),
        (
            "In 2016, net sales were 1,250.",
            "Sales in millions\n2017 2016 Change\nNet sales 1,250 1,100 150",
            "differs from the source: 1,100",
        ),
        ("In 2016, net sales were 1,100.", "2017 2016 2017 vs. 2016\nNet sales 1,250 1,100 150", ""),
        (
            "In 2016, net sales were 1,250.",
            "2017 2016 2017 vs. 2016\nNet sales 1,250 1,100 150",
            "differs from the source: 1,100",
        ),
    ],
)
def test_columns_of_changes_ordinals_and_parts_of_identifiers(
    embedder: BundledEmbedder, written: str, source: str, mark: str
) -> None:
    answer = attribute_claims(written, "", [passage(1, source)], create_text_encoder(embedder))
    assert marks(answer) == [mark]
