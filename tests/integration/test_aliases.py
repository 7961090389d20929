"""The same file under several names, and replaced versions that are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.errors import CollectionError, StoreUnavailable, UnknownDocument
from rag_core.store.documents import DocumentStore
from rag_core.types.documents import DocumentStatus
from tests.support.engines import (
    ASK_BUDGET,
    BUDGET,
    COPPER,
    PENGUINS,
    add_document,
    assert_found,
    assert_in_agreement,
    failing,
    idle,
    indexed,
    opened,
)
from tests.support.pdfs import make_pdf


def names(engine: Engine) -> set[tuple[str, ...]]:
    idle(engine)
    return {(document.name, *document.aliases) for document in engine.documents.list()}


def add(engine: Engine, name: str, folder: str, text: str, **options: str) -> DocumentStatus | None:
    return add_document(engine, name, make_pdf(text), folder=folder, **options).result


def test_same_file_at_two_paths_is_one_document_with_two_names(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET, folder="/x")
    job = add_document(engine, "b.pdf", make_pdf(BUDGET), folder="/y")
    assert (job.result, job.reason) == (
        DocumentStatus.DUPLICATE,
        "The same content is in the library as a.pdf. That document is now also listed as b.pdf.",
    )
    assert names(engine) == {("a.pdf", "b.pdf")}
    assert engine.documents.find_ids(["b.pdf"]) == engine.documents.find_ids(["a.pdf"])
    assert engine.search(ASK_BUDGET, documents=["b.pdf"]).passages[0].document == "a.pdf"
    assert_in_agreement(engine)


# A file: its name, its folder and its text.
File = tuple[str, str, str]


@pytest.mark.parametrize(
    ("files", "expected", "found"),
    [
        # The same path, and an upload of the same name, give no second name.
        ([("a.pdf", "/x", BUDGET), ("a.pdf", "/x", BUDGET)], {("a.pdf",)}, {"budget": ["a.pdf"]}),
        ([("a.pdf", "/x", BUDGET), ("a.pdf", "", BUDGET)], {("a.pdf",)}, {"budget": ["a.pdf"]}),
        # Copies of one name are named with their folders, as many as distinguish them.
        ([("a.pdf", "/l/x", BUDGET), ("a.pdf", "/l/y", BUDGET)], {("x/a.pdf", "y/a.pdf")}, {"budget": ["x/a.pdf"]}),
        (
            [
                ("a.pdf", "/w/north/2023", BUDGET),
                ("a.pdf", "/w/north/2024", PENGUINS),
                ("a.pdf", "/w/south/2023", COPPER),
            ],
            {("north/2023/a.pdf",), ("2024/a.pdf",), ("south/2023/a.pdf",)},
            {"budget": ["north/2023/a.pdf"]},
        ),
        # A changed file leaves the content to its copy, and a changed copy becomes a document.
        (
            [("a.pdf", "/x", BUDGET), ("b.pdf", "/y", BUDGET), ("a.pdf", "/x", PENGUINS)],
            {("a.pdf",), ("b.pdf",)},
            {"budget": ["b.pdf"], "penguins": ["a.pdf"]},
        ),
        (
            [("a.pdf", "/x", BUDGET), ("b.pdf", "/y", BUDGET), ("b.pdf", "/y", PENGUINS)],
            {("a.pdf",), ("b.pdf",)},
            {"budget": ["a.pdf"], "penguins": ["b.pdf"]},
        ),
        # A changed file may have the content of another document.
        (
            [("a.pdf", "/x", BUDGET), ("b.pdf", "/x", PENGUINS), ("a.pdf", "/x", PENGUINS)],
            {("a.pdf",), ("b.pdf",)},
            {"budget": []},
        ),
    ],
)
def test_names_follow_the_files(
    tmp_path: Path, files: list[File], expected: set[tuple[str, ...]], found: dict[str, list[str]]
) -> None:
    with opened(tmp_path / "data") as engine:
        for name, folder, text in files:
            add(engine, name, folder, text)
        assert names(engine) == expected
        assert_found(engine, **found)
        assert_in_agreement(engine)
    with opened(tmp_path / "data") as engine:
        assert names(engine) == expected


@pytest.mark.parametrize(("deleted", "left"), [("a.pdf", "b.pdf"), ("b.pdf", "a.pdf")])
def test_deleting_one_name_keeps_the_content_under_the_other(engine: Engine, deleted: str, left: str) -> None:
    indexed(engine, "a.pdf", BUDGET, folder="/x")
    add(engine, "b.pdf", "/y", BUDGET)
    (receipt,) = engine.documents.delete_named([deleted])
    assert (receipt.document, receipt.chunks_removed, receipt.kept_as) == (deleted, 0, left)
    assert names(engine) == {(left,)}
    assert_found(engine, budget=[left])
    add(engine, deleted, "/z", BUDGET)
    (receipt,) = engine.documents.delete_named([deleted, left])
    assert (receipt.chunks_removed, receipt.chunks_remaining, receipt.kept_as) == (1, 0, "")
    assert names(engine) == set()
    assert_in_agreement(engine)


def test_failed_replacement_keeps_both_names(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET, folder="/x")
    add(engine, "b.pdf", "/y", BUDGET)
    with failing(DocumentStore, "add_version"), pytest.raises(StoreUnavailable):
        engine.documents.submit("a.pdf", make_pdf(PENGUINS), folder="/x")
    assert names(engine) == {("a.pdf", "b.pdf")}


def test_restored_version_does_not_change_other_names(engine: Engine) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET, folder="/x")
    indexed(engine, "a.pdf", PENGUINS, folder="/x")
    add(engine, "b.pdf", "/y", PENGUINS)
    (replaced,) = _replaced(engine, document_id)
    engine.jobs.wait([engine.documents.restore_version(replaced.version_id).job_id])
    assert names(engine) == {("a.pdf",), ("b.pdf",)}
    assert_found(engine, budget=["a.pdf"], penguins=["b.pdf"])


def test_version_that_is_another_document_is_not_restored(engine: Engine) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET, folder="/x")
    indexed(engine, "a.pdf", PENGUINS, folder="/x")
    indexed(engine, "b.pdf", BUDGET, folder="/y")
    (replaced,) = _replaced(engine, document_id)
    job = engine.documents.restore_version(replaced.version_id)
    assert (job.result, job.reason) == (DocumentStatus.DUPLICATE, "The same content is in the library as b.pdf.")
    assert names(engine) == {("a.pdf",), ("b.pdf",)}


def test_renamed_document_is_indexed_again_whatever_the_settings(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        indexed(engine, "a.pdf", BUDGET, folder="/lib/x")
    with opened(tmp_path / "data", chunk_tokens=64) as engine:
        add(engine, "a.pdf", "/lib/y", PENGUINS)
        idle(engine)
        assert [job.reason for job in engine.jobs.list() if job.kind == "reindex"] == [""]
        assert {chunk.prefix for one in engine.documents.list() for chunk in engine.documents.chunks(one.document_id)}


def test_unknown_name_deletes_nothing(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET)
    with pytest.raises(UnknownDocument):
        list(engine.documents.delete_named(["a.pdf", "b.pdf"]))
    assert names(engine) == {("a.pdf",)}


def test_copy_in_another_collection_belongs_to_it(engine: Engine) -> None:
    indexed(engine, "a.pdf", BUDGET, folder="/x", collection="plans")
    add(engine, "a.pdf", "/y", BUDGET, collection="works")
    assert engine.collections.list() == {"plans": 1, "works": 1}
    assert engine.search(ASK_BUDGET, collections=["works"]).passages


def test_all_names_move_to_the_collection(engine: Engine) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET, folder="/x")
    add(engine, "b.pdf", "/y", BUDGET)
    add(engine, "b.pdf", "/z", PENGUINS, collection="plans")
    with pytest.raises(CollectionError, match="would be in the collection 'plans' twice"):
        engine.collections.move_documents([document_id], "plans")
    assert engine.collections.list() == {"plans": 1}
    engine.collections.move_documents([document_id], "works")
    assert engine.collections.list() == {"plans": 1, "works": 1}
    assert not engine.search(ASK_BUDGET, collections=["plans"]).gate.answerable


def test_replaced_version_is_kept_until_removed(engine: Engine) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    job = add_document(engine, "a.pdf", make_pdf(PENGUINS))
    assert job.reason.startswith("It replaces the version of a.pdf added on ")
    current, replaced = engine.documents.versions(document_id)
    assert (current.is_replaced, replaced.is_replaced) == (False, True)
    assert engine.documents.content(document_id, version_id=replaced.version_id) == make_pdf(BUDGET)
    assert_found(engine, budget=[], penguins=["a.pdf"])
    engine.documents.remove_version(replaced.version_id)
    assert [one.version_id for one in engine.documents.versions(document_id)] == [current.version_id]
    assert_in_agreement(engine)


def test_replaced_version_can_be_restored(engine: Engine) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    for text in (PENGUINS, COPPER):
        indexed(engine, "a.pdf", text)
    oldest = engine.documents.versions(document_id)[-1]
    engine.jobs.wait([engine.documents.restore_version(oldest.version_id).job_id])
    assert_found(engine, budget=["a.pdf"], penguins=[], copper=[])
    kept = [engine.documents.content(document_id, version_id=one.version_id) for one in _replaced(engine, document_id)]
    assert kept == [make_pdf(COPPER), make_pdf(PENGUINS)]
    assert_in_agreement(engine)
    engine.jobs.wait([engine.index.rebuild(chunk_tokens=64).job_id])
    assert len(engine.documents.versions(document_id)) == 3
    assert_found(engine, budget=["a.pdf"])
    engine.documents.delete([document_id])
    assert engine._stores.files.digests() == []


def test_current_version_cannot_be_removed_alone(engine: Engine) -> None:
    document_id = indexed(engine, "a.pdf", BUDGET)
    (current,) = engine.documents.versions(document_id)
    with pytest.raises(UnknownDocument):
        engine.documents.remove_version(current.version_id)
    assert_found(engine, budget=["a.pdf"])


def _replaced(engine: Engine, document_id: str) -> list:
    return [one for one in engine.documents.versions(document_id) if one.is_replaced]
