"""What an embedded Chroma leaves on the disk beside the vectors."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from rag_core.errors import StoreUnavailable
from rag_core.index.dense import DenseIndex, open_chroma


def test_nothing_that_was_in_memory_before_is_written_to_the_disk(tmp_path: Path) -> None:
    vector = np.ones((1, 384), np.float32)
    for number in range(12):
        secrets = [b"s" * size for size in (300, 8_000, 17_000) for _ in range(40)]
        kept = secrets[::7]
        del secrets
        client = open_chroma(tmp_path / str(number), None, 8000)
        index = DenseIndex(client, 1)
        index.add([1], vector, ["v"])
        assert index.count() == 1
        client.close()
        del kept
    written = [file.read_bytes() for file in tmp_path.rglob("data_level0.bin")]
    assert len(written) == 12
    # Vectors so few are in Chroma's database: these files are room for more. Other C libraries cannot fill it.
    assert not any(map(any, written)) or not hasattr(ctypes.CDLL(None), "mallopt")


def test_a_folder_that_cannot_be_opened_is_told_with_what_to_do_and_opened_once_it_can_be(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    folder.mkdir()
    (folder / "chroma.sqlite3").write_bytes(b"this is not a database" * 100)
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match=r"is not a database.*delete that folder.*re-index") as refused:
            open_chroma(folder, None, 8000)
        assert str(folder) in str(refused.value)
        assert "CHROMA_HOST" not in str(refused.value)
    (folder / "chroma.sqlite3").unlink()
    client = open_chroma(folder, None, 8000)
    index = DenseIndex(client, 1)
    index.add([1], np.ones((1, 4), np.float32), ["v"])
    assert index.ids() == {1}
    client.close()
