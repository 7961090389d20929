"""Downloads of GGUF files, from a server on the loopback interface."""

from __future__ import annotations

import random
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from rag_core.errors import (
    ChecksumMismatch,
    DataFolderUnwritable,
    DownloadCancelled,
    DownloadInterrupted,
    ModelDownloadError,
    ModelTooLarge,
)
from rag_core.llm import model_download
from rag_core.llm.model_download import count_partial_bytes, download_model, find_capacity_problem, is_downloaded
from tests.support.file_server import FileServer

CONTENT = b"GGUF" + random.Random(0).randbytes(1_000_000)
OTHER = b"x" * len(CONTENT)
# A redirect to the file on the same server, and one to a server without encryption.
MOVED, UNSAFE = "/moved", "/unsafe"


@pytest.fixture
def server() -> Iterator[FileServer]:
    with FileServer(CONTENT) as server:
        server.redirects = {MOVED: f"{server.url}/tiny.gguf", UNSAFE: "http://files.example/tiny.gguf"}
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data" / "models"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


def leave_part(folder: Path, part: bytes) -> None:
    folder.mkdir(parents=True)
    if part:
        (folder / "tiny.gguf.part").write_bytes(part)


def test_whole_file_is_downloaded_once_with_progress(server: FileServer, folder: Path) -> None:
    progress: list[tuple[int, int]] = []
    for _ in range(2):
        path = download_model(server.model(), folder, on_progress=lambda *seen: progress.append(seen))
        assert path == folder / "tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert names(folder) == ["tiny.gguf"]
    assert is_downloaded(server.model(), folder)
    assert (progress[0], progress[-1]) == ((0, len(CONTENT)), (len(CONTENT), len(CONTENT)))
    assert progress == sorted(set(progress))
    assert server.ranges == [None]


@pytest.mark.parametrize(
    ("part", "path", "accepts_ranges", "ranges"),
    [
        (CONTENT[:1000], MOVED, True, ["bytes=1000-"]),
        (OTHER[:1000], "/tiny.gguf", False, ["bytes=1000-"]),
        (CONTENT, "/tiny.gguf", True, []),
    ],
    ids=["redirect", "server without ranges", "complete part"],
)
def test_download_continues_after_a_part(
    server: FileServer, folder: Path, part: bytes, path: str, accepts_ranges: bool, ranges: list[str]
) -> None:
    leave_part(folder, part)
    server.accepts_ranges = accepts_ranges
    assert download_model(server.model(path), folder).read_bytes() == CONTENT
    assert server.ranges == ranges


@pytest.mark.parametrize(
    ("part", "faults", "path", "words", "kept"),
    [
        (CONTENT[:1000], {"range_shift": 5}, "", "sent other bytes", 1000),
        (b"", {"sends_at_most": 700_000}, "", r"tiny could not be downloaded from 127\.0\.0\.1.*continues after", None),
        (b"", {"sends_at_most": 100_000, "pauses": True}, "", "timed out", None),
        (b"", {}, UNSAFE, r"redirects to files\.example without encryption", 0),
        (b"", {"status": 204}, "", "stopped sending", 0),
        *((b"", {"status": code}, "", f"HTTP {code}", 0) for code in (403, 404, 500)),
    ],
)
def test_interrupted_download_keeps_what_arrived(
    server: FileServer,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    part: bytes,
    faults: dict[str, object],
    path: str,
    words: str,
    kept: int | None,
) -> None:
    monkeypatch.setattr(model_download, "_READ_TIMEOUT_S", 1.0)
    leave_part(folder, part)
    for name, value in faults.items():
        setattr(server, name, value)
    with pytest.raises(DownloadInterrupted, match=words):
        download_model(server.model(path or "/tiny.gguf"), folder)
    arrived = count_partial_bytes(server.model(), folder)
    assert arrived == kept or (kept is None and arrived > 0)
    assert not arrived or (folder / "tiny.gguf.part").read_bytes() == CONTENT[:arrived]
    for name in faults:
        setattr(server, name, type(getattr(server, name))() if name != "sends_at_most" else None)
    assert download_model(server.model(), folder).read_bytes() == CONTENT
    assert server.ranges[-1] == (f"bytes={arrived}-" if arrived else None)


def test_cancelled_download_continues_later(server: FileServer, folder: Path) -> None:
    pieces: list[int] = []
    with pytest.raises(DownloadCancelled, match="tiny was stopped"):
        download_model(
            server.model(),
            folder,
            on_progress=lambda done, _: pieces.append(done),
            is_cancelled=lambda: len(pieces) > 3,
        )
    kept = count_partial_bytes(server.model(), folder)
    assert 0 < kept < len(CONTENT)
    assert download_model(server.model(), folder).read_bytes() == CONTENT
    assert server.ranges == [None, f"bytes={kept}-"]


@pytest.mark.parametrize(("part", "sent"), [(b"", OTHER), (b"", CONTENT + b"more"), (OTHER, CONTENT)])
def test_other_content_is_removed(server: FileServer, folder: Path, part: bytes, sent: bytes) -> None:
    model = server.model()
    server.content = sent
    leave_part(folder, part)
    with pytest.raises(ChecksumMismatch, match=r"was removed.*instead of .*model use PATH"):
        download_model(model, folder)
    assert names(folder) == []
    assert len(server.ranges) == (not part)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        (
            "disk_usage",
            SimpleNamespace(free=400_000_000),
            r"needs 501 MB of disk space in .*, and 400 MB .*model use PATH",
        ),
        ("read_total_memory", 2_000_000_000, r"needs 3\.5 GB of memory, and this machine has 2\.0 GB"),
    ],
)
def test_too_small_machine_is_reported_before_the_download(
    server: FileServer, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: object, words: str
) -> None:
    monkeypatch.setattr(shutil if name == "disk_usage" else model_download, name, lambda *_: value)
    with pytest.raises(ModelTooLarge, match=words):
        download_model(server.model(memory_bytes=1 if name == "disk_usage" else 3_500_000_000), folder)
    assert not folder.exists()
    assert server.ranges == []


def test_downloaded_part_needs_no_space_again(
    server: FileServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=500_500_000))
    assert find_capacity_problem(server.model(), folder)
    leave_part(folder, CONTENT[:600_000])
    assert find_capacity_problem(server.model(), folder) == ""


def test_missing_network_is_reported(server: FileServer, folder: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/tiny.gguf"
        with pytest.raises(DownloadInterrupted, match=r"Connection refused.*a network.*GGUF file.*model use PATH"):
            download_model(server.model(url=url), folder)


def test_second_download_of_the_same_model_is_refused(server: FileServer, folder: Path) -> None:
    problems: list[ModelDownloadError] = []

    def download_again(done: int, _: int) -> None:
        if not done:
            with pytest.raises(ModelDownloadError, match="tiny is already being downloaded") as caught:
                download_model(server.model(), folder)
            problems.append(caught.value)

    assert download_model(server.model(), folder, on_progress=download_again).read_bytes() == CONTENT
    assert len(problems) == 1


def test_unwritable_folder_is_reported(server: FileServer, folder: Path) -> None:
    folder.parent.mkdir()
    folder.write_text("a file in the place of the folder")
    with pytest.raises(DataFolderUnwritable, match=r"tiny\.gguf\.part cannot be written"):
        download_model(server.model(), folder)
