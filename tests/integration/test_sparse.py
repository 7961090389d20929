"""Learned sparse retrieval from indexing to search results."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from rag_core.api import json_rows
from rag_core.embedding import bundled
from rag_core.embedding.sentence_transformer import SparseEncoder
from rag_core.engine import Engine
from rag_core.errors import IndexMismatch, SparseEncoderMissing
from rag_core.index import RETRIEVERS
from rag_core.index.retriever import ChunkBatch
from rag_core.index.sparse import SparseIndex
from rag_core.store.preferences import PreferenceStore
from rag_core.types.answers import Stage
from rag_core.types.chunks import SparseVector
from rag_core.types.documents import DocumentStatus
from rag_core.types.evaluation import Evaluation, LabelledPage
from rag_core.types.jobs import JobState
from rag_core.types.retrieval import RetrievalConfig
from tests.support.engines import (
    ASK_BUDGET,
    ASK_COPPER,
    BUDGET,
    COPPER,
    PENGUINS,
    QUESTIONS,
    add_document,
    assert_in_agreement,
    assert_stores_agree,
    copy_folder,
    failing,
    idle,
    indexed,
    open_index,
    open_library,
    opened,
    rebuild_index,
)
from tests.support.pdfs import make_pdf
from tests.support.sparse_encoders import make_sparse_encoder

WORDS = re.findall(r"\w+", " ".join([BUDGET, PENGUINS, COPPER, *QUESTIONS.values()]).lower())
BY_SPARSE = RetrievalConfig("sparse")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(make_sparse_encoder(tmp_path_factory.mktemp("encoders") / "first", WORDS))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, encoder: str) -> Iterator[Engine]:
    with open_library(tmp_path_factory.mktemp("sparse") / "data", sparse=encoder) as engine:
        yield engine


@pytest.fixture
def engine(tmp_path: Path, encoder: str) -> Iterator[Engine]:
    with opened(tmp_path / "data", sparse=encoder) as engine:
        yield engine


def stored_ids(engine: Engine) -> set[int]:
    """Return the ids of the chunks in the sparse indexes of all generations."""
    with closing(sqlite3.connect(engine.settings.data_dir / "sparse.sqlite")) as connection:
        return {chunk_id for (chunk_id,) in connection.execute("SELECT chunk_id FROM entries")}


def chunk_ids(engine: Engine) -> set[int]:
    return set(engine._stores.documents.all_chunk_ids())


def test_score_is_the_inner_product_of_the_vectors(library: Engine, encoder: str) -> None:
    result = library.search(ASK_COPPER, configuration=BY_SPARSE)
    best = result.passages[0]
    assert best.document == "mine.pdf"
    model = SparseEncoder(encoder)
    question, (chunk,) = model.encode_question(ASK_COPPER), model.encode([f"mine\n{best.text}"])
    weights = dict(zip(chunk.terms.tolist(), chunk.weights.tolist(), strict=True))
    pairs = zip(question.terms.tolist(), question.weights.tolist(), strict=True)
    expected = sum(weight * weights.get(term, 0.0) for term, weight in pairs)
    assert best.scores["sparse"] == pytest.approx(expected, rel=2e-3)  # weights are stored with 16 bits
    assert best.scores["dense"] is None
    assert best.scores["bm25"] is None


@pytest.mark.parametrize("question", QUESTIONS.values())
def test_sparse_hits_are_fused(library: Engine, question: str) -> None:
    explanation = library.explain(question, configuration=RetrievalConfig("rrf"))
    ranks = {stage.name: stage.ranks for stage in explanation.stages}
    names = [one.score.name for one in RETRIEVERS]
    assert list(ranks)[: len(names) + 1] == [*names, "rrf"]
    fused = {hit.chunk_id: hit.score for stage in explanation.stages if stage.name == "rrf" for hit in stage.hits}
    for chunk_id, score in fused.items():
        found = [ranks[name][chunk_id] for name in names if chunk_id in ranks[name]]
        assert score == pytest.approx(sum(1 / (60 + rank) for rank in found))


def test_score_is_part_of_passages_and_stages(library: Engine) -> None:
    result = library.search(ASK_BUDGET)
    assert "sparse" in result.timings_ms
    (row, *_) = json_rows.build_search_row(result, None)["passages"]
    assert row["scores"]["sparse"] == result.passages[0].scores["sparse"]
    stages = [event.name for event in library.ask(ASK_BUDGET) if isinstance(event, Stage) and event.done]
    assert "sparse" in stages


def test_retrieval_without_the_sparse_index(library: Engine) -> None:
    result = library.search(ASK_BUDGET, configuration=RetrievalConfig("rrf", sparse=False))
    assert not any("sparse" in passage.scores for passage in result.passages)
    assert "sparse" not in result.timings_ms
    assert RetrievalConfig("rrf", sparse=False).label == "rrf, without sparse"


def test_added_replaced_and_deleted_documents(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET)
    second = indexed(engine, "b.pdf", COPPER)
    assert stored_ids(engine) == chunk_ids(engine)
    assert_in_agreement(engine)
    indexed(engine, "a.pdf", PENGUINS)
    assert stored_ids(engine) == chunk_ids(engine)
    receipt = engine.documents.delete([second])[0]
    assert receipt.remaining["sparse vectors"] == 0
    assert {one.document for one in engine.search(ASK_COPPER, configuration=BY_SPARSE).passages} == {"a.pdf"}
    assert stored_ids(engine) == chunk_ids(engine)
    assert len(stored_ids(engine)) == 1
    assert_in_agreement(engine)


def test_change_of_the_encoder_is_noticed_and_applied_by_a_reindex(tmp_path: Path, encoder: str) -> None:
    with open_library(tmp_path / "data") as engine:
        assert engine.status().healthy
        with pytest.raises(IndexMismatch, match=r"no learned sparse part.*RAG_SPARSE"):
            engine.search(ASK_BUDGET, configuration=BY_SPARSE)
    with opened(tmp_path / "data", sparse=encoder) as engine:
        assert set(engine.index.differences()) == {"sparse", "sparse_weights"}
        assert any("other settings (sparse, sparse_weights)" in notice for notice in engine.status().notices)
        assert "sparse" not in engine.search(ASK_BUDGET).passages[0].scores
        job = rebuild_index(engine)
        assert job.state is JobState.DONE, job
        assert job.details["embeddings_computed"] == 0
        assert engine.search(ASK_BUDGET).passages[0].scores["sparse"]
        assert_in_agreement(engine)
    other = str(make_sparse_encoder(tmp_path / "other", WORDS, seed=8))
    with opened(tmp_path / "data", sparse=other) as engine:
        assert set(engine.index.differences()) == {"sparse", "sparse_weights"}
        assert engine.search(ASK_BUDGET).passages[0].scores["sparse"]  # with the encoder of the index
        rebuild_index(engine)
        assert stored_ids(engine) == chunk_ids(engine)
        assert_in_agreement(engine)
    with opened(tmp_path / "data") as engine:
        assert engine.search(ASK_BUDGET).passages[0].scores["sparse"]
        rebuild_index(engine)
        assert stored_ids(engine) == set()
        assert_in_agreement(engine)


def test_rebuild_restores_missing_entries(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET)
    indexed(engine, "b.pdf", COPPER)
    generation, _ = engine._stores.documents.generations("active")[0]
    open_index(engine._stores, "sparse", generation).delete([min(stored_ids(engine))])
    assert any("1 in the sparse index" in problem for problem in engine.status().problems)
    assert rebuild_index(engine).details["embeddings_computed"] == 0
    assert_in_agreement(engine)


def test_orphaned_entries_are_removed_after_a_crash(tmp_path: Path, engine: Engine, encoder: str) -> None:
    indexed(engine, "a.pdf", BUDGET)
    generation, _ = engine._stores.documents.generations("active")[0]
    vector = SparseVector(np.array([3], np.int32), np.array([1.0], np.float32))
    open_index(engine._stores, "sparse", generation).add(ChunkBatch([900], [("", "")], ["gone"], encodings=[vector]))
    PreferenceStore.set(engine._stores.preferences, "clean_shutdown", None)
    copy_folder(tmp_path / "data", tmp_path / "copy")()
    with opened(tmp_path / "copy", sparse=encoder) as after:
        idle(after)
        assert stored_ids(after) == chunk_ids(after)
        assert_in_agreement(after)


@pytest.mark.parametrize("name", ["/no/such/model", "nobody/no-such-model"])
def test_missing_encoder_is_reported_with_its_setting(tmp_path: Path, name: str) -> None:
    with open_library(tmp_path / "data"):
        pass
    with opened(tmp_path / "data", sparse=name) as engine:
        assert any("is not on this machine" in one and "RAG_SPARSE" in one for one in engine.status().problems)
        assert engine.search(ASK_BUDGET).gate.answerable
        job = rebuild_index(engine)
        assert job.state is JobState.FAILED
        assert repr(name) in job.reason
        assert "Set RAG_SPARSE to a folder that contains a sparse encoder" in job.reason


def test_searches_go_on_without_the_encoder_of_the_index(tmp_path: Path) -> None:
    folder = make_sparse_encoder(tmp_path / "encoder", WORDS)
    with opened(tmp_path / "data", sparse=str(folder)) as engine:
        indexed(engine, "a.pdf", BUDGET)
    make_sparse_encoder(folder, WORDS, seed=8)
    with opened(tmp_path / "data", sparse=str(folder)) as engine:
        result = engine.search(ASK_BUDGET)
        assert result.gate.answerable
        assert "Learned sparse retrieval did not run. The index was built with other weights" in result.notices[0]
    folder.rename(tmp_path / "elsewhere")
    with opened(tmp_path / "data", sparse=str(folder)) as engine:
        result = engine.search(ASK_BUDGET)
        assert result.gate.answerable
        assert "Learned sparse retrieval did not run. The sparse encoder" in result.notices[0]
        with pytest.raises(SparseEncoderMissing, match="RAG_SPARSE"):
            engine.search(ASK_BUDGET, configuration=BY_SPARSE)
        job = add_document(engine, "b.pdf", make_pdf(COPPER))
        assert job.result is DocumentStatus.FAILED
        assert "RAG_SPARSE" in job.reason
        sizes = engine.status().stores
        assert sizes["database"] == sizes["words"] == sizes["vectors"] == sizes["sparse vectors"] == 1


def test_searches_go_on_without_the_sparse_store(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET)
    with failing(SparseIndex, "retrieve"):
        result = engine.search(ASK_BUDGET)
    assert result.gate.answerable
    assert result.notices[0] == "Learned sparse retrieval did not run. The disk is on fire."
    assert_stores_agree(engine)


def test_model_that_is_no_sparse_encoder_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(SparseEncoderMissing, match=r"is not a sparse encoder.*RAG_SPARSE"):
        SparseEncoder(str(bundled.find_weights_folder()))


def test_question_does_not_wait_for_the_whole_document(encoder: str) -> None:
    model, encoded = SparseEncoder(encoder), []
    encode = model._encode

    def counted(method: object, text: str) -> SparseVector:
        encoded.append(text)
        return encode(method, text)

    model._encode = counted  # type: ignore[method-assign]
    documents = threading.Thread(target=model.encode, args=[[BUDGET] * 80])
    documents.start()
    model.encode_question(ASK_BUDGET)
    done = len(encoded)
    documents.join()
    assert done < len(encoded) == 81


def test_text_without_terms_is_stored_and_not_found(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET)
    generation, _ = engine._stores.documents.generations("active")[0]
    empty = SparseVector(np.empty(0, np.int32), np.empty(0, np.float32))
    index = open_index(engine._stores, "sparse", generation)
    index.add(ChunkBatch([900], [("", "")], ["x"], encodings=[empty]))
    assert 900 in index.ids()
    index.delete([900])
    assert 900 not in index.ids()


def test_methods_to_compare_include_sparse_retrieval(library: Engine) -> None:
    labels = [one.label for one in library.evaluations.list_methods()]
    assert {"sparse", "rrf, without sparse", "named, without sparse"} <= set(labels)
    label = library.labels.add(ASK_BUDGET, evidence=[LabelledPage("bridge.pdf", 0)])
    *_, last = library.evaluations.run([label], BY_SPARSE, answers=False)
    assert isinstance(last, Evaluation)
    assert last.index_bytes is not None
    assert last.index_bytes > 0
    assert {one.metric: one.interval.value for one in last.figures}["recall@1"] == 1.0
