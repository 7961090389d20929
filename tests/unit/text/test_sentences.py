"""Division of text into sentences."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.text.sentences import MAX_SENTENCE_CHARS, find_sentence_spans


def pieces(text: str) -> list[str]:
    return [text[start:end] for start, end in find_sentence_spans(text)]


def test_abbreviations_and_decimals_do_not_end_a_sentence() -> None:
    text = "Mr. Smith paid $1.5 million to U.S. Steel Inc. last year.  He left 😀. Done"
    assert pieces(text) == [
        "Mr. Smith paid $1.5 million to U.S. Steel Inc. last year.",
        "He left 😀.",
        "Done",
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "The max. load is 500 kg incl. the hook.",
        "The price is € 412,50 excl. VAT and at max. €500 a day.",
        "Use oil acc. to ISO 6743, cf. para. 7 and Annex B No. 3.",
        "Die Miete beträgt ca. 900 Euro zzgl. Nebenkosten inkl. MwSt. pro Monat.",
        "Der Umsatz wuchs auf 171,6 Mio. €, nach 3 Mrd. Euro und 20 Tsd. EUR.",
        "Es endet 28. Februar oder zum 15. eines Monats.",
        "Am 3. Werktag nach dem 1. 7. 2023 ist sie fällig.",
        "It is abbreviated as in\nEq. (3) and in Ref. [6] for short, but not in Ref. [7].",
        "Build it with\nsh ./configure or ../tools/build.",
        "The columns are\n(1) (2) (3) (4) of the table.",
        "The call is at 4:30 p.m. ET on Friday.",
        "Doors open at 8 P.M. PST (9 p.m.\nMountain Time) on 3 May.",
        "It begins at 9:00 a.m. (CET) in the hall.",
        "The distance between hook and beam is approx.\n45 cm and begins on the 3.\nfloor.",
    ],
)
def test_sentence_continues_after_abbreviation_or_ordinal(sentence: str) -> None:
    assert pieces(f"{sentence} Next one.") == [sentence, "Next one."]


@pytest.mark.parametrize(
    "text",
    [
        "It takes 10 min.| Then stir.",
        "It closes at 5 p.m.| Eastern farms stay open.",
        "The answer is no.| He left.",
        "Keep that in mind.| The shop is a gem.| He left.",
        "Weight approx.\n\n|The chain holds.",
        "Prices excl.\n|• The first.",
    ],
)
def test_sentence_ends_after_abbreviation_if_another_begins(text: str) -> None:
    assert pieces(text.replace("|", "")) == [part.strip() for part in text.split("|")]


def test_number_belongs_to_the_line_it_begins() -> None:
    text = "He left.\n\n4. Products excluded\n\nFish\n\n1. Press Start. 2. Wait."
    assert pieces(text) == ["He left.", "4. Products excluded", "Fish", "1. Press Start.", "2. Wait."]


@pytest.mark.parametrize("mark", ["(2)", "(a)", "(iv)", "2)", "c)"])
def test_list_marks_do_not_change_sentence_ends(mark: str) -> None:
    text = f"{mark} The customer pays. The fee is due.\n{mark} The licence ends. It stops."
    assert pieces(text) == [f"{mark} The customer pays.", "The fee is due.", f"{mark} The licence ends.", "It stops."]


CLAUSE = (
    "The supplier shall indemnify the customer against all losses, claims and costs that arise\n"
    "out of a breach of clause 4, of negligence or of any act of its staff, provided that the\n"
    "customer tells the supplier of the claim within 30 days, lets it conduct the defence and\n"
    "does not admit anything without its consent, and further provided that the supplier does\n"
    "not answer for what the customer has changed itself, for what was made to its drawings, or\n"
    "for goods that were used with those of others, where without these there would have been no\n"
    "breach of a patent or of a trade secret of that third party, and that its liability under\n"
    "this clause shall in no event exceed two million pounds in any year."
)


def test_long_sentence_over_many_lines_is_one_sentence() -> None:
    assert len(CLAUSE) > MAX_SENTENCE_CHARS
    assert pieces(f"{CLAUSE}\nNext one.") == [CLAUSE, "Next one."]


@pytest.mark.parametrize(
    "text",
    [
        "Net sales 1,021 970\ncost of sales 512 490\nof which abroad 102 97",
        "\n".join(f"item {number} of the list" for number in range(40)),
        "\n".join(f"wheel\nframe {number}\nred paint" for number in range(40)),
        "Property Value\nVoltage 230 V\nPower 1,450 W\nWeight 4.6 kg\nCable length 1.2 m",
        "Invoice date: 3 September 2023\nDue date: 3 October 2023\nTotal: £1,014.00",
    ],
)
def test_table_rows_and_long_lists_are_divided_into_lines(text: str) -> None:
    assert pieces(text) == text.split("\n")


@pytest.mark.parametrize("blank", ["\xa0", "\u2003", "\u2028", "\x85", "\u3000"])
def test_unicode_white_space_separates_words(blank: str) -> None:
    assert pieces(f"See{blank}Note{blank}5.{blank}Sales fell.") == [f"See{blank}Note{blank}5.", "Sales fell."]


@given(st.text() | st.text("aB1 .!?\n\r\t\f\u2028😀。()", max_size=1000))
def test_spans_are_ordered_and_trimmed_and_cover_the_text(text: str) -> None:
    spans = find_sentence_spans(text)
    assert all(start < end for start, end in spans)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())


def test_lone_surrogate_is_accepted() -> None:
    assert len(pieces("Sales\ud800 fell. So?")) == 2


@pytest.mark.parametrize(
    "text",
    [
        "The old mill of 1802 was rebuilt\nafter the fire of 1840 by the town,\nwhich paid 300 crowns for it",
        "Net sales rose by 5 percent to 10.2 million pounds in 2022\nfrom 9.7 million, or 4 percent, in 2021.",
        "Greenleaf Garden Supplies\n5 Mill Lane\nExeter EX4 2PQ",
        "Effects of Screens on 180 Pupils\nA Trial in Three Towns\nin 2019",
        "Service Port Protocol\nWeb 8443 TCP\nMetrics 9100 TCP\nDiscovery 5353 UDP",
        "Shall I compare thee to a day\nThou art more lovely\nRough winds do shake",
    ],
    ids=["prose", "figures in each line", "an address", "a title", "columns", "a poem"],
)
def test_other_lines_are_not_divided(text: str) -> None:
    assert pieces(text) == [text]
