"""What an embedded Chroma leaves on the disk beside the vectors."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np

from rag_core.index import DenseIndex, open_chroma


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
