"""Negations, antonyms, months and scales in five languages."""

from __future__ import annotations

from itertools import product

import pytest

from rag_core.text.annotated import AnnotatedText
from rag_core.text.contradictions import find_antonyms
from rag_core.text.languages import ANTONYMS, INTERJECTION, detect_language, identify_language, languages_differ
from rag_core.verification.verifier import verify_answer
from tests.support.passages import passage


def supported(statement: str, source: str) -> bool:
    return all(claim.supported for claim in verify_answer(f"{statement} [1]", [passage(1, source)]).statements)


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


@pytest.mark.parametrize(
    ("source", "right", "wrong"),
    [
        (
            "Smoking is forbidden throughout the building. Dogs are permitted.",
            [
                "No, smoking is forbidden throughout the building.",
                "**No**, smoking is forbidden throughout the building.",
                "No. Smoking is forbidden throughout the building.",
                "No – smoking is not allowed throughout the building.",
                "Yes, dogs are permitted.",
            ],
            [
                "Yes, smoking is allowed throughout the building.",
                "Smoking is permitted throughout the building.",
                "No, smoking is not forbidden throughout the building.",
                "No, dogs are not permitted.",
            ],
        ),
        (
            "Dogs are not allowed on the premises.",
            ["Dogs are forbidden on the premises.", "No, dogs are not allowed on the premises."],
            ["Dogs are not forbidden on the premises.", "Yes, dogs are allowed on the premises."],
        ),
        ("Smoking is not forbidden there.", ["Smoking is not forbidden there."], ["Smoking is forbidden there."]),
        ("The contract ends on 31 March 2027.", ["No, the contract ends on 31 March 2027."], ["No contract ends."]),
        ("No, the contract ends on 31 March 2027.", ["The contract ends on 31 March 2027."], []),
        ("No smoking is permitted here.", ["No smoking is permitted here."], ["Smoking is permitted here."]),
        (
            "Das Rauchen im Treppenhaus ist nicht gestattet.",
            [
                "Das Rauchen im Treppenhaus ist nicht gestattet.",
                "Nein, das Rauchen im Treppenhaus ist nicht gestattet.",
                "Das Rauchen im Treppenhaus ist verboten.",
            ],
            ["Das Rauchen im Treppenhaus ist gestattet.", "Ja, das Rauchen im Treppenhaus ist gestattet."],
        ),
        ("Das Rauchen ist hier verboten.", ["Das Rauchen ist hier nicht erlaubt."], ["Das Rauchen ist hier erlaubt."]),
        ("Der Mieter zahlt keine Kaution.", ["Der Mieter zahlt keine Kaution."], ["Der Mieter zahlt eine Kaution."]),
        (
            "Hunde dürfen nur mit Zustimmung der Vermieterin gehalten werden.",
            ["Hunde dürfen mit Zustimmung der Vermieterin gehalten werden."],
            ["Hunde dürfen ohne Zustimmung der Vermieterin gehalten werden.", "Hunde dürfen nicht gehalten werden."],
        ),
        ("Der Umsatz ist um 5 % gesunken.", ["Der Umsatz sank um 5 %."], ["Der Umsatz ist um 5 % gestiegen."]),
        ("Les chiens ne sont pas admis.", ["Non, les chiens ne sont pas admis."], ["Les chiens sont admis."]),
        (
            "La coopérative n'exporte pas hors de l'Union européenne.",
            ["La coopérative n'exporte pas hors de l'Union européenne."],
            ["La coopérative exporte hors de l'Union européenne.", "La coopérative exporte hors de l'UE."],
        ),
        ("Le bail n'est plus en vigueur.", ["Le bail n'est plus en vigueur."], ["Le bail est en vigueur."]),
        ("La production a baissé de 2 %.", ["La production a diminué de 2 %."], ["La production a augmenté de 2 %."]),
        (
            "El inquilino no puede subarrendar la vivienda.",
            ["No, el inquilino no puede subarrendar la vivienda."],
            ["Sí, el inquilino puede subarrendar la vivienda."],
        ),
        ("Se permite entrar sin casco.", ["Se permite entrar sin casco."], ["Se permite entrar con casco."]),
        (
            "Il fumo è vietato nell'edificio.",
            ["Il fumo non è consentito nell'edificio."],
            ["Il fumo è consentito nell'edificio."],
        ),
        ("Nessun animale è ammesso.", ["Nessun animale è ammesso."], ["Ogni animale è ammesso."]),
    ],
)  # fmt: skip
def test_statement_and_its_negation_are_distinguished(source: str, right: list[str], wrong: list[str]) -> None:
    assert [statement for statement in right if not supported(statement, source)] == []
    assert [statement for statement in wrong if supported(statement, source)] == []


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("Le bail commence le 3 mars 2022.", "Le bail commence le 3 avril 2022."),
        ("Le bail commence le 1er mars 2022.", "Le bail commence le 1er mai 2022."),
        ("Die Miete steigt am 1. Juli 2023 um 5 Prozent.", "Die Miete steigt am 1. Juni 2023 um 5 Prozent."),
        ("Die Miete steigt im März 2023.", "Die Miete steigt im Mai 2023."),
        ("El contrato empieza el 3 de abril de 2022.", "El contrato empieza el 3 de mayo de 2022."),
        ("Il contratto inizia il 3 aprile 2022.", "Il contratto inizia il 3 maggio 2022."),
        ("Le bénéfice est de 12,4 millions d'euros.", "Le bénéfice est de 12,4 milliards d'euros."),
        ("Le bénéfice est de 12,4 millions d'euros.", "Le bénéfice est de 12,9 millions d'euros."),
        ("Der Preis beträgt 12,5 Millionen Euro.", "Der Preis beträgt 12,5 Milliarden Euro."),
        ("Der Preis beträgt 12,5 Mio. Euro.", "Der Preis beträgt 12,5 Mrd. Euro."),
        ("El precio es de 5 mil millones de euros.", "El precio es de 5 millones de euros."),
        ("Il prezzo è di 5 milioni di euro.", "Il prezzo è di 5 miliardi di euro."),
    ],
)
def test_months_and_scales_are_distinguished(source: str, wrong: str) -> None:
    assert supported(source, source)
    assert not supported(wrong, source)


def test_question_has_no_negations() -> None:
    assert AnnotatedText("Ist das Rauchen nicht gestattet?").negations == []


def test_yes_before_a_statement_is_not_a_statement() -> None:
    answer = verify_answer(
        "Yes. The contract ends on 31 March 2027 [1].", [passage(1, "The contract ends on 31 March 2027.")]
    )
    assert [answer.text[statement.start : statement.end] for statement in answer.statements] == [
        "The contract ends on 31 March 2027"
    ]


def test_yes_alone_is_unsupported() -> None:
    assert [
        statement.supported for statement in verify_answer("Yes.", [passage(1, "Dogs are allowed.")]).statements
    ] == [False]


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


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Wie hoch ist das Budget der Brücke?", "German"),
        ("Quel est le budget du pont ?", "French"),
        ("¿Cuál es el presupuesto del puente?", "Spanish"),
        ("Qual è il costo della nuova rete?", "Italian"),
        ("What is the budget of the bridge?", "English"),
        ("Jaki jest budżet mostu?", ""),
        ("Income per share 1.96 2.40, income per unit 3.10", ""),
        ("What tribes were in Father Le Loutre's War?", ""),
        ("", ""),
    ],
)
def test_language_is_identified_by_several_words(text: str, language: str) -> None:
    assert identify_language(text) == language
