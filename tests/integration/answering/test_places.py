"""Questions that name a page or a section are answered from it, with and without a language model."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from shutil import copytree

import pytest

from rag_core.engine import Engine
from rag_core.types.answers import Answer, AnswerState
from rag_core.types.conversations import Message
from tests.support.drawn_pdfs import lines, make
from tests.support.engines import add_document, open_library, scripted_engine
from tests.support.servers import complete

RULES = [
    ("§ 1 Fees", "A mooring costs 12 crowns a night, and fishing boats of the island pay nothing."),
    ("§ 2 Engines", "Engines are switched off between ten in the evening and six in the morning."),
    ("§ 3 Waste", "Oily waste is delivered to the barge of the harbour on every second Monday."),
    ("§ 4 Visitors", "Visitors report to the clerk Mirela Osk, who enters them in the green book."),
]
TREATY = [
    ["Article 1", "The valleys are Orr and Lind.", "Article 2", "The council meets in the mill of Vash."],
    ["Article 3", "Wool pays two coins a bale.", "Annex A Measures", "A bale of wool is forty kilograms."],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("places")

    def draw(heading: str, text: str, canvas) -> None:
        lines(heading, size=16)(canvas)
        lines(text, top=710)(canvas)

    rules = make(folder / "rules.pdf", *(partial(draw, *page) for page in RULES))
    with open_library(folder / "data", {"treaty.pdf": TREATY}) as engine:
        add_document(engine, "harbour-rules.pdf", rules.read_bytes())
    copytree(folder / "data", folder / "copy")
    return folder / "data"


@pytest.fixture
def copied(folder: Path, engine: Engine) -> Path:
    """Return another folder with the same documents, for an engine with a language model."""
    return folder.with_name("copy")


@pytest.fixture(scope="module")
def engine(folder: Path) -> Iterator[Engine]:
    with open_library(folder, {}) as engine:
        yield engine


@pytest.mark.parametrize(
    ("question", "begins", "contains", "lacks"),
    [
        ("What does page 3 say?", "harbour-rules.pdf, page 3:", "second Monday", "clerk"),
        ("What is on page 4 of the harbour rules?", "harbour-rules.pdf, page 4:", "Mirela Osk", "Monday"),
        ("Was steht in § 2?", "harbour-rules.pdf, “§ 2 Engines” (page 2):", "switched off", "clerk"),
        ("What does section 1 say?", "harbour-rules.pdf, “§ 1 Fees” (page 1):", "12 crowns", "Orr"),
        ("What does Article 2 say?", "treaty.pdf, “Article 2” (page 1):", "mill of Vash", "Orr"),
        ("What does Annex A say?", "treaty.pdf, “Annex A Measures” (page 2):", "forty kilograms", "two coins"),
        ("What is on the last page of treaty.pdf?", "treaty.pdf, page 2:", "two coins", "Vash"),
        ("Summarise § 4", "harbour-rules.pdf, “§ 4 Visitors” (page 4)", "Mirela Osk", "Monday"),
        ("Who enters visitors in a book according to § 4?", "", "Mirela Osk", "Monday"),
        ("What does article 3 say about wool?", "", "two coins", "kilograms"),
        ("In which section are visitors mentioned?", "", "§ 4 Visitors: ", ""),
        ("What does page 2 say?", "harbour-rules.pdf, page 2:", "treaty.pdf, page 2:", ""),
    ],
)
def test_place_is_quoted_without_model(engine: Engine, question: str, begins: str, contains: str, lacks: str) -> None:
    answer = engine.answer(question)
    assert answer.state is AnswerState.ANSWERED
    assert answer.text.startswith(begins)
    assert contains in answer.text
    assert not lacks or lacks not in answer.text
    assert all(one.quote == page_text(engine, answer, one.marker)[one.start : one.end] for one in answer.citations)


def page_text(engine: Engine, answer: Answer, marker: int) -> str:
    passage = answer.passages[marker - 1]
    return engine.documents.page(passage.document_id, passage.page_index).text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What does page 40 of harbour-rules.pdf say?", "harbour-rules.pdf has no page 40; its pages are 1 to 4."),
        ("What does § 9 of the harbour rules say?", "harbour-rules.pdf has no § 9; its sections are 1 to 4."),
        ("What does annex B of treaty.pdf say?", "treaty.pdf has no annex B; its annexes are A."),
        ("What is on page 7?", "None of the 2 documents has a page 7."),
    ],
)
def test_missing_place_is_refused_with_those_that_exist(engine: Engine, question: str, text: str) -> None:
    answer = engine.answer(question)
    assert (answer.state, answer.text) == (AnswerState.ABSTAINED, text)


def test_what_a_place_does_not_state_is_refused_with_its_name(engine: Engine) -> None:
    question = "What does page 3 of harbour-rules.pdf say about visitors?"
    answer = engine.answer(question)
    assert (answer.state, answer.question) == (AnswerState.ABSTAINED, question)
    assert answer.text.startswith("Not stated in harbour-rules.pdf, page 3.")


@pytest.mark.parametrize(
    "question",
    [
        "What does Article 1 GDPR say about consent?",
        "What does section 2 of the Penal Code say?",
        "Which debts does Chapter 11 bankruptcy protect?",
        "How many pages may an application have?",
    ],
)
def test_place_of_another_text_is_searched_for_as_usual(engine: Engine, question: str) -> None:
    answer = engine.answer(question)
    assert answer.state is AnswerState.ABSTAINED
    assert " has no " not in answer.text


def test_chosen_document_is_the_one_that_is_looked_into(engine: Engine) -> None:
    answer = engine.answer("What does page 2 say?", documents=["treaty.pdf"])
    assert answer.text.startswith("treaty.pdf, page 2:")


def test_capable_model_reads_only_the_pages_of_the_place(copied: Path) -> None:
    script = [complete("Oily waste goes to the barge [1].")]
    with scripted_engine(copied, *script, openai_context_tokens=32_000) as (engine, endpoint):
        answer = engine.answer("What does § 3 say?")
    prompt = endpoint.requests[0]["messages"][-1]["content"]
    assert "second Monday" in prompt
    assert "Mirela" not in prompt
    assert "Vash" not in prompt
    assert [one.page_label for one in answer.citations] == ["3"]


def test_place_is_asked_for_in_a_conversation(engine: Engine) -> None:
    first = engine.answer("What does page 3 of harbour-rules.pdf say?")
    now = datetime.now(UTC)
    history = [Message("1", "user", first.question, now), Message("2", "assistant", first.text, now, first)]
    answer = engine.answer("And what does page 4 of harbour-rules.pdf say?", history=history)
    assert answer.text.startswith("harbour-rules.pdf, page 4:")


COURSE = [
    ["A beginner's course on basketry", "By Runa Eld. Withies are cut in winter."],
    ["Chapter One: Tools", "A bodkin opens the weave.", "Chapter Two: Soaking", "Willow is soaked for nine days."],
]
BYLAW = [
    ["Wegesatzung der Gemeinde Tannloh", "§ 1 Zweck", "Die Wege dienen allen."],
    ["§ 2 Pflege", "Die Bauern mähen die Ränder im Juli."],
]
REPORT = [["The quarry of Skell", "A report for the county"], ["1 Stone", "The slate is blue."]]
SAWMILL = [
    ["Rapport annuel de la scierie de Vaudrel", "Tableau 1 : Les bois", "Le chêne vient du Morvan."],
    ["Annexe 1 : Les horaires", "La scierie ouvre à six heures.", "Annexe 2 : Les dons", "Un banc fut offert."],
]
MILL = [
    ["Relatório do moinho de Carvelha", "Capítulo 1: A água", "O açude tem dois metros."],
    ["Anexo B: As contas", "O moleiro paga em farinha."],
]
LOCK = [
    ["Reglement van de sluis Oudveen", "Artikel 1 Tol", "Een schip betaalt vier gulden."],
    ["Bijlage 2: Vis", "Zalm."],
]


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    files = {"p-17.pdf": COURSE, "scan_0042.pdf": BYLAW, "b2.pdf": REPORT, "treaty.pdf": TREATY}
    files |= {"f1.pdf": SAWMILL, "m3.pdf": MILL, "k9.pdf": LOCK}
    with open_library(tmp_path_factory.mktemp("described"), files) as engine:
        yield engine


@pytest.mark.parametrize(
    ("question", "begins", "contains"),
    [
        ("What does chapter 2 of the basketry course say?", "p-17.pdf, “Chapter Two: Soaking” (page 2):", "nine days"),
        ("What is chapter one of the course on baskets about?", "p-17.pdf, “Chapter One: Tools” (page 2)", "bodkin"),
        ("Was steht auf Seite 2 der Wegesatzung?", "scan_0042.pdf, page 2:", "im Juli"),
        ("Was steht in § 2 über Ränder?", "", "im Juli"),
        ("Was regelt § 1 der Satzung von Tannloh?", "scan_0042.pdf, “§ 1 Zweck” (page 1):", "dienen allen"),
        ("What is in section 1 of the report on the Skell quarry?", "b2.pdf, “1 Stone” (page 2):", "slate"),
        ("What does the Skell report say in section 1?", "b2.pdf, “1 Stone” (page 2):", "slate"),
        ("In the basketry course, what is on page 1?", "p-17.pdf, page 1:", "Runa Eld"),
        ("How many pages does the report on the Skell quarry have?", "b2.pdf has 2 pages.", ""),
        ("Wie viele Seiten hat die Wegesatzung?", "scan_0042.pdf has 2 pages.", ""),
        ("Que montre le tableau 1 du rapport de la scierie ?", "f1.pdf, “Tableau 1 : Les bois” (page 1)", "Morvan"),
        ("Que dit l'annexe 2 de la scierie ?", "f1.pdf, “Annexe 2 : Les dons” (page 2)", "banc"),
        ("O que diz o capítulo 1 do relatório do moinho?", "m3.pdf, “Capítulo 1: A água” (page 1)", "dois metros"),
        ("O que contém o anexo B do moinho?", "m3.pdf, “Anexo B: As contas” (page 2)", "farinha"),
        ("Wat zegt artikel 1 van het reglement van de sluis?", "k9.pdf, “Artikel 1 Tol” (page 1)", "gulden"),
        ("Wat staat er op pagina 2 van het reglement?", "k9.pdf, page 2:", "Zalm"),
    ],
)
def test_document_is_named_by_words_of_its_title(described: Engine, question: str, begins: str, contains: str) -> None:
    text = described.answer(question).text
    assert text.startswith(begins)
    assert contains in text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Was steht in § 19 der Wegesatzung?", "scan_0042.pdf has no § 19; its sections are 1 and 2."),
        ("What does section 2 of the report on the Skell quarry say?", "b2.pdf has no section 2; its sections are 1."),
        ("What does chapter 9 of the basketry course say?", "p-17.pdf has no chapter 9; its chapters are 1 and 2."),
    ],
)
def test_section_of_another_document_is_not_taken(described: Engine, question: str, text: str) -> None:
    answer = described.answer(question)
    assert (answer.state, answer.text) == (AnswerState.ABSTAINED, text)


@pytest.mark.parametrize("question", ["What does section 1 of the Quarry Act say?", "What does § 2 of the BGB say?"])
def test_other_text_with_a_word_of_a_title_is_not_taken_for_the_document(described: Engine, question: str) -> None:
    assert not described.answer(question).text.startswith(("b2.pdf", "scan_0042.pdf"))
