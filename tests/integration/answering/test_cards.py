"""Cards of documents: what they are, their figures, and questions that they answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas
from sqlalchemy import select

from rag_core.engine import Engine
from rag_core.store.schema import document_cards
from rag_core.types.answers import AnswerState
from rag_core.types.cards import DocumentCard
from tests.support.drawn_pdfs import lines, make, rows
from tests.support.engines import add_document, indexed, opened, scripted_engine, wait_until
from tests.support.pdfs import make_pdf
from tests.support.servers import complete

MINUTES = [
    "Minutes of the orchard society",
    "The meeting was held on 4 March 2024 in the village hall.",
    "The annual fee is 35 euros. It was not changed. The members discussed the hedge.",
    "The cider press will be repaired on 12 April 2024.",
]
LEAFLET = [
    "Merkblatt Freibad",
    "Das Freibad hat zwei Becken und eine Wiese, und Hunde sind nicht erlaubt.",
    "Der Eintritt für Erwachsene beträgt 4,50 Euro.",
]
COVER = [
    "UNITED STATES SECURITIES AND EXCHANGE COMMISSION",
    "FORM 10-K",
    "For the fiscal year ended December 31, 2022",
    "Bexley Lamps, Inc.",
    "(Exact name of registrant as specified in its charter)",
]
BALANCE_SHEET = (
    ("Cash and cash equivalents", "$ 120", "$ 115"),
    ("Receivables, net", "340", "310"),
    ("Total assets", "860", "790"),
    ("Accounts payable", "410", "402"),
    ("Total liabilities", "$ 700", "$ 655"),
)


def card_of(engine: Engine, document_id: str) -> DocumentCard:
    engine.cards.start()
    wait_until(lambda: any(one.is_complete for one in engine.cards.find([document_id]).values()))
    return engine.cards.find([document_id])[document_id]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with opened(tmp_path_factory.mktemp("cards") / "data") as engine:
        yield engine


@pytest.mark.parametrize(
    ("name", "pages", "about", "questions"),
    [
        (
            "orchard.pdf",
            [MINUTES],
            ("Minutes", "", "English"),
            ("What is the annual fee?", "When will the cider press be repaired?"),
        ),
        ("freibad.pdf", [LEAFLET], ("Leaflet", "", "German"), ("Wie viel beträgt der Eintritt für Erwachsene?",)),
        ("empty of questions.pdf", ["Geography Compared"], ("Document", "", ""), ()),
    ],
)
def test_card_says_what_a_document_is_and_its_questions_are_answered(
    library: Engine, name: str, pages: list[str | list[str]], about: tuple[str, ...], questions: tuple[str, ...]
) -> None:
    identity = indexed(library, name, *pages)
    card = card_of(library, identity)
    assert (card.kind, card.organization, card.language) == about
    assert card.questions == questions
    for question in card.questions:
        answer = library.answer(question, documents=[identity])
        assert answer.state is AnswerState.ANSWERED
        assert answer.citations


@pytest.mark.parametrize(
    ("columns", "question"),
    [
        (("December 31, 2022", "December 31, 2021"), "What were total assets on December 31, 2022?"),
        (("2021/22", "2020/21"), "What were total assets in 2021?"),
    ],
)
def test_card_of_a_filing_has_its_key_figures(
    library: Engine, tmp_path: Path, columns: tuple[str, str], question: str
) -> None:
    def draw_statement(canvas: Canvas) -> None:
        lines("Consolidated Balance Sheets", "(in millions)", top=640)(canvas)
        rows(("", *columns), *BALANCE_SHEET, places=(60, 330, 450))(canvas)

    file = make(
        tmp_path / f"bexley {columns[0].replace('/', '-')}.pdf",
        lines(*COVER),
        lines("Bexley makes lamps for shops."),
        draw_statement,
    )
    job = add_document(library, file.name, file.read_bytes())
    card = card_of(library, str(job.document_id))
    assert (card.kind, card.organization) == ("Form 10-K", "Bexley Lamps, Inc.")
    assert card.period == "Period ended December 31, 2022"
    assert [(one.label, one.value, one.column, one.unit, one.page_label) for one in card.figures] == [
        ("Total assets", "$860", columns[0], "in millions", "3"),
        ("Total liabilities", "$700", columns[0], "in millions", "3"),
    ]
    assert question in card.questions


def test_card_is_deleted_with_its_document_and_follows_its_content(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        identity = indexed(engine, "fee.pdf", "The fee is 35 crowns.")
        assert card_of(engine, identity).questions == ("What is the fee?",)
        add_document(engine, "fee.pdf", make_pdf("The rent is 9 crowns."))
        wait_until(lambda: identity in engine.cards.find([identity]))
        assert card_of(engine, identity).questions == ("What is the rent?",)
        engine.documents.delete([identity])
        with engine._stores.database.read() as connection:
            assert connection.execute(select(document_cards)).all() == []


def test_model_writes_questions_on_request_and_only_answered_ones_are_kept(tmp_path: Path) -> None:
    reply = """Here they are:
{"question": "How much is charged each year?", "quote": "The annual fee is 35 euros."}
{"question": "Who owns the moon?", "quote": "The moon belongs to nobody at all."}
{"question": "What is the moon made of?", "quote": "The members discussed the hedge."}"""
    with scripted_engine(tmp_path / "data", complete(reply)) as (engine, endpoint):
        identity = indexed(engine, "orchard.pdf", MINUTES)
        before = card_of(engine, identity)
        assert not endpoint.requests
        engine.cards.request_questions(identity)
        wait_until(lambda: not engine.cards.is_requested(identity))
        assert engine.cards.find([identity])[identity].questions == ("How much is charged each year?",)
        assert before.questions != ("How much is charged each year?",)
