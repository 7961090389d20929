"""The file store and file names."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.errors import DataFolderUnwritable, StoreUnavailable
from rag_core.store.file_names import clean_name
from rag_core.store.files import FileStore, compute_sha256


@pytest.fixture(params=["folder", "elsewhere"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> FileStore:
    """Return a store in a local folder, and one behind a URL without a local path."""
    return FileStore(tmp_path / "files" if request.param == "folder" else f"memory://{tmp_path.name}")


def test_content_is_stored_by_its_digest(store: FileStore) -> None:
    digest = store.put(b"content")
    assert digest == compute_sha256(b"content")
    assert store.get(digest) == b"content"
    assert store.exists(digest)
    assert store.digests() == [digest]
    with store.local(digest) as path:
        assert path.read_bytes() == b"content"


def test_same_content_is_stored_once(store: FileStore) -> None:
    assert store.put(b"content") == store.put(b"content")
    assert len(store.digests()) == 1
    store.put(b"")
    assert len(store.digests()) == 2


def test_deleted_content_is_unavailable(store: FileStore) -> None:
    digest = store.put(b"content")
    store.delete(digest)
    store.delete(digest)
    assert not store.exists(digest)
    assert store.digests() == []
    with pytest.raises(StoreUnavailable, match="Upload the document again"):
        store.get(digest)
    with pytest.raises(StoreUnavailable, match="Upload the document again"), store.local(digest):
        pass


@pytest.mark.parametrize("address", ["", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 64 + "/.."])
def test_invalid_digest_is_rejected(store: FileStore, address: str) -> None:
    for call in (store.get, store.delete, store.exists):
        with pytest.raises(ValueError, match="SHA-256"):
            call(address)


def test_interrupted_write_leaves_no_content(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    digest = store.put(b"content")
    part = tmp_path / digest[:2] / f"{digest}.part"
    part.write_bytes(b"con")
    assert store.digests() == [digest]
    store.remove_partial_files()
    assert not part.exists()
    assert store.get(digest) == b"content"


def test_failed_write_to_full_disk_leaves_no_content(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    digest = compute_sha256(b"content")
    part = tmp_path / digest[:2] / f"{digest}.part"
    part.parent.mkdir()
    part.symlink_to("/dev/full")  # every write fails as on a full disk
    with pytest.raises(DataFolderUnwritable, match="free some space"):
        store.put(b"content")
    assert not part.is_symlink()
    assert store.put(b"content") == digest
    assert store.get(digest) == b"content"


@pytest.mark.parametrize("remainder", [b"", b"con"])
def test_truncated_file_is_rewritten(tmp_path: Path, remainder: bytes) -> None:
    store = FileStore(tmp_path)
    digest = store.put(b"content")
    (tmp_path / digest[:2] / digest).write_bytes(remainder)
    assert store.put(b"content") == digest
    assert store.get(digest) == b"content"


def test_files_of_other_programs_are_kept(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    digest = store.put(b"content")
    others = [".DS_Store", "readme.txt", "notes.part", f"{'a' * 64}", f"{digest[:2]}/.DS_Store", f"00/{'a' * 64}.part"]
    for name in others:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    assert store.digests() == [digest]
    store.remove_partial_files()
    assert all((tmp_path / name).exists() for name in others)


def test_error_for_file_that_cannot_be_removed(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    digest = store.put(b"a pdf")
    path = tmp_path / digest[:2] / digest
    path.unlink()
    path.mkdir()
    with pytest.raises(StoreUnavailable, match=r"cannot be removed .* permissions"):
        store.delete(digest)


def test_error_for_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataFolderUnwritable, match="file"):
        FileStore(tmp_path / "file" / "below")
    store = FileStore(tmp_path / "store")
    digest = compute_sha256(b"content")
    (tmp_path / "store" / digest[:2]).write_text("in the way")
    with pytest.raises(DataFolderUnwritable):
        store.put(b"content")


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("report.pdf", "report.pdf"),
        ("a/b\\c.pdf", "c.pdf"),
        ("  a \t b.pdf ", "a b.pdf"),
        (".hidden.pdf.", "hidden.pdf"),
        ("", "unnamed.pdf"),
        ("///", "unnamed.pdf"),
        ("\x00\x01", "unnamed.pdf"),
        ("soft\u00adhyphen.pdf", "softhyphen.pdf"),
        ("n" * 300 + ".pdf", "n" * 196 + ".pdf"),
        ("n" * 300, "n" * 200),
    ],
)
def test_names_are_cleaned(name: str, clean: str) -> None:
    assert clean_name(name) == clean
