"""Write cards in the background: what each of the newest documents is, with questions that the document answers."""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace

from rag_core.answering.ask import Answerer
from rag_core.answering.cards.facts import choose_statement_pages, find_key_figures, is_annual_report, read_card
from rag_core.answering.cards.model_questions import write_questions_with_model
from rag_core.errors import RagError
from rag_core.reading.statement_questions import WrittenQuestion, write_questions
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.stores import Stores
from rag_core.store.cards import CardlessVersion
from rag_core.text.struck import remove_struck
from rag_core.types.answers import Answer, AnswerState
from rag_core.types.cards import DocumentCard, KeyFigure
from rag_core.types.conversations import Scope
from rag_core.types.documents import Page
from rag_core.types.searches import DEFAULT_CONFIGURATION, Writer

log = logging.getLogger(__name__)
# Number of newest documents for which cards are written. The age of a document counts from its first upload.
NEWEST = 20
# Maximum number of questions on a card, and of questions on a card that ask for the same kind of statement.
MAX_QUESTIONS, MAX_OF_KIND = 3, 2
# Maximum number of questions that are tried for one card.
MAX_TRIED = 12
# Number of seconds between two searches for documents without a card.
_POLL_S = 1.0


class DocumentCards:
    """Finds the stored cards of documents, and writes missing cards in a thread.

    Before the thread stores a question, it asks the question, without a language model, and only while no question of a
    reader is being answered. The question is kept if the answer quotes the statement that the question was made from.

    Parameters
    ----------
    stores : Stores
    answerer : Answerer
    models : LanguageModels

    Attributes
    ----------
    problems : dict of str to str
        Why a language model wrote no questions about a document, by the id of the document.
    """

    def __init__(self, stores: Stores, answerer: Answerer, models: LanguageModels) -> None:
        self.problems: dict[str, str] = {}
        self._stores = stores
        self._answerer = answerer
        self._models = models
        self._failed: set[str] = set()
        # Documents about which a language model is to write questions.
        self._requested: deque[str] = deque()
        self._stopping = threading.Event()
        # Notified when the number of questions of readers that are being answered changes.
        self._idle = threading.Condition()
        self._questions = 0
        self._thread: threading.Thread | None = None

    def find(self, document_ids: Collection[str]) -> Mapping[str, DocumentCard]:
        """Return the stored cards of documents, by document id; documents without a stored card are left out."""
        return self._stores.cards.load(document_ids)

    def request_questions(self, document_id: str) -> None:
        """Let the thread replace the questions of a card by some that a language model writes about the first pages."""
        self.problems.pop(document_id, None)
        if document_id not in self._requested:
            self._requested.append(document_id)

    def is_requested(self, document_id: str) -> bool:
        """Return whether questions about a document were requested and are not written yet."""
        return document_id in self._requested

    def start(self) -> None:
        """Start the thread that writes cards; do nothing if it was started before or if the stores are read-only."""
        if self._thread is None and not self._stores.is_read_only:
            self._thread = threading.Thread(target=self._run, name="cards", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop the thread after the current step; missing cards are written after the next start of the process."""
        self._stopping.set()
        with self._idle:
            self._idle.notify_all()
        if self._thread is not None:
            self._thread.join()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Return a context in which the thread asks no questions, because a reader's question is being answered."""
        with self._idle:
            self._questions += 1
        try:
            yield
        finally:
            with self._idle:
                self._questions -= 1
                self._idle.notify_all()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._write_missing()
            except Exception:  # for example, the database failed; the next attempt may succeed
                log.exception("the cards of documents could not be looked up")
            while self._requested and not self._stopping.is_set():
                self._write_requested(self._requested[0])
                self._requested.popleft()
            self._stopping.wait(_POLL_S)

    def _write_missing(self) -> None:
        for version in self._stores.cards.find_cardless(NEWEST):
            if self._stopping.is_set():
                return
            if version.version_id in self._failed:
                continue
            try:
                self._write_card(version)
            except Exception:
                # A card is only a help, and the next version may have one.
                log.exception("the card of %s could not be written", version.name)
                self._failed.add(version.version_id)

    def _write_card(self, version: CardlessVersion) -> None:
        """Store the card of a version, first without questions, and then with the questions that are answered."""
        pages = self._stores.documents.pages(version.version_id)
        if not pages:
            self._failed.add(version.version_id)
            return
        texts = {page.page_index: remove_struck(page.text) for page in pages}
        figures = self._find_figures(version.version_id, pages, texts)
        card = read_card(version.name, pages)
        if figures:
            card = replace(card, figures=tuple(figure for figure, _ in figures), contents=())
        self._stores.cards.save(version.version_id, card)
        statements = write_questions(texts)
        if figures:
            # Questions for quantities are ambiguous in financial statements, which cover several periods.
            statements = [one for one in statements if one.kind != "quantity"]
        questions = self._select_answered(version, [*(question for _, question in figures), *statements])
        if not self._stopping.is_set():
            self._stores.cards.save(version.version_id, replace(card, questions=questions, is_complete=True))

    def _write_requested(self, document_id: str) -> None:
        """Replace the questions of a card by questions of a language model, if at least one of these is answered.

        Otherwise, store the reason in ``problems``.
        """
        try:
            document = self._stores.documents.document(document_id)
            version = CardlessVersion(document.version_id, document_id, document.name)
            model = self._models.require("Writing questions about a document")
            pages = self._stores.documents.pages(version.version_id)
            texts = {page.page_index: remove_struck(page.text) for page in pages}
            questions = self._select_answered(version, write_questions_with_model(model, texts), MAX_QUESTIONS)
            card = self._stores.cards.load([document_id]).get(document_id)
            if questions and card is not None:
                self._stores.cards.save(version.version_id, replace(card, questions=questions, is_complete=True))
            elif not questions:
                self.problems[document_id] = f"{model.name} wrote no question that {document.name} answers."
        except RagError as error:
            self.problems[document_id] = str(error)
        except Exception:
            # The thread goes on with the cards of other documents.
            log.exception("questions about a document could not be written")
            self.problems[document_id] = "An internal error prevented it; the log has the details."

    def _find_figures(
        self, version_id: str, pages: Sequence[Page], texts: Mapping[int, str]
    ) -> list[tuple[KeyFigure, WrittenQuestion]]:
        """Return the key figures of a document with financial statements, each with a question that it answers."""
        places = [(version_id, page) for page in choose_statement_pages(pages, texts)]
        contents = self._stores.documents.page_contents(places)
        stated = {page: (remove_struck(text), tables) for (_, page), (text, tables) in contents.items()}
        labels = {page.page_index: page.page_label for page in pages}
        return find_key_figures(stated, labels, is_annual=is_annual_report(pages[0]))

    def _select_answered(
        self, version: CardlessVersion, candidates: Sequence[WrittenQuestion], most_of_kind: int = MAX_OF_KIND
    ) -> tuple[str, ...]:
        """Ask the candidates in order; return the texts of the first `MAX_QUESTIONS` that pass `is_answered`.

        At most `MAX_TRIED` candidates are asked. Of one kind, at most ``most_of_kind`` are returned, and at most twice
        as many are asked.
        """
        kept: list[WrittenQuestion] = []
        tried: Counter[str] = Counter()
        for one in candidates:
            if len(kept) == MAX_QUESTIONS or sum(tried.values()) == MAX_TRIED or self._stopping.is_set():
                break
            of_kind = sum(one.kind == other.kind for other in kept)
            if tried[one.kind] < 2 * most_of_kind and of_kind < most_of_kind:
                tried[one.kind] += 1
                answer = self._ask(version.document_id, one.text)
                if answer is not None and is_answered(one, answer, version.version_id):
                    kept.append(one)
        return tuple(one.text for one in kept)

    def _ask(self, document_id: str, question: str) -> Answer | None:
        """Return the answer to a question, without a language model; ``None`` if the thread is to stop."""
        scope, writer = Scope((document_id,)), Writer("")
        with closing(self._answerer.ask(question, scope, None, (), DEFAULT_CONFIGURATION, writer)) as events:
            for event in events:
                if isinstance(event, Answer):
                    return event
                # A reader's question must not wait for a question of a card.
                with self._idle:
                    self._idle.wait_for(lambda: not self._questions or self._stopping.is_set())
                if self._stopping.is_set():
                    break
        return None


def is_answered(question: WrittenQuestion, answer: Answer, version_id: str) -> bool:
    """Return whether an answer confirms a question.

    The first excerpt of the answer must overlap the statement that the question was made from, and must contain the
    expected answer.
    """
    if answer.state is not AnswerState.ANSWERED or not answer.citations:
        return False
    first = [one for one in answer.citations if one.marker == answer.citations[0].marker]
    place = question.page_index, version_id
    overlapping = [
        one
        for one in first
        if (one.page_index, one.version_id) == place and one.start < question.end and question.start < one.end
    ]
    said = " ".join(" ".join(one.quote.split()) for one in overlapping)
    return bool(overlapping) and question.answer.casefold() in said.casefold()
