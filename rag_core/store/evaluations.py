"""Store labelled questions, which users create in the app or a program generates, feedback, and evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import delete, insert, select

from rag_core.store.database import Database, create_id, now
from rag_core.store.schema import evaluations, feedback, labels
from rag_core.store.serialization import build_from_json
from rag_core.types.conversations import Feedback
from rag_core.types.evaluation import Evaluation, Label, LabelKind, LabelledPage


class EvaluationStore:
    """Labels, feedback and evaluations. Each method makes its changes in one transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database

    # labels

    def labels(self) -> list[Label]:
        """Return all labels, oldest first."""
        rows = self._db.fetch(select(labels).order_by(labels.c.created_at, labels.c.id))
        return [_label_from_row(row) for row in rows]

    def labels_of(self, message_id: str) -> list[Label]:
        """Return the labels that were created from a message."""
        rows = self._db.fetch(select(labels).where(labels.c.message_id == message_id))
        return [_label_from_row(row) for row in rows]

    def put_label(
        self,
        question: str,
        kind: LabelKind,
        evidence: Sequence[LabelledPage],
        answers: Sequence[str],
        message_id: str | None = None,
        *,
        is_pseudo: bool = False,
    ) -> Label:
        """Store a label and return it. Former labels from the same message are replaced."""
        values = {
            "id": create_id(),
            "question": question,
            "kind": kind.value,
            "evidence": [asdict(page) for page in evidence],
            "answers": list(answers),
            "is_pseudo": is_pseudo,
            "message_id": message_id,
            "created_at": now(),
        }
        with self._db.begin() as connection:
            if message_id is not None:
                connection.execute(delete(labels).where(labels.c.message_id == message_id))
            connection.execute(insert(labels).values(**values))
            row = connection.execute(select(labels).where(labels.c.id == values["id"])).one()
        return _label_from_row(row)

    def remove_label(self, label_id: str) -> None:
        self._db.change(delete(labels).where(labels.c.id == label_id))

    def remove_pseudo_labels(self) -> None:
        """Delete the labels of pseudo-questions."""
        self._db.change(delete(labels).where(labels.c.is_pseudo))

    def remove_pseudo_labels_of(self, document: str) -> None:
        """Delete the labels of pseudo-questions with evidence in the document named ``document``."""
        query = select(labels.c.id, labels.c.evidence).where(labels.c.is_pseudo)
        with self._db.begin() as connection:
            rows = connection.execute(query)
            label_ids = [row.id for row in rows if any(one["document"] == document for one in row.evidence)]
            connection.execute(delete(labels).where(labels.c.id.in_(label_ids)))

    def remove_labels_of(self, message_id: str) -> None:
        """Delete the labels that were created from a message."""
        self._db.change(delete(labels).where(labels.c.message_id == message_id))

    # feedback

    def give_feedback(self, message_id: str, given: Feedback) -> None:
        """Store a user's feedback on an answer. Earlier feedback on the same answer is replaced."""
        self._db.change(
            delete(feedback).where(feedback.c.message_id == message_id),
            insert(feedback).values(message_id=message_id, created_at=now(), **asdict(given)),
        )

    def feedback(self, message_id: str) -> Feedback | None:
        """Return the feedback on an answer; ``None`` if there is none."""
        row = self._db.fetch_first(select(feedback).where(feedback.c.message_id == message_id))
        return Feedback(bool(row.good), row.note) if row else None

    def remove_feedback(self, message_id: str) -> None:
        self._db.change(delete(feedback).where(feedback.c.message_id == message_id))

    # evaluations

    def add(self, evaluation: Evaluation) -> None:
        """Store an evaluation."""
        result = asdict(evaluation)
        moment, evaluation_id = result.pop("created_at"), result.pop("evaluation_id")
        self._db.change(insert(evaluations).values(id=evaluation_id, created_at=moment, result=result))

    def all(self) -> list[Evaluation]:
        """Return the evaluations, newest first."""
        query = select(evaluations).order_by(evaluations.c.created_at.desc(), evaluations.c.id)
        return [
            build_from_json(Evaluation, {**row.result, "evaluation_id": row.id, "created_at": row.created_at})
            for row in self._db.fetch(query)
        ]

    def remove(self, evaluation_id: str) -> None:
        self._db.change(delete(evaluations).where(evaluations.c.id == evaluation_id))


def _label_from_row(row: Any) -> Label:
    return Label(
        label_id=row.id,
        question=row.question,
        kind=LabelKind(row.kind),
        evidence=tuple(LabelledPage(**page) for page in row.evidence),
        answers=tuple(row.answers),
        where=f"The label “{row.question[:80]}”",
        is_pseudo=row.is_pseudo,
    )
