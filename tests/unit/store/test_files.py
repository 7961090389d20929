from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.errors import DataFolderUnwritable, StoreUnavailable
from rag_core.store.file_names import clean_name
from rag_core.store.files import FileStore, sha256_of


@pytest.fixture(params=["folder", "elsewhere"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> FileStore:
    """A folder on this machine, and one behind a URL that has no path here."""
    return FileStore(tmp_path / "files" if request.param == "folder" else f"memory://{tmp_path.name}")


def test_what_is_put_is_got_back_by_its_content(store: FileStore) -> None:
    digest = store.put(b"content")
    assert digest == sha256_of(b"content")
    assert store.get(digest) == b"content"
    assert store.exists(digest)
    assert store.digests() == [digest]


def test_the_same_content_is_kept_once(store: FileStore) -> None:
    assert store.put(b"content") == store.put(b"content")
    assert len(store.digests()) == 1
    store.put(b"")
    assert len(store.digests()) == 2


def test_a_local_path_holds_the_content(store: FileStore) -> None:
    with store.local(store.put(b"content")) as path:
        assert path.read_bytes() == b"content"


def test_what_is_deleted_is_gone(store: FileStore) -> None:
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
def test_nothing_but_a_content_address_is_looked_up(store: FileStore, address: str) -> None:
    for call in (store.get, store.delete, store.exists):
        with pytest.raises(ValueError, match="content address"):
            call(address)


def test_a_write_that_is_cut_off_leaves_nothing_under_the_address(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    digest = store.put(b"content")
    part = tmp_path / digest[:2] / f"{digest}.part"
    part.write_bytes(b"con")
    assert store.digests() == [digest]
    store.remove_parts()
    assert not part.exists()
    assert store.get(digest) == b"content"


def test_a_write_that_a_full_disk_refuses_leaves_nothing(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    digest = sha256_of(b"content")
    part = tmp_path / digest[:2] / f"{digest}.part"
    part.parent.mkdir()
    part.symlink_to("/dev/full")  # whatever is written there meets a full disk
    with pytest.raises(DataFolderUnwritable, match="free some space"):
        store.put(b"content")
    assert not part.is_symlink()
    assert store.put(b"content") == digest
    assert store.get(digest) == b"content"


@pytest.mark.parametrize("left", [b"", b"con"])
def test_a_file_that_lost_its_content_is_written_again(tmp_path: Path, left: bytes) -> None:
    store = FileStore(tmp_path)
    digest = store.put(b"content")
    (tmp_path / digest[:2] / digest).write_bytes(left)
    assert store.put(b"content") == digest
    assert store.get(digest) == b"content"


def test_files_that_others_put_there_are_left_alone(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    digest = store.put(b"content")
    strange = [".DS_Store", "readme.txt", "notes.part", f"{'a' * 64}", f"{digest[:2]}/.DS_Store", f"00/{'a' * 64}.part"]
    for name in strange:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    assert store.digests() == [digest]
    store.remove_parts()
    assert all((tmp_path / name).exists() for name in strange)


def test_a_file_that_cannot_be_removed_is_told(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    digest = store.put(b"a pdf")
    path = tmp_path / digest[:2] / digest
    path.unlink()
    path.mkdir()
    with pytest.raises(StoreUnavailable, match=r"cannot be removed .* permissions"):
        store.delete(digest)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataFolderUnwritable, match="file"):
        FileStore(tmp_path / "file" / "below")
    store = FileStore(tmp_path / "store")
    digest = sha256_of(b"content")
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
