"""Values that follow from the sources, and rows of Markdown tables, compared with the rows of the sources."""

from __future__ import annotations

import pytest

from rag_core.embedding.bundled import BundledEmbedder
from rag_core.types.answers import Claim
from rag_core.verification.attribution import SourceComparison
from rag_core.verification.support import create_text_encoder
from tests.support.passages import passage

MILLS = (
    "Table 1. Flour sold by mill (thousand tonnes)\nMill 2031 2030 2029\n"
    "Northmill 71.9 62.3 58.8\nSouthmill 26.7 27.6 29.1\nHillmill 49.6 49.4 47.0\n"
    "The rats took much.\nLosses (57) 34 12",
    "The mills owe 46.5 million crowns. Of this, 30 million crowns is a mortgage.\n"
    "The yearly rent of the granary is 197,100 crowns. Penalties may reach 8 % of the yearly rent.",
    "The mill race is 1,127 metres long. Grinding costs 0.32 euros for each kilogram.\n"
    "In May the millers sold the old weir. So ended 2031.",
    "The mill opens from 6:30 to 11:30.\n"
    "A sack of flour costs 38.50 euros. In 2031 the shop had 214,380 customers, against 203,915 in 2030.",
    "The lease of the mill began on 1 June 2021 and has a term of five years. The miller was born in 1955 and took "
    "over in 1999. The shop opens from 8:00 to 12:30. Of its 46 guests, 21 were women. The yard measures 2.4 hectares.",
    "Charges by sack\nYear 2031/32 2030/31 2029/30\nBran 52.00 49.90 48.10\nGerm 66.00 64.40 61.90",
)


@pytest.fixture(scope="module")
def comparison(embedder: BundledEmbedder) -> SourceComparison:
    passages = [passage(rank, text) for rank, text in enumerate(MILLS, 1)]
    return SourceComparison(passages, "", create_text_encoder(embedder))


@pytest.mark.parametrize(
    ("written", "calculation"),
    [
        ("Northmill sold 15.4% more flour than a year before.", "71.9 / 62.3 - 1 = 15.4%"),
        ("Northmill sold 9.6 thousand tonnes more than a year before.", "71.9 - 62.3 = 9.6 thousand"),
        ("Northmill and Hillmill together sold 121.5 thousand tonnes.", "71.9 + 49.6 = 121.5 thousand"),
        ("All mills sold 148.2 thousand tonnes.", "71.9 + 26.7 + 49.6 = 148.2 thousand"),
        ("Apart from the mortgage, the mills owe 16.5 million crowns.", "46.5 million - 30 million = 16.5 million"),
        ("Penalties may reach 15,768 crowns of the yearly rent.", "8 % × 197,100 = 15,768 crowns"),
        ("The mill race is about 1.1 kilometres long.", "1,127 × 0.001 = 1.1 kilometres"),
        ("Grinding costs 32 cents for each kilogram.", "0.32 euros × 100 = 32 cents"),
        ("The shop had about 10,500 more customers in 2031.", "214,380 - 203,915 = 10,500"),
        ("Two sacks of flour cost 77 euros.", "38.50 euros × Two = 77 euros"),
        ("The lease of the mill ends on 31 May 2026.", "1 June 2021 + five years = 31 May 2026"),
        ("The miller was 44 when he took over.", "1999 - 1955 = 44"),
        ("The shop opens for 270 minutes.", "12:30 - 8:00 = 270 minutes"),
        ("25 of the 46 guests were men.", "46 - 21 = 25"),
        ("The yard measures 24,000 square metres.", "2.4 × 10000 = 24,000 square"),
    ],
)
def test_calculated_value_is_not_marked_and_its_calculation_is_given(
    comparison: SourceComparison, written: str, calculation: str
) -> None:
    [found] = comparison.attribute(written).statements
    assert (found.mark_text, found.calculation) == ("", f"calculated: {calculation}")


@pytest.mark.parametrize(
    ("written", "mark"),
    [
        ("Northmill sold 18.4% more flour than a year before.", "not found in the sources: 18.4%"),
        ("| Northmill | 71.9 | 62.3 | 58.8 |", ""),
        ("| Northmill | 2031: 71.9 | 2030: 62.3 | 2029: 58.8 |", ""),
        ("| Northmill | 71.9 | 62.3 | 47.0 |", "differs from the source: 58.8"),
        ("| Northmill | 2031: 71.9 | 2030: 27.6 | 2029: 58.8 |", "differs from the source: 62.3"),
        ("| Losses | (57) | 34 | 29.1 |", "differs from the source: 12"),
        ("| Northmill | 71.9% | 62.3% | 58.8% |", ""),
        ("| Southmill | 26.7 | approx. 27.6 |", ""),
        ("The old weir was sold in May 2031.", ""),
        ("Northmill sold 62,300 tonnes of flour in 2030.", ""),
        ("The mill opens at 6.30 in the morning.", ""),
        ("The mill opens at 7.30 in the morning.", "not found in the sources: 7.30"),
        ("The mill opens at 11 am.", "not found in the sources: 11"),
        ("The shop opens at 8 am.", ""),
        ("The lease of the mill ends on 31 May 2029.", "not found in the sources: 31 May 2029"),
        ("The mill opens at 6.30 metres.", "not found in the sources: 6.30 metres"),
    ],
)
def test_rows_and_wrong_results_are_compared(comparison: SourceComparison, written: str, mark: str) -> None:
    assert [one.mark_text for one in comparison.attribute(written).statements] == [mark]


@pytest.mark.parametrize(
    ("row", "mark"),
    [("| Bran | 52.00 | 49.90 |", ""), ("| Bran | 52.00 | 48.10 |", "differs from the source: 49.90")],
)
def test_years_with_a_stroke_are_heads_of_one_column(comparison: SourceComparison, row: str, mark: str) -> None:
    table = f"| Charge | 2031/32 | 2030/31 |\n|---|---|---|\n{row}"
    assert [one.mark_text for one in comparison.attribute(table).statements if one.mark_text] == [mark] * bool(mark)


def test_complete_statements_of_a_beginning_are_marked(comparison: SourceComparison) -> None:
    text = "The mill race is 1,127 metres long. The yearly rent is 179,100 crowns [2]. The mills owe 99"
    assert comparison.mark_complete_claims(text, 0) == (
        [Claim(36, 69, False, "", "contradicted", "197,100 crowns", 2)],
        text.index("The mills"),
    )
