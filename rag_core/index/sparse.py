"""The index of learned sparse vectors: an inverted index of term weights, in a SQLite file of the data folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sqlalchemy import Connection, text

from rag_core.index.retriever import ChunkBatch, Retriever, build_version_condition
from rag_core.settings import Settings
from rag_core.store.database import Database, group_values
from rag_core.types.arrays import Int64Array
from rag_core.types.chunks import Fingerprint, SparseVector
from rag_core.types.retrieval import Hit, PassageScore, Question, SearchStage, VersionFilter

# Maximum number of terms of a question that are searched. The terms with the highest weights are searched.
MAX_TERMS = 64
# A posting consists of a chunk id and a weight. Weights are from 0 to about 4, so that two bytes are precise enough.
_ID, _WEIGHT = np.dtype("<i8"), np.dtype("<f2")
_INSERT_POSTINGS = text("INSERT INTO postings VALUES (:term, :segment, :chunk_ids, :weights)")
_TABLES = (
    "CREATE TABLE IF NOT EXISTS segments(id INTEGER PRIMARY KEY, generation INTEGER NOT NULL, version TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS entries("
    "chunk_id INTEGER PRIMARY KEY, segment INTEGER NOT NULL REFERENCES segments(id) ON DELETE CASCADE)",
    "CREATE INDEX IF NOT EXISTS entries_of_segment ON entries(segment)",
    "CREATE TABLE IF NOT EXISTS postings("
    "term INTEGER NOT NULL, segment INTEGER NOT NULL REFERENCES segments(id) ON DELETE CASCADE, "
    "chunk_ids BLOB NOT NULL, weights BLOB NOT NULL, PRIMARY KEY (term, segment)) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS postings_of_segment ON postings(segment)",
)


def open_sparse_database(path: Path) -> Database:
    """Open or create the file of the index; raise `DataFolderUnwritable` or `StoreUnavailable` if this fails."""
    hint = "stop Footnote, delete that file, start again and re-index all documents; its content is computed again"
    database = Database(path, has_schema=False, restore_hint=hint)
    with database.begin() as connection:
        for statement in _TABLES:
            connection.execute(text(statement))
    return database


class SparseIndex:
    """An index that ranks the chunks of one generation by the inner product of sparse vectors.

    A segment contains chunks of one version that were added together. The table of postings has a row for each term and
    segment, so that the deletion of a version does not change rows of other versions.

    Parameters
    ----------
    database : Database
        A database from `open_sparse_database`.
    generation_id : int
    """

    def __init__(self, database: Database, generation_id: int) -> None:
        self._db = database
        self._generation_id = generation_id

    def add(self, chunks: ChunkBatch) -> None:
        """Add chunks, or overwrite chunks with the same ids."""
        pairs = zip(chunks.chunk_ids, chunks.encodings, strict=True)
        segments = group_values(zip(chunks.versions, pairs, strict=True))
        with self._db.begin() as connection:
            self._delete(connection, chunks.chunk_ids)
            for version, chunks_of_version in segments.items():
                self._add_segment(connection, version, chunks_of_version)

    def _add_segment(self, connection: Connection, version: str, chunks: Sequence[tuple[int, SparseVector]]) -> None:
        segment = connection.execute(
            text("INSERT INTO segments(generation, version) VALUES (:generation, :version) RETURNING id"),
            {"generation": self._generation_id, "version": version},
        ).scalar_one()
        connection.execute(
            text("INSERT INTO entries(chunk_id, segment) VALUES (:chunk_id, :segment)"),
            [{"chunk_id": chunk_id, "segment": segment} for chunk_id, _ in chunks],
        )
        terms = np.concatenate([vector.terms for _, vector in chunks])
        weights = np.concatenate([vector.weights for _, vector in chunks]).astype(_WEIGHT)
        ids = np.repeat(np.array([chunk_id for chunk_id, _ in chunks], _ID), [len(one.terms) for _, one in chunks])
        order = np.argsort(terms, kind="stable")
        terms, weights, ids = terms[order], weights[order], ids[order]
        unique, starts = np.unique(terms, return_index=True)
        # Without terms, `numpy.split` returns one empty array, which is ignored.
        groups = zip(unique, np.split(ids, starts[1:]), np.split(weights, starts[1:]), strict=False)
        rows = [
            {
                "term": int(term),
                "segment": segment,
                "chunk_ids": of_term.tobytes(),
                "weights": weights_of_term.tobytes(),
            }
            for term, of_term, weights_of_term in groups
        ]
        # The vectors of unusual texts can have no terms.
        if rows:
            connection.execute(_INSERT_POSTINGS, rows)

    def retrieve(self, question: Question, k: int, versions: VersionFilter | None = None) -> list[Hit]:
        """Return the ``k`` chunks of some versions with the highest inner product, best first.

        At most `MAX_TERMS` terms of the question are searched.

        Raises
        ------
        ValueError
            The question has no sparse vector.
        """
        if question.sparse is None:
            raise ValueError("Learned sparse retrieval needs the sparse vector of the question.")
        if versions is not None and not versions:
            return []
        strongest = np.argsort(-question.sparse.weights, kind="stable")[:MAX_TERMS]
        weights = dict(
            zip(question.sparse.terms[strongest].tolist(), question.sparse.weights[strongest].tolist(), strict=True)
        )
        condition, version_values = build_version_condition(versions)
        statement = text(
            "SELECT postings.term, postings.chunk_ids, postings.weights FROM json_each(:terms) AS wanted "  # noqa: S608 - constants
            "JOIN postings ON postings.term = wanted.value JOIN segments ON segments.id = postings.segment "
            f"WHERE segments.generation = :generation {condition}"
        )
        values = {"terms": json.dumps(list(weights)), "generation": self._generation_id, **version_values}
        with self._db.read() as connection:
            rows = connection.execute(statement, values).all()
        factors = np.repeat([weights[term] for term, _, _ in rows], [len(ids) // _ID.itemsize for _, ids, _ in rows])
        products = np.frombuffer(b"".join(stored for _, _, stored in rows), _WEIGHT) * factors
        chunk_ids, positions = np.unique(_read_ids(b"".join(ids for _, ids, _ in rows)), return_inverse=True)
        scores = np.bincount(positions, products, minlength=len(chunk_ids))
        best = np.lexsort((chunk_ids, -scores))[:k]
        return [Hit(int(chunk_ids[one]), float(scores[one])) for one in best]

    def delete(self, chunk_ids: Sequence[int]) -> None:
        """Delete chunks. Unknown ids are ignored."""
        with self._db.begin() as connection:
            self._delete(connection, chunk_ids)

    def _delete(self, connection: Connection, chunk_ids: Sequence[int]) -> None:
        values = {"ids": json.dumps(list(chunk_ids)), "generation": self._generation_id}
        changed = connection.execute(
            text(
                "DELETE FROM entries WHERE chunk_id IN (SELECT value FROM json_each(:ids)) "
                "AND segment IN (SELECT id FROM segments WHERE generation = :generation) RETURNING segment"
            ),
            values,
        ).scalars()
        for segment in set(changed):
            # The postings of an empty segment are deleted with the segment, by their foreign key.
            delete_empty = text(
                "DELETE FROM segments WHERE id = :segment "
                "AND NOT EXISTS (SELECT 1 FROM entries WHERE entries.segment = :segment)"
            )
            if not connection.execute(delete_empty, {"segment": segment}).rowcount:
                self._filter_postings(connection, segment, np.array(chunk_ids, _ID))

    def _filter_postings(self, connection: Connection, segment: int, removed: Int64Array) -> None:
        """Remove chunks from the postings of a segment; the postings of other chunks stay."""
        query = text("SELECT term, chunk_ids, weights FROM postings WHERE segment = :segment")
        kept = []
        for term, stored_ids, stored_weights in connection.execute(query, {"segment": segment}).all():
            chunk_ids, weights = _read_ids(stored_ids), np.frombuffer(stored_weights, _WEIGHT)
            is_kept = ~np.isin(chunk_ids, removed)
            if is_kept.any():
                values = {"chunk_ids": chunk_ids[is_kept].tobytes(), "weights": weights[is_kept].tobytes()}
                kept.append({"term": term, "segment": segment, **values})
        connection.execute(text("DELETE FROM postings WHERE segment = :segment"), {"segment": segment})
        if kept:
            connection.execute(_INSERT_POSTINGS, kept)

    def count(self, chunk_ids: Sequence[int] | None = None) -> int:
        """Return the number of chunks in the index; with ``chunk_ids``, only these chunks are counted."""
        return len(self.ids(chunk_ids))

    def ids(self, chunk_ids: Sequence[int] | None = None) -> set[int]:
        """Return the ids of the chunks in the index; with ``chunk_ids``, only ids that are in both."""
        condition = "" if chunk_ids is None else " AND chunk_id IN (SELECT value FROM json_each(:ids))"
        statement = text(
            "SELECT chunk_id FROM entries JOIN segments ON segments.id = entries.segment "  # noqa: S608 - constants
            f"WHERE generation = :generation{condition}"
        )
        values = {"generation": self._generation_id, "ids": json.dumps(list(chunk_ids or ()))}
        with self._db.read() as connection:
            return {int(one) for one in connection.execute(statement, values).scalars()}


class SparseRetriever(Retriever):
    """Finds chunks by the terms of a learned sparse encoder, if the index was built with such an encoder."""

    score = PassageScore("sparse", "learned terms", is_bounded=False)
    stage = SearchStage(
        *("sparse", "Searching by learned terms", "Waited for the search by learned terms"),
        "learned terms (in parallel)",
    )
    store = "sparse vectors"
    place = "in the sparse index"
    reads = "encoding"
    failure = "Learned sparse retrieval did not run."
    missing = (
        "The index has no learned sparse part. Set RAG_SPARSE to the folder of a sparse encoder and re-index all "
        "documents, or order passages by another score."
    )
    is_optional = True

    def __init__(self, settings: Settings, database: Database) -> None:
        self._db = open_sparse_database(settings.data_dir / "sparse.sqlite")

    def open(self, generation_id: int) -> SparseIndex:
        return SparseIndex(self._db, generation_id)

    def drop(self, generation_id: int) -> None:
        with self._db.begin() as connection:
            connection.execute(
                text("DELETE FROM segments WHERE generation = :generation"), {"generation": generation_id}
            )

    def measure_bytes(self, generation_id: int, fingerprint: Fingerprint) -> int:
        """Return the size in bytes of the index file, which all generations share."""
        with self._db.read() as connection:
            return self._db.measure_file(connection)

    def close(self) -> None:
        self._db.close()

    @classmethod
    def is_used_in(cls, fingerprint: Fingerprint) -> bool:
        return bool(fingerprint.sparse)


def _read_ids(blob: bytes) -> Int64Array:
    ids: Int64Array = np.frombuffer(blob, _ID)
    return ids
