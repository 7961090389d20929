"""Store trainings of the query adapter, with the matrices of the adapters that were accepted."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from sqlalchemy import delete, insert, select

from rag_core.store.database import Database, create_id, now
from rag_core.store.schema import trainings
from rag_core.store.serialization import build_from_json
from rag_core.types.learning import Training


@dataclass(frozen=True, slots=True)
class StoredAdapter:
    """The matrices of an adapter, in the format ``npz``, and the weights and projection that identify its embedder."""

    weights: str
    projection: str
    matrices: bytes


class TrainingStore:
    """Trainings of the query adapter. Each method makes its changes in one transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, training: Training, adapter: StoredAdapter) -> Training:
        """Store a training, and return it with its id and time.

        The matrices of the adapter are stored only if the training was accepted.
        """
        stored = replace(training, training_id=create_id(), created_at=now())
        report = asdict(stored)
        del report["training_id"], report["created_at"]
        values = {
            "id": stored.training_id,
            "created_at": stored.created_at,
            "weights": adapter.weights,
            "projection": adapter.projection,
            "report": report,
            "matrices": adapter.matrices if stored.accepted else None,
        }
        self._db.change(insert(trainings).values(**values))
        return stored

    def all(self) -> list[Training]:
        """Return the trainings, newest first."""
        columns = (trainings.c.id, trainings.c.created_at, trainings.c.report)
        query = select(*columns).order_by(trainings.c.created_at.desc(), trainings.c.id)
        return [
            build_from_json(Training, {**row.report, "training_id": row.id, "created_at": row.created_at})
            for row in self._db.fetch(query)
        ]

    def find_newest_adapter(self) -> StoredAdapter | None:
        """Return the adapter of the newest accepted training; ``None`` if there is none."""
        columns = (trainings.c.weights, trainings.c.projection, trainings.c.matrices)
        query = select(*columns).where(trainings.c.matrices.is_not(None)).order_by(trainings.c.created_at.desc())
        row = self._db.fetch_first(query.limit(1))
        return StoredAdapter(row.weights, row.projection, bytes(row.matrices)) if row else None

    def remove(self, training_id: str) -> None:
        """Delete a training with its adapter."""
        self._db.change(delete(trainings).where(trainings.c.id == training_id))
