"""Questions about the library and small talk are told from questions that documents answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rag_core.answering.library_questions import LibraryAnswerer
from rag_core.embedding.bundled import BundledEmbedder

SMALL_TALK = {
    "greeting": [
        *("Hello", "hi!", "Hey", "Good morning", "hello there", "Hallo", "Guten Tag", "Guten Morgen", "Bonjour"),
        *("Salut !", "¡Hola!", "Buongiorno"),
    ],
    "thanks": ["Thanks!", "thank you", "OK, thanks", "Danke schön", "Vielen Dank!", "Merci", "Gracias", "Grazie"],
    "abilities": [
        *(
            "What can you do?",
            "what can you help me with?",
            "Who are you?",
            "How do you work?",
            "What is this app for?",
        ),
        *("Was kannst du?", "Wer bist du?", "Wobei kannst du mir helfen?", "Que peux-tu faire ?", "¿Qué sabes hacer?"),
    ],
    "documents": [
        *(
            "Which documents do you have?",
            "what files are there",
            "List all documents",
            "How many documents are there?",
        ),
        *("Welche Dokumente hast du?", "Wie viele Dokumente gibt es?", "Quels documents as-tu ?"),
        *("Quels fichiers as-tu ?", "¿Qué documentos tienes?", "¿Qué archivos tienes?"),
    ],
    "pages": [
        *("How many pages has bridge.pdf?", "How many pages does bridge.pdf have?", "how long is bridge.pdf"),
        *("How many pages has the report?", "Wie viele Seiten hat bridge.pdf?", "Wie viele Seiten hat das Dokument?"),
        *("Combien de pages a le document ?", "¿Cuántas páginas tiene el documento?"),
    ],
}
ORDINARY = [
    "What is the budget of the Zanzibar bridge?",
    "How many documents does the bank need for a loan?",
    "Which documents does a tenant have to bring?",
    "How many pages may an application have at most?",
    "How long is the probation period?",
    "What can I do if the parcel is damaged?",
    "How does the coffee machine work?",
    "Who do I call in an emergency?",
    "Who is responsible for data protection?",
    "Tell me about the history of the company",
    "List all fees for late payment",
    "To whom does the author give thanks?",
    "Does the hotel serve a good breakfast in the morning?",
    "What is the document about?",
    "Welche Dokumente muss der Mieter vorlegen?",
    "¿Qué puede hacer el inquilino?",
    "Que peut faire le locataire ?",
    "Was kann ich mitbringen?",
    "Wie viele Seiten darf der Bericht haben?",
    "How many documents were leaked, and who found them?",
]


@pytest.fixture(scope="module")
def library(embedder: BundledEmbedder) -> LibraryAnswerer:
    nothing: Any = None
    generations: Any = SimpleNamespace(active=lambda: SimpleNamespace(embedder=embedder))
    return LibraryAnswerer(nothing, generations)


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in SMALL_TALK.items() for text in texts])
def test_kind_is_recognized(library: LibraryAnswerer, kind: str, text: str) -> None:
    assert library.classify_question(text) == kind
    assert library.is_small_talk(text) == (kind in ("greeting", "thanks"))


@pytest.mark.parametrize("question", ORDINARY)
def test_question_for_documents_is_of_no_kind(library: LibraryAnswerer, question: str) -> None:
    assert library.classify_question(question) is None


def test_long_text_is_of_no_kind(library: LibraryAnswerer) -> None:
    assert (
        library.classify_question("Hello, " + "I would like to know how much the bridge costs and who pays for it")
        is None
    )
