"""Definitions of abbreviations: their forms, languages and lists, and texts that define none."""

from __future__ import annotations

import pytest

from rag_core.text.abbreviations import choose_forms, find_abbreviations


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The Lighthouse Keepers Guild (LKG) met.", [("LKG", "Lighthouse Keepers Guild")]),
        ("The LKG (Lighthouse Keepers Guild) met.", [("LKG", "Lighthouse Keepers Guild")]),
        ("Office of National\nStatistics (the “ONS”)", [("ONS", "Office of National Statistics")]),
        ("the Bureau of Tides (hereinafter: BOT)", [("BOT", "Bureau of Tides")]),
        ("electrostatic discharge (ESD, see below)", [("ESD", "electrostatic discharge")]),
        ("Der Talsperrenverband Unterer Kocher (im Folgenden „TUK“)", [("TUK", "Talsperrenverband Unterer Kocher")]),
        ("un Kundeninformationssystem (KIS)", [("KIS", "Kundeninformationssystem")]),
        ("l'Office régional de l'eau et du sel (ci-après « ORES »)", [("ORES", "Office régional de l'eau et du sel")]),
        ("FBA (fees, bonds and annuities)", [("FBA", "fees, bonds and annuities")]),
        (
            "LBP: Low Bridge Protocol\nKIS – Kundeninformationssystem\nDR Depot Register\nAND Acts are read",
            [("LBP", "Low Bridge Protocol"), ("KIS", "Kundeninformationssystem"), ("DR", "Depot Register")],
        ),
        ("It grew by ten percent (ABC).", []),
        ("THE TOWN HALL\nof Elm (see AB)", []),
        ("Elm 4 Mill Lane (EML)", []),
    ],
)
def test_definitions_are_recognized_by_their_letters(text: str, found: list[tuple[str, str]]) -> None:
    assert list(find_abbreviations(text)) == found


def test_text_is_compared_with_the_form_that_it_contains() -> None:
    forms = {"IT": ["Isle Trust"]}
    assert choose_forms("Does the IT own ITEM 4?", "The Isle Trust owns it.", forms) == (
        "Does the Isle Trust own ITEM 4?"
    )
    assert choose_forms("Does the IT own ITEM 4?", "The Isle Trust (IT) owns it.", forms) == "Does the IT own ITEM 4?"
