"""Languages of texts, and antonyms in them."""

from __future__ import annotations

from itertools import product

import pytest

from rag_core.text.annotated import AnnotatedText
from rag_core.text.contradictions import find_antonyms
from rag_core.text.languages import ANTONYMS, INTERJECTION, detect_language, languages_differ


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
        ("Revenue", ""),
        ("", ""),
    ],
)
def test_language_is_detected_by_common_words(text: str, language: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize("language", ANTONYMS)
def test_no_word_is_its_own_antonym(language: str) -> None:
    assert not any(word & other for word, other in ANTONYMS[language])


FORBIDDEN = "forbid forbids forbade forbidden prohibit prohibits prohibited prohibiting ban bans banned banning".split()
ALLOWED = "allow allows allowed allowing permit permits permitted permitting permissible".split()
FELL = "fall falls fell fallen falling decrease decreased decreasing decline declined drop dropped shrank".split()
ROSE = "rise rises rose risen rising increase increases increased increasing grow grows grew grown growing".split()


@pytest.mark.parametrize(
    ("statement_word", "source_word"),
    [*product(ALLOWED, FORBIDDEN), *product(FORBIDDEN, ALLOWED), *product(ROSE, FELL)],
)
def test_each_form_of_an_english_word_is_an_antonym(statement_word: str, source_word: str) -> None:
    (message,) = find_antonyms(
        AnnotatedText(f"Smoking is {statement_word} there."), AnnotatedText(f"Smoking is {source_word} there.")
    )
    assert message == f"the source says the opposite of “{statement_word}”"


def test_question_has_no_negations() -> None:
    assert AnnotatedText("Ist das Rauchen nicht gestattet?").negations == []


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
