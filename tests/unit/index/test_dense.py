"""Files and errors of an embedded Chroma database."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from rag_core.errors import StoreUnavailable
from rag_core.index.dense import DenseIndex, open_chroma, split_server
from rag_core.index.retriever import ChunkBatch


def test_freed_memory_is_not_written_to_disk(tmp_path: Path) -> None:
    vector = np.ones((1, 384), np.float32)
    for number in range(12):
        secrets = [b"s" * size for size in (300, 8_000, 17_000) for _ in range(40)]
        kept = secrets[::7]
        del secrets
        client = open_chroma(tmp_path / str(number), None)
        index = DenseIndex(client, 1, "library")
        index.add(ChunkBatch([1], [("", "")], ["v"], vector))
        assert index.count() == 1
        client.close()
        del kept
    written = [file.read_bytes() for file in tmp_path.rglob("data_level0.bin")]
    assert len(written) == 12
    # So few vectors are in Chroma's database, and these files are empty. Only glibc can fill memory with zeros.
    assert not any(map(any, written)) or not hasattr(ctypes.CDLL(None), "mallopt")


def test_damaged_folder_is_refused_with_advice_until_repaired(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    folder.mkdir()
    (folder / "chroma.sqlite3").write_bytes(b"this is not a database" * 100)
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match=r"is not a database.*delete that folder.*re-index") as raised:
            open_chroma(folder, None)
        assert str(folder) in str(raised.value)
        assert "CHROMA_HOST" not in str(raised.value)
    (folder / "chroma.sqlite3").unlink()
    client = open_chroma(folder, None)
    index = DenseIndex(client, 1, "library")
    index.add(ChunkBatch([1], [("", "")], ["v"], np.ones((1, 4), np.float32)))
    assert index.ids() == {1}
    client.close()


@pytest.mark.parametrize(
    ("server", "parts"),
    [
        ("chroma.example", ("chroma.example", 8000)),
        ("127.0.0.1:9000", ("127.0.0.1", 9000)),
        ("[::1]:9000", ("::1", 9000)),
    ],
)
def test_server_has_a_port(server: str, parts: tuple[str, int]) -> None:
    assert split_server(server) == parts


@pytest.mark.parametrize("server", ["chroma:many", "chroma:99999"])
def test_wrong_port_is_refused_with_the_setting(server: str) -> None:
    with pytest.raises(StoreUnavailable, match=r"RAG_CHROMA_HOST=.* is not a host or host:port.*Correct it"):
        split_server(server)
