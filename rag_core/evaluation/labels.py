"""From what readers say of answers to labelled questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from rag_core.errors import LabelError
from rag_core.evaluation.page_finder import EvidenceFinder
from rag_core.runtime.stores import Stores
from rag_core.types import Answer, AnswerState, Evidence, Feedback, Label, LabelKind, PageKey


class Labelling:
    """Keeps feedback, and makes a label of what it says about where the answer stands.

    Parameters
    ----------
    stores : Stores
    """

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    def add(self, question: str, kind: LabelKind, evidence: Sequence[Evidence], answers: Sequence[str]) -> Label:
        """See `Engine.add_label`."""
        if not question.strip():
            raise LabelError("The label has no question. Type what is to be asked.")
        if kind is LabelKind.ANSWERABLE and not evidence and not answers:
            raise LabelError("Name the page that answers the question, or the answer, or say that there is none.")
        if any(one.page_index is None and not one.page and not one.quote for one in evidence):
            raise LabelError("Name the page of the document that answers, or words that stand on it.")
        asked = Label("", question, kind, tuple(evidence), tuple(answers), "The label cannot be kept")
        EvidenceFinder(self._stores.library).find_all([asked])
        return self._stores.evaluations.put_label(question, kind, evidence, answers)

    def pages_of(self, question: str) -> set[PageKey]:
        """See `Engine.labelled_pages`."""
        finder = EvidenceFinder(self._stores.library)
        asked = question.split()
        found: set[PageKey] = set()
        for label in self._stores.evaluations.labels():
            if label.question.split() == asked:
                # Of a document that is gone no page can be right; an evaluation tells of such a label.
                with suppress(LabelError):
                    found.update(*finder.find_all([label]))
        return found

    def feedback(self, message_id: str, given: Feedback) -> None:
        """See `Engine.feedback`."""
        answer = self._answer(message_id)
        self._stores.evaluations.give_feedback(message_id, given)
        if not given.good:
            self._stores.evaluations.remove_labels_of(message_id)
        elif answer.state is AnswerState.ABSTAINED:
            self._stores.evaluations.put_label(answer.question, LabelKind.NO_ANSWER, (), (), message_id)
        else:
            self._add_pages(message_id, answer, [Evidence(one.document, one.page_index) for one in answer.citations])

    def withdraw(self, message_id: str) -> None:
        """See `Engine.withdraw_feedback`."""
        self._stores.evaluations.remove_feedback(message_id)
        self._stores.evaluations.remove_labels_of(message_id)

    def confirm_passage(self, message_id: str, rank: int) -> None:
        """See `Engine.confirm_passage`."""
        answer = self._answer(message_id)
        passage = next((one for one in answer.passages if one.rank == rank), None)
        if passage is None:
            raise LabelError(f"The answer has no passage {rank}. Reload the page.")
        pages = range(passage.page_index, passage.page_index_end + 1)
        self._add_pages(message_id, answer, [Evidence(passage.document, page) for page in pages])

    def _add_pages(self, message_id: str, answer: Answer, pages: Iterable[Evidence]) -> None:
        """Label the question with these pages and those that it was labelled with before."""
        before = [page for one in self._stores.evaluations.labels_of(message_id) for page in one.evidence]
        evidence = list(dict.fromkeys((*before, *pages)))
        if evidence:
            self._stores.evaluations.put_label(answer.question, LabelKind.ANSWERABLE, evidence, (), message_id)

    def _answer(self, message_id: str) -> Answer:
        answer = self._stores.conversations.message(message_id).answer
        if answer is None:
            raise LabelError("Only an answer can be rated, and this message is none.")
        return answer
