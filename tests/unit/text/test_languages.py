"""Languages of texts."""

from __future__ import annotations

import pytest

from rag_core.text.languages import INTERJECTION, detect_language, languages_differ


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Das Rauchen im Treppenhaus ist nicht gestattet.", "de"),
        ("Les chiens ne sont pas admis.", "fr"),
        ("La coopérative n'exporte pas hors de l'Union européenne.", "fr"),
        ("El inquilino no puede subarrendar la vivienda.", "es"),
        ("Il conduttore non può sublocare l'appartamento.", "it"),
        ("The tenant may not sublet the flat.", ""),
        ("How many parcels arrived in 2021?", ""),
        ("The sin of pride is non-negotiable, says Mai of Des Moines.", ""),
        ("Op het plein wordt niet geparkeerd.", "nl"),
        ("Wie viel Miete ist zu zahlen?", "de"),
        ("Revenue", ""),
        ("", ""),
    ],
)
def test_language_is_detected_by_common_words(text: str, language: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize(
    "text", ["No. 5 is the largest", "Non-current assets", "Noon, then", "No smoking", "Si vis pacem"]
)
def test_other_words_are_not_interjections(text: str) -> None:
    assert INTERJECTION.match(text) is None


@pytest.mark.parametrize(
    ("text", "source", "differ"),
    [
        ("The tower is not 88 metres tall.", "It is the tallest of the towers.", False),
        ("Der Turm ist 88 Meter hoch und alt.", "It is the tallest of the towers.", True),
        ("Der Turm ist 88 Meter hoch und alt.", "Das ist der höchste Turm, und er ist alt.", False),
        ("Башня старая.", "It is the tallest of the towers.", True),
        ("88", "It is the tallest of the towers.", False),
        ("Umsatz: 99 Euro", "Das ist der höchste Turm, und er ist alt.", False),
        ("The tower is 88 metres tall.", "Das ist der höchste Turm, und er ist alt.", True),
    ],
)
def test_different_languages_are_recognized(text: str, source: str, differ: bool) -> None:
    assert languages_differ(text, source) is differ
