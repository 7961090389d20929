"""Labelled questions, written by hand or created from ratings of answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from rag_core.errors import LabelError
from rag_core.evaluation.label_files import parse_labels
from rag_core.evaluation.page_finder import PageFinder
from rag_core.runtime.stores import Stores
from rag_core.types.answers import Answer, AnswerState
from rag_core.types.conversations import Feedback
from rag_core.types.documents import PageKey
from rag_core.types.evaluation import Label, LabelKind, LabelledPage


class Labels:
    """The labelled questions that are stored in the app, and the ratings of answers, from which labels are created.

    Parameters
    ----------
    stores : Stores
    """

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    def list(self) -> list[Label]:
        """Return the labels that were created in the app, oldest first."""
        return self._stores.evaluations.labels()

    def add(
        self,
        question: str,
        *,
        kind: LabelKind = LabelKind.ANSWERABLE,
        evidence: Sequence[LabelledPage] = (),
        answers: Sequence[str] = (),
    ) -> Label:
        """Store a labelled question, and return the label.

        Raises
        ------
        LabelError
            - The question is empty.
            - An answerable question has neither a current page nor an answer.
            - The evidence names a document without a page, or a page that is not in the library.
        """
        if not question.strip():
            raise LabelError("The label has no question. Enter a question.")
        if kind is LabelKind.ANSWERABLE and not answers and all(one.state != "current" for one in evidence):
            raise LabelError(
                "Give the page that answers the question, or the answer, or choose that the documents do not answer it."
            )
        if any(one.page_index is None and not one.page and not one.quote for one in evidence):
            raise LabelError("Give the page of each document, or words on that page.")
        label = Label("", question, kind, tuple(evidence), tuple(answers), "The label cannot be saved")
        finder = PageFinder(self._stores.documents)
        for current in (True, False):
            finder.find_all([label], current=current)
        return self._stores.evaluations.put_label(question, kind, evidence, answers)

    def remove(self, label_id: str) -> None:
        """Remove a label."""
        self._stores.evaluations.remove_label(label_id)

    def parse_file(self, name: str, data: bytes) -> Sequence[Label]:
        """Parse labelled questions from JSON lines or CSV; may raise `LabelError`, which contains the line number.

        See `rag_core.evaluation.label_files.parse_labels` for the format.
        """
        return parse_labels(name, data)

    def find_pages(self, question: str, *, current: bool = True) -> set[PageKey]:
        """Return the pages that the stored labels of a question name and that are still in the library.

        Questions are compared without regard to white space. If ``current`` is false, return the stale and inadmissible
        pages instead of those that answer the question.
        """
        finder = PageFinder(self._stores.documents)
        words = question.split()
        pages: set[PageKey] = set()
        for label in self._stores.evaluations.labels():
            if label.question.split() == words:
                # The document of the label may have been deleted, which only an evaluation reports.
                with suppress(LabelError):
                    pages.update(*finder.find_all([label], current=current))
        return pages

    def find_answers(self, question: str) -> tuple[str, ...]:
        """Return the expected answers of the stored labels of a question; compare questions as `find_pages` does."""
        words = question.split()
        labels = [one for one in self._stores.evaluations.labels() if one.question.split() == words]
        return tuple(answer for label in labels for answer in label.answers)

    def rate_answer(self, message_id: str, good: bool, note: str = "") -> None:
        """Store the rating of an answer; replace an earlier rating.

        - A good rating of an answer labels the question with the cited pages, besides pages of an earlier label.
        - A good rating of excerpts does the same with the page of the first excerpt only.
        - A good rating of a refusal labels the question as one that the documents do not answer.
        - A bad rating removes the label that was created from the answer.

        Raises
        ------
        UnknownConversation, LabelError
        """
        answer = self._get_answer(message_id)
        self._stores.evaluations.give_feedback(message_id, Feedback(good, note))
        if not good:
            self._stores.evaluations.remove_labels_of(message_id)
        elif answer.state is AnswerState.ABSTAINED:
            self._stores.evaluations.put_label(answer.question, LabelKind.NO_ANSWER, (), (), message_id)
        else:
            cited = answer.citations[:1] if answer.consists_of_excerpts else answer.citations
            self._add_pages(message_id, answer, [LabelledPage(one.document, one.page_index) for one in cited])

    def rating(self, message_id: str) -> Feedback | None:
        """Return the rating of an answer; ``None`` if it is not rated."""
        return self._stores.evaluations.feedback(message_id)

    def withdraw_rating(self, message_id: str) -> None:
        """Remove the rating of an answer, and every label that was created from this message."""
        self._stores.evaluations.remove_feedback(message_id)
        self._stores.evaluations.remove_labels_of(message_id)

    def confirm_passage(self, message_id: str, rank: int) -> None:
        """Label the question of an answer with the pages of the passage at ``rank``, besides pages of an earlier label.

        Raises
        ------
        UnknownConversation, LabelError
        """
        answer = self._get_answer(message_id)
        passage = next((one for one in answer.passages if one.rank == rank), None)
        if passage is None:
            raise LabelError(f"The answer has no passage {rank}. Reload the page.")
        self._add_pages(message_id, answer, [LabelledPage(passage.document, page) for page in passage.page_indices])

    def label_answer(self, message_id: str, pages: Sequence[LabelledPage]) -> None:
        """Label the question of an answer with the pages that answer it.

        Without pages, label the question as one that the documents do not answer. The new label replaces an earlier
        label of the message.

        Raises
        ------
        UnknownConversation, LabelError
        """
        kind = LabelKind.ANSWERABLE if pages else LabelKind.NO_ANSWER
        self._stores.evaluations.put_label(self._get_answer(message_id).question, kind, pages, (), message_id)

    def _add_pages(self, message_id: str, answer: Answer, pages: Iterable[LabelledPage]) -> None:
        """Label the question with ``pages``, and with the pages of the label that the message has already."""
        before = [page for one in self._stores.evaluations.labels_of(message_id) for page in one.evidence]
        evidence = list(dict.fromkeys((*before, *pages)))
        if evidence:
            self._stores.evaluations.put_label(answer.question, LabelKind.ANSWERABLE, evidence, (), message_id)

    def _get_answer(self, message_id: str) -> Answer:
        answer = self._stores.conversations.message(message_id).answer
        if answer is None:
            raise LabelError("This message is not an answer. Only answers can be rated.")
        return answer
