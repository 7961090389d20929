"""Downloads of GGUF files, from a server on the loopback interface."""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
import sys
import time
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

ROOT = Path(__file__).parents[3]
CONTENT = b"GGUF" + random.Random(0).randbytes(1_000_000)


@pytest.fixture
def server() -> Iterator[FileServer]:
    with FileServer(CONTENT) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data" / "models"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


def test_whole_file_is_downloaded_with_progress(server: FileServer, folder: Path) -> None:
    progress: list[tuple[int, int]] = []
    path = download_model(server.model(), folder, on_progress=lambda *seen: progress.append(seen))
    assert path == folder / "tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert names(folder) == ["tiny.gguf"]
    assert is_downloaded(server.model(), folder)
    assert progress[0] == (0, len(CONTENT))
    assert progress[-1] == (len(CONTENT), len(CONTENT))
    assert progress == sorted(set(progress))


def test_existing_file_is_not_downloaded_again(server: FileServer, folder: Path) -> None:
    download_model(server.model(), folder)
    assert download_model(server.model(), folder) == folder / "tiny.gguf"
    assert server.ranges == [None]


def test_killed_download_continues_where_it_stopped(server: FileServer, folder: Path) -> None:
    server.sends_at_most, server.pauses = 500_000, True
    code = (
        "import sys; from pathlib import Path; from rag_core.llm.model_catalogue import CatalogueModel; "
        "from rag_core.llm import model_download; model_download._DISK_RESERVE_BYTES = 0; "
        "name, file, size, memory, licence, url, sha256, capability, folder = sys.argv[1:]; "
        "model = CatalogueModel(name, file, int(size), int(memory), licence, url, sha256, capability); "
        "model_download.download_model(model, Path(folder))"
    )
    model = server.model()
    values = [str(getattr(model, name)) for name in model.__dataclass_fields__]
    part = folder / "tiny.gguf.part"
    with subprocess.Popen([sys.executable, "-c", code, *values, str(folder)], cwd=ROOT) as process:
        try:
            while not (part.is_file() and part.stat().st_size > 400_000):
                assert process.poll() is None, "the download ended before it was killed"
                time.sleep(0.01)
        finally:
            process.kill()
    kept = count_partial_bytes(model, folder)
    assert part.read_bytes() == CONTENT[:kept]
    assert not is_downloaded(model, folder)

    server.sends_at_most, server.pauses = None, False
    progress: list[int] = []
    path = download_model(model, folder, on_progress=lambda done, _: progress.append(done))

    assert server.ranges == [None, f"bytes={kept}-"]
    assert progress[0] == kept
    assert path.read_bytes() == CONTENT
    assert names(folder) == ["tiny.gguf"]


def test_server_without_ranges_sends_the_whole_file(server: FileServer, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "tiny.gguf.part").write_bytes(b"x" * 1000)
    server.accepts_ranges = False
    assert download_model(server.model(), folder).read_bytes() == CONTENT
    assert server.ranges == ["bytes=1000-"]


def test_other_range_than_requested_is_not_appended(server: FileServer, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "tiny.gguf.part").write_bytes(CONTENT[:1000])
    server.range_shift = 5
    with pytest.raises(DownloadInterrupted, match="sent other bytes"):
        download_model(server.model(), folder)
    assert (folder / "tiny.gguf.part").read_bytes() == CONTENT[:1000]


def test_interrupted_connection_keeps_what_arrived(server: FileServer, folder: Path) -> None:
    server.sends_at_most = 700_000
    with pytest.raises(DownloadInterrupted, match=r"tiny could not be downloaded from 127\.0\.0\.1.*continues after"):
        download_model(server.model(), folder)
    assert names(folder) == ["tiny.gguf.part"]
    server.sends_at_most = None
    assert download_model(server.model(), folder).read_bytes() == CONTENT
    assert server.ranges[1] is not None


def test_silent_server_times_out(server: FileServer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_download, "_READ_TIMEOUT_S", 0.2)
    server.sends_at_most, server.pauses = 100_000, True
    with pytest.raises(DownloadInterrupted, match="timed out"):
        download_model(server.model(), folder)


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


@pytest.mark.parametrize("content", [b"x" * len(CONTENT), CONTENT + b"more"])
def test_other_content_is_removed(server: FileServer, folder: Path, content: bytes) -> None:
    model = server.model()
    server.content = content
    with pytest.raises(ChecksumMismatch, match=r"was removed.*instead of .*model use PATH"):
        download_model(model, folder)
    assert names(folder) == []


def test_damaged_complete_part_is_removed(server: FileServer, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "tiny.gguf.part").write_bytes(b"x" * len(CONTENT))
    with pytest.raises(ChecksumMismatch):
        download_model(server.model(), folder)
    assert names(folder) == []
    assert server.ranges == []


def test_complete_part_is_used_without_a_request(server: FileServer, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "tiny.gguf.part").write_bytes(CONTENT)
    assert download_model(server.model(), folder).read_bytes() == CONTENT
    assert server.ranges == []


def test_too_little_disk_space_is_reported_before_the_download(
    server: FileServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=400_000_000))
    with pytest.raises(ModelTooLarge, match=r"needs 501 MB of disk space in .*, and 400 MB are free.*model use PATH"):
        download_model(server.model(), folder)
    assert not folder.exists()
    assert server.ranges == []


def test_downloaded_part_needs_no_space_again(
    server: FileServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=500_500_000))
    assert find_capacity_problem(server.model(), folder)
    folder.mkdir(parents=True)
    (folder / "tiny.gguf.part").write_bytes(CONTENT[:600_000])
    assert find_capacity_problem(server.model(), folder) == ""


def test_too_little_memory_is_reported_before_the_download(
    server: FileServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_download, "read_total_memory", lambda: 2_000_000_000)
    with pytest.raises(ModelTooLarge, match=r"needs 3\.5 GB of memory, and this machine has 2\.0 GB"):
        download_model(server.model(memory_bytes=3_500_000_000), folder)
    assert server.ranges == []


def test_missing_network_is_reported(server: FileServer, folder: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/tiny.gguf"
        with pytest.raises(DownloadInterrupted, match=r"Connection refused.*a network.*GGUF file.*model use PATH"):
            download_model(server.model(url=url), folder)


@pytest.mark.parametrize("status", [204, 403, 404, 500])
def test_error_of_the_server_is_reported(server: FileServer, folder: Path, status: int) -> None:
    server.status = status
    with pytest.raises(DownloadInterrupted, match="HTTP" if status > 204 else "stopped sending"):
        download_model(server.model(), folder)


def test_redirect_keeps_the_range(server: FileServer, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "tiny.gguf.part").write_bytes(CONTENT[:1000])
    server.redirects["/moved"] = f"{server.url}/tiny.gguf"
    assert download_model(server.model("/moved"), folder).read_bytes() == CONTENT
    assert server.ranges == ["bytes=1000-"]


def test_redirect_to_an_unencrypted_address_is_refused(server: FileServer, folder: Path) -> None:
    server.redirects["/moved"] = "http://files.example/tiny.gguf"
    with pytest.raises(DownloadInterrupted, match=r"redirects to files\.example without encryption"):
        download_model(server.model("/moved"), folder)
    assert names(folder) == []


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
