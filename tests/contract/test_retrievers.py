"""The contract of all retrievers."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rag_core.index import RETRIEVERS
from rag_core.index.retriever import ChunkBatch, ChunkIndex, Retriever
from rag_core.settings import Settings
from rag_core.store.database import Database
from rag_core.types.chunks import Fingerprint, SparseVector
from rag_core.types.retrieval import CountedAlone, Excluding, Question, VersionFilter

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


class Index:
    """The index of a retriever in a new folder, with functions to fill and reopen it."""

    def __init__(self, kind: type[Retriever], folder: Path) -> None:
        self._kind = kind
        self._settings = Settings(data_dir=folder)
        self._database = Database(folder / "footnote.sqlite")
        self.retriever = kind(self._settings, self._database)
        self.index = self.retriever.open(1)

    def put(self, rows: Rows, generation_id: int = 1) -> None:
        texts, versions = zip(*rows.values(), strict=True)
        self.retriever.open(generation_id).add(
            ChunkBatch(
                list(rows),
                [("", text) for text in texts],
                versions,
                np.stack([vector(text) for text in texts]),
                [sparse_vector(text) for text in texts],
            )
        )

    def reopen(self) -> ChunkIndex:
        self.retriever.close()
        self.retriever = self._kind(self._settings, self._database)
        return self.retriever.open(1)

    def close(self) -> None:
        self.retriever.close()
        self._database.close()

    def ids(self, text: str, k: int = 10, versions: VersionFilter | None = None) -> list[int]:
        return [hit.chunk_id for hit in self.index.retrieve(question(text), k, versions)]


LIBRARY: Rows = {
    1: ("zebra stripes on the plain", "v1"),
    2: ("giraffe neck above the plain", "v1"),
    3: ("zebra crossing in a town", "v2"),
    4: ("budget of a town council", "v2"),
    5: ("copper mining in chile", "v3"),
}


@pytest.fixture(params=RETRIEVERS, ids=lambda kind: kind.score.name)
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    index = Index(request.param, tmp_path)
    yield index
    index.close()


@pytest.fixture
def index(empty: Index) -> Index:
    empty.put(LIBRARY)
    return empty


def test_best_match_comes_first(index: Index) -> None:
    assert index.ids("copper mining")[0] == 5
    assert index.ids("giraffe neck")[0] == 2
    assert set(index.ids("zebra", k=2)) == {1, 3}


def test_hits_are_in_descending_order_without_duplicates(index: Index) -> None:
    hits = index.index.retrieve(question("zebra on the plain of a town"), 10)
    scores = [hit.score for hit in hits]
    assert len(scores) > 2
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[-1]
    assert len({hit.chunk_id for hit in hits}) == len(hits)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_k_limits_hits_to_the_best(index: Index, k: int) -> None:
    query = question("zebra stripes on the plain")
    scores = [hit.score for hit in index.index.retrieve(query, 10)]
    assert [hit.score for hit in index.index.retrieve(query, k)] == pytest.approx(scores[:k])


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
    hits = index.index.retrieve(question("zebra town copper"), 4, ["v1", *versions, "v2", "v3"])
    assert hits == index.index.retrieve(question("zebra town copper"), 4)


def test_excluded_versions_are_not_searched(index: Index) -> None:
    assert set(index.ids("zebra town copper", versions=Excluding(["v1", "v9"]))) == {3, 4, 5}
    assert index.ids("zebra", versions=Excluding(["v1", "v2", "v3"])) == []
    assert set(index.ids("zebra stripes", k=2, versions=Excluding(["v9"]))) == {1, 3}


def test_hidden_chunks_do_not_change_scores_counted_alone(empty: Index) -> None:
    visible = {chunk_id: row for chunk_id, row in LIBRARY.items() if row[1] != "v3"}
    versions = CountedAlone(["v1", "v2"], lambda _: list(visible))
    asked = question("zebra on the plain of a town")
    empty.put(visible)
    before = empty.index.retrieve(asked, 10, versions)
    # These chunks have as many words as the visible ones, because BM25 uses the mean length of all chunks.
    empty.put({100 + number: (f"zebra of a town {number}", "hidden") for number in range(20)})
    after = empty.index.retrieve(asked, 10, versions)
    assert [hit.chunk_id for hit in after] == [hit.chunk_id for hit in before]
    assert [hit.score for hit in after] == pytest.approx([hit.score for hit in before])


def test_deleted_chunk_is_not_found(index: Index) -> None:
    index.index.delete([1, 5])
    assert 1 not in index.ids("zebra stripes on the plain", k=1000)
    assert 5 not in index.ids("copper mining in chile", k=1000)
    assert index.index.ids() == {2, 3, 4}
    assert index.index.count([1, 5]) == 0


def test_deleting_unknown_chunks_has_no_effect(index: Index) -> None:
    index.index.delete([77, 78])
    index.index.delete([])
    assert index.index.count() == 5


def test_adding_a_chunk_again_overwrites_it(index: Index) -> None:
    index.put({1: ("penguin colony", "v3")})
    assert index.index.count() == 5
    assert index.ids("penguin colony", k=1) == [1]
    assert 1 not in index.ids("zebra stripes", k=1)
    assert index.ids("penguin", k=1, versions=["v3"]) == [1]
    assert 1 not in index.ids("zebra stripes", versions=["v1"])


def test_ids_and_counts(index: Index) -> None:
    assert index.index.ids() == set(LIBRARY)
    assert index.index.ids([1, 2, 99]) == {1, 2}
    assert index.index.count([1, 99]) == 1
    assert index.index.count([]) == 0


def test_empty_index_finds_nothing(empty: Index) -> None:
    assert empty.ids("zebra") == []
    assert empty.ids("zebra", versions=["v1"]) == []
    assert empty.index.count() == 0
    assert empty.index.ids() == set()


def test_added_chunks_are_found_after_reopening(index: Index) -> None:
    reopened = index.reopen()
    assert reopened.ids() == set(LIBRARY)
    assert [hit.chunk_id for hit in reopened.retrieve(question("copper mining"), 1)] == [5]


def test_generations_are_apart_or_share_one_index(index: Index) -> None:
    index.put({7: ("zebra giraffe budget", "v1")}, generation_id=2)
    kind = index.retriever
    assert (7 in index.index.ids()) == kind.is_shared
    opened = kind.open_all([1, 2])
    assert sum(one.count() for one in opened) == 6
    assert len(opened) == (1 if kind.is_shared else 2)
    kind.drop(2)
    assert set(LIBRARY) <= index.index.ids()
    assert kind.is_shared or kind.open(2).ids() == set()


def test_size_grows_with_the_chunks(empty: Index) -> None:
    fingerprint = Fingerprint("", "", DIMENSION, 0, "", 256, 32, "", "")
    before = empty.retriever.measure_bytes(1, fingerprint)
    empty.put({number: (f"zebra number {number} of a town " * 20, "v1") for number in range(1, 400)})
    assert empty.retriever.measure_bytes(1, fingerprint) > before


@pytest.mark.parametrize("name", ["score", "stage", "store", "place", "reads", "failure"])
def test_retrievers_say_what_pages_and_messages_show(name: str) -> None:
    assert all(getattr(kind, name) for kind in RETRIEVERS)


def test_names_are_unique() -> None:
    for names in ([one.score.name for one in RETRIEVERS], [one.stage.name for one in RETRIEVERS]):
        assert len(set(names)) == len(names)
    assert len({one.store for one in RETRIEVERS}) == len(RETRIEVERS)
