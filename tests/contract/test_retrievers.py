"""The contract of all retrievers."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_core.index.dense import DenseIndex, open_chroma
from rag_core.index.sparse import SparseIndex, open_sparse_database
from rag_core.index.words import WordIndex
from rag_core.types import Excluding, Question, SparseVector, VersionFilter

DIMENSION = 64
Rows = dict[int, tuple[str, str]]  # chunk id: (text, version)


def vector(text: str) -> np.ndarray:
    """Return a vector that is similar to those of texts with the same words."""
    total = np.zeros(DIMENSION, np.float32)
    for word in text.lower().split():
        total[np.random.default_rng(list(word.encode())).integers(0, DIMENSION, 3)] += 1
    return total / max(float(np.linalg.norm(total)), 1e-9)


def sparse_vector(text: str) -> SparseVector:
    """Return a vector with a term for each word; a rare word weighs more than a word of three letters or fewer."""
    weights = {zlib.crc32(word.encode()) % 30_000: 0.1 if len(word) < 4 else 1.0 for word in text.lower().split()}
    terms = sorted(weights)
    return SparseVector(np.array(terms, np.int32), np.array([weights[term] for term in terms], np.float32))


def question(text: str) -> Question:
    no_tokens = np.zeros((0, 4), np.float32), np.zeros((0, 2), np.int32)
    return Question(text, vector(text), *no_tokens, sparse_vector(text))


@dataclass(frozen=True)
class Index:
    """A retriever, with functions to fill and reopen it."""

    retriever: Any
    put: Callable[[Rows], None]
    reopen: Callable[[], Any]

    def ids(self, text: str, k: int = 10, versions: VersionFilter | None = None) -> list[int]:
        return [hit.chunk_id for hit in self.retriever.retrieve(question(text), k, versions)]


def dense(folder: Path) -> Iterator[Index]:
    client = open_chroma(folder / "chroma", None)
    index = DenseIndex(client, 1, "library")

    def put(rows: Rows) -> None:
        vectors = np.stack([vector(text) for text, _ in rows.values()])
        index.add(list(rows), vectors, [version for _, version in rows.values()])

    yield Index(index, put, lambda: DenseIndex(client, 1, "library"))
    client.close()


def words(folder: Path) -> Iterator[Index]:
    index = WordIndex(folder / "words.sqlite")

    def put(rows: Rows) -> None:
        index.add(list(rows), [("", text, version) for text, version in rows.values()])

    indexes = [index]

    def reopen() -> WordIndex:
        indexes.append(WordIndex(folder / "words.sqlite"))
        return indexes[-1]

    yield Index(index, put, reopen)
    for opened in indexes:
        opened.close()


def sparse(folder: Path) -> Iterator[Index]:
    database = open_sparse_database(folder / "sparse.sqlite")
    other = SparseIndex(database, 2)
    other.add([7], [sparse_vector("zebra giraffe budget copper town")], ["v1"])
    index = SparseIndex(database, 1)

    def put(rows: Rows) -> None:
        index.add(list(rows), [sparse_vector(text) for text, _ in rows.values()], [one for _, one in rows.values()])

    reopened = open_sparse_database(folder / "sparse.sqlite")
    yield Index(index, put, lambda: SparseIndex(reopened, 1))
    assert other.ids() == {7}
    for opened in (database, reopened):
        opened.close()


LIBRARY: Rows = {
    1: ("zebra stripes on the plain", "v1"),
    2: ("giraffe neck above the plain", "v1"),
    3: ("zebra crossing in a town", "v2"),
    4: ("budget of a town council", "v2"),
    5: ("copper mining in chile", "v3"),
}


@pytest.fixture(params=[dense, words, sparse])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    yield from request.param(tmp_path)


@pytest.fixture
def index(empty: Index) -> Index:
    empty.put(LIBRARY)
    return empty


def test_best_match_comes_first(index: Index) -> None:
    assert index.ids("copper mining")[0] == 5
    assert index.ids("giraffe neck")[0] == 2
    assert set(index.ids("zebra", k=2)) == {1, 3}


def test_hits_are_in_descending_order_without_duplicates(index: Index) -> None:
    hits = index.retriever.retrieve(question("zebra on the plain of a town"), 10)
    scores = [hit.score for hit in hits]
    assert len(scores) > 2
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[-1]
    assert len({hit.chunk_id for hit in hits}) == len(hits)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_k_limits_hits_to_the_best(index: Index, k: int) -> None:
    query = question("zebra stripes on the plain")
    scores = [hit.score for hit in index.retriever.retrieve(query, 10)]
    assert [hit.score for hit in index.retriever.retrieve(query, k)] == pytest.approx(scores[:k])


def test_large_k_returns_all_chunks(index: Index) -> None:
    chunk_ids = index.ids("zebra giraffe budget copper town", k=1000)
    assert sorted(chunk_ids) == [1, 2, 3, 4, 5]


def test_only_given_versions_are_searched(index: Index) -> None:
    assert index.ids("zebra", versions=["v2"])[0] == 3
    assert set(index.ids("zebra town copper", versions=["v2", "v3"])) == {3, 4, 5}


def test_unknown_versions_find_nothing(index: Index) -> None:
    assert index.ids("zebra", versions=["v9"]) == []


def test_no_versions_find_nothing(index: Index) -> None:
    assert index.ids("zebra", versions=[]) == []


def test_small_version_is_found_among_many_better_hits(index: Index) -> None:
    index.put({100 + number: (f"zebra zebra stripes {number}", "big") for number in range(150)})
    assert index.ids("zebra stripes", k=1, versions=["v2"]) == [3]


def test_scope_of_thousands_of_versions(index: Index) -> None:
    versions = [f"{number:032x}" for number in range(40_000)]
    assert index.ids("copper", k=1, versions=[*versions, "v3"]) == [5]
    hits = index.retriever.retrieve(question("zebra town copper"), 4, ["v1", *versions, "v2", "v3"])
    assert hits == index.retriever.retrieve(question("zebra town copper"), 4)


def test_excluded_versions_are_not_searched(index: Index) -> None:
    assert set(index.ids("zebra town copper", versions=Excluding(["v1", "v9"]))) == {3, 4, 5}
    assert index.ids("zebra", versions=Excluding(["v1", "v2", "v3"])) == []
    assert set(index.ids("zebra stripes", k=2, versions=Excluding(["v9"]))) == {1, 3}


def test_deleted_chunk_is_not_found(index: Index) -> None:
    index.retriever.delete([1, 5])
    assert 1 not in index.ids("zebra stripes on the plain", k=1000)
    assert 5 not in index.ids("copper mining in chile", k=1000)
    assert index.retriever.ids() == {2, 3, 4}
    assert index.retriever.count([1, 5]) == 0


def test_deleting_unknown_chunks_has_no_effect(index: Index) -> None:
    index.retriever.delete([77, 78])
    index.retriever.delete([])
    assert index.retriever.count() == 5


def test_adding_a_chunk_again_overwrites_it(index: Index) -> None:
    index.put({1: ("penguin colony", "v3")})
    assert index.retriever.count() == 5
    assert index.ids("penguin colony", k=1) == [1]
    assert 1 not in index.ids("zebra stripes", k=1)
    assert index.ids("penguin", k=1, versions=["v3"]) == [1]
    assert 1 not in index.ids("zebra stripes", versions=["v1"])


def test_ids_and_counts(index: Index) -> None:
    assert index.retriever.ids() == set(LIBRARY)
    assert index.retriever.ids([1, 2, 99]) == {1, 2}
    assert index.retriever.count([1, 99]) == 1
    assert index.retriever.count([]) == 0


def test_empty_index_finds_nothing(empty: Index) -> None:
    assert empty.ids("zebra") == []
    assert empty.ids("zebra", versions=["v1"]) == []
    assert empty.retriever.count() == 0
    assert empty.retriever.ids() == set()


def test_added_chunks_are_found_after_reopening(index: Index) -> None:
    reopened = index.reopen()
    assert reopened.ids() == set(LIBRARY)
    assert [hit.chunk_id for hit in reopened.retrieve(question("copper mining"), 1)] == [5]


def test_name_is_that_of_its_scores(empty: Index) -> None:
    assert empty.retriever.name in ("dense", "bm25", "sparse")
