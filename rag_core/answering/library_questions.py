"""Answer small talk, and questions about the application and its library, without a search and a language model.

A question is compared with examples of each kind. It has the kind of an example if their vectors are similar, so
wording and language may differ.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from rag_core.answering.named_documents import FILE_NAME, NamedDocuments
from rag_core.chunking.document_titles import SEPARATOR
from rag_core.embedding.embedder import Embedder
from rag_core.reading.summary_requests import asks_for_summary, is_generic_document_word, is_kind_of_document
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.stores import Stores
from rag_core.text.grammar import split_tokens
from rag_core.text.place_requests import TITLE, asks_only_for_content
from rag_core.types.arrays import FloatArray
from rag_core.types.documents import DocumentInfo
from rag_core.types.formatting import format_count
from rag_core.types.searches import Query

Kind = Literal["greeting", "thanks", "abilities", "documents", "pages", "other"]
# Examples of each kind of question; "other" are questions in similar words that only documents answer.
EXAMPLES: Mapping[Kind, tuple[str, ...]] = {
    "greeting": (
        "Hello",
        "Hi",
        "Hi there",
        "Good evening",
        "Good morning",
        "Hey, how are you?",
        "Hallo",
        "Guten Tag",
        "Guten Morgen",
        "Bonjour",
        "Salut",
        "¡Hola!",
        "Buongiorno",
    ),
    "thanks": (
        "Thanks",
        "Thanks a lot",
        "OK, thanks",
        "Thank you very much",
        "Danke",
        "Vielen Dank",
        "Merci",
        "Merci beaucoup",
        "Gracias",
        "Grazie",
    ),
    "abilities": (
        *("What can you do?", "How can you help me?", "Who are you?", "What can this tool do?", "What can I ask you?"),
        *("Tell me about yourself", "What are you able to do?", "How does this work?"),
        *("How do you work?", "How do I use this app?", "Was kannst du?", "Wer bist du?", "Was kann ich dich fragen?"),
        *("Wobei kannst du mir helfen?", "Que peux-tu faire ?", "Qui es-tu ?", "¿Qué puedes hacer?", "¿Quién eres?"),
    ),
    "documents": (
        *("Which documents do you have?", "What documents do you have?", "What files are there?", "List all documents"),
        *("Which PDFs are available?", "List the files", "What docs have you got?"),
        *("Which documents can you search?", "Show me the documents in the library", "How many documents do you have?"),
        *("Which documents are uploaded?", "What's in the library?", "How many files are there?"),
        *("Welche Dokumente hast du?", "Welche Dateien gibt es?", "Wie viele Dokumente hast du?"),
        *(
            "Quels documents as-tu ?",
            "Quels fichiers as-tu ?",
            "Combien de documents as-tu ?",
            "¿Qué documentos tienes?",
            "¿Cuántos documentos hay?",
        ),
    ),
    "pages": (
        *("How many pages does the document have?", "How many pages has the file?", "How many pages has the report?"),
        "How long is the document?",
        *(
            "Wie viele Seiten hat das Dokument?",
            "Combien de pages a le document ?",
            "¿Cuántas páginas tiene el documento?",
        ),
    ),
    "other": (
        *("How many documents are required?", "Which documents must be submitted?", "Which files are created?"),
        *("How many chapters does the document have?", "How many pages may a report have?", "What is the file size?"),
        *("Who wrote the document?", "What is the document about?", "When was the document signed?"),
        *("How do I install the app?", "How does the machine work?", "How can I pay with the app?"),
        *("What can the customer do?", "How can I contact you?", "How long is the course?"),
        *("Welche Dokumente brauche ich?", "Wie viele Kapitel hat das Dokument?", "Wie funktioniert das Gerät?"),
        *("Was kann der Kunde tun?", "Wie viele Seiten darf der Antrag haben?"),
        *("Quels documents faut-il fournir ?", "Que peut faire le client ?", "Combien de jours y a-t-il ?"),
        *("¿Qué documentos se necesitan?", "¿Qué puede hacer el cliente?", "¿Cuántas páginas debe tener el informe?"),
        *("¿Cuánto cuesta el viaje?", "¿Cuántos días hay?", "¿Quién firma el contrato?", "¿Qué cubre la póliza?"),
    ),
}
# The vectors of all examples by the hash of the embedder's weights, kept because computing them takes 0.1 s or more.
_VECTORS: dict[str, FloatArray] = {}
# Minimum cosine similarity of a question and an example that determines the kind of the question.
MIN_SIMILARITY = 0.68
# Minimum difference of this similarity and the similarity of the question to each example of "other".
MARGIN = 0.05
# Maximum number of words of a question about the library.
_MAX_WORDS = 14
# Maximum number of documents that an answer lists.
_MAX_LISTED = 20
# The words of a question for the number of pages of a document; the rest of the question is the name of the document.
_ASKED_PAGES = re.compile(
    r"how many pages (?:has|have|does|do)\b|wie viele seiten (?:hat|haben)\b|combien de pages\b|"
    r"cu[aá]ntas p[aá]ginas tienen?\b",
    re.IGNORECASE,
)
# Number of characters of the beginning of a document that are quoted if the document has no title.
_BEGINNING = 120
# The answers that are always the same, by the kind of question.
_TEXTS: Mapping[Kind, str] = {
    "greeting": "Hello. Ask a question about your documents, and I show the page behind each sentence of the answer.",
    "thanks": "You are welcome.",
    "abilities": (
        "I answer questions from your documents, show the page behind each sentence, and say so if the documents do "
        "not contain the answer. I can also summarize or compare documents if a language model is connected. I know "
        "nothing but what is in the documents."
    ),
}


class LibraryAnswerer:
    """Recognizes small talk and questions about the application and the library, and answers them.

    Parameters
    ----------
    stores : Stores
    generations : IndexGenerations
        The embedder of the active index compares questions with the examples.
    """

    def __init__(self, stores: Stores, generations: IndexGenerations) -> None:
        self._stores = stores
        self._generations = generations

    def answer(self, query: Query) -> str:
        """Return the answer to small talk, or to a question about the application or library; empty for other texts."""
        if about_named := self._answer_about_titles_or_pages(query):
            return about_named
        kind = self.classify_question(query.text)
        if kind is None:
            return ""
        if kind in _TEXTS:
            return _TEXTS[kind]
        library = NamedDocuments(self._stores, query.documents, as_of=query.as_of)
        if kind == "documents":
            return _list_documents(library.documents)
        named = library.documents if len(library.documents) == 1 else library.find_by_file_name(query.text)
        return "\n".join(map(_state_pages, named))

    def _answer_about_titles_or_pages(self, query: Query) -> str:
        """Return the title, or the number of pages, of each document that a question means.

        A question can name documents by file names or by words of their titles. A question without a name means all
        documents. The text is empty in these cases:

        - The question asks neither for titles nor for numbers of pages.
        - No document has the name.
        - The question means more than `_MAX_LISTED` documents.
        """
        title = TITLE.search(query.text)
        asked = title or _ASKED_PAGES.search(query.text)
        if asked is None:
            return ""
        library = NamedDocuments(self._stores, query.documents, as_of=query.as_of)
        named = library.find_by_file_name(query.text)
        rest = FILE_NAME.sub(" ", f"{query.text[: asked.start()]} {query.text[asked.end() :]}")
        words = [one.text for one in split_tokens(rest) if not asks_only_for_content(one.text)]
        words = [one for one in words if not (is_generic_document_word(one) or is_kind_of_document(one))]
        if words:
            named = library.find_by_title_words(words, least=1)
        named = named or ([] if words else library.documents)
        write = self._state_title if title else _state_pages
        return "\n".join(map(write, named)) if len(named) <= _MAX_LISTED else ""

    def _state_title(self, document: DocumentInfo) -> str:
        rows = self._stores.documents.chunk_rows(document.version_id, 0)
        _, _, title = (rows[0].document_label if rows else "").partition(SEPARATOR)
        if title:
            return f"The title of {document.name} is “{title}”."
        beginning = " ".join(rows[0].text.split())[:_BEGINNING].rstrip() if rows else ""
        return f"No title was recognized in {document.name}" + (f". It begins: “{beginning}…”" if beginning else ".")

    def is_small_talk(self, text: str) -> bool:
        """Return whether a text is a greeting or thanks, which refers to no earlier question."""
        return self.classify_question(text) in ("greeting", "thanks")

    def classify_question(self, question: str) -> Kind | None:
        """Return the kind of a text: small talk, or a question about the application or its library.

        Return ``None`` for any other text, also for questions that resemble the examples of "other".
        """
        # "Summarize all documents" resembles "List all documents".
        if len(question.split()) > _MAX_WORDS or asks_for_summary(question):
            return None
        # The name of a file would change the vector of the question.
        question = FILE_NAME.sub("the document", question)
        embedder = self._generations.active().embedder
        similarities = _embed_examples(embedder) @ embedder.embed_question(question).dense
        best = int(similarities.argmax())
        kinds = [kind for kind, examples in EXAMPLES.items() for _ in examples]
        least = max(MIN_SIMILARITY, MARGIN + similarities[[kind == "other" for kind in kinds]].max())
        return kinds[best] if similarities[best] >= least and kinds[best] != "other" else None


def _embed_examples(embedder: Embedder) -> FloatArray:
    weights = embedder.identity.weights
    if weights not in _VECTORS:
        examples = [one for examples in EXAMPLES.values() for one in examples]
        _VECTORS[weights] = np.stack([embedder.embed_question(one).dense for one in examples])
    return _VECTORS[weights]


def _state_pages(document: DocumentInfo) -> str:
    return f"{document.name} has {format_count(document.pages, 'page')}."


def _list_documents(documents: Sequence[DocumentInfo]) -> str:
    if not documents:
        return "There are no documents yet. Add some on the Documents page."
    pages = sum(one.pages for one in documents)
    lines = [f"- {one.name} ({format_count(one.pages, 'page')})" for one in documents[:_MAX_LISTED]]
    more = [f"- and {len(documents) - len(lines):,} more, on the Documents page"] if len(documents) > len(lines) else []
    heading = f"{format_count(len(documents), 'document')} with {format_count(pages, 'page')}:"
    return "\n".join([heading, "", *lines, *more])
