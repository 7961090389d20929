"""Run models with sentence-transformers: embedders, cross-encoders, verifiers and sparse encoders."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rag_core.embedding.embedder import EmbedderIdentity
from rag_core.embedding.projection import Projection, scale_to_unit_length
from rag_core.embedding.transformer import TransformerEmbedder, find_text_token_positions, load_tokenizer, pad_ids
from rag_core.errors import (
    EmbedderError,
    EmbedderMissing,
    RagError,
    RerankerMissing,
    SparseEncoderMissing,
    VerifierMissing,
)
from rag_core.settings import BUNDLED_EMBEDDER
from rag_core.system import count_available_cores
from rag_core.types.arrays import FloatArray, Int64Array
from rag_core.types.chunks import SparseVector


class SentenceTransformerEmbedder(TransformerEmbedder):
    """An embedder that runs a model with sentence-transformers.

    Parameters
    ----------
    name : str
        Name or path of a sentence-transformers model that is already on this machine. Nothing is downloaded.
    precision : {"auto", "fp32", "bf16"}
        ``auto`` stands for bf16 on processors that support bf16, where bf16 is faster, and for fp32 on others.
    folder : Path, optional
        The folder of the model, if ``name`` does not say where the model is.

    Raises
    ------
    EmbedderMissing
        The model is not on this machine.
    EmbedderError
        The model has no fast tokenizer.
    """

    def __init__(self, name: str, *, precision: str = "auto", folder: Path | None = None) -> None:
        import torch

        is_bf16 = precision == "bf16" or (precision == "auto" and _has_native_bf16(torch))
        dtype = torch.bfloat16 if is_bf16 else torch.float32
        path = str(folder or name)
        hint = (
            f"Set RAG_EMBEDDER to a folder that contains it, or remove the setting to use {BUNDLED_EMBEDDER}, which is "
            "included."
        )
        self._model = _load_model(
            "SentenceTransformer", path, EmbedderMissing, "embedding model", hint, model_kwargs={"dtype": dtype}
        )
        backend = getattr(self._model.tokenizer, "backend_tokenizer", None)
        if backend is None:
            raise EmbedderError(f"The embedding model {name!r} has no fast tokenizer; choose another (RAG_EMBEDDER).")
        # The embedder uses a copy of the tokenizer. The original truncates and pads texts and is not thread-safe.
        tokenizer = load_tokenizer(backend.to_str())
        self._pad_id = int(self._model.tokenizer.pad_token_id or 0)
        projection = Projection.rotation(int(self._run([tokenizer.encode("a").ids], "document", 0)[1].shape[2]))
        question_prompt, document_prompt = _find_prompts(self._model)
        identity = EmbedderIdentity(
            name=name,
            weights=_hash_weights(self._model, path, [question_prompt, document_prompt]),
            dimension=int(self._model.get_embedding_dimension()),
            token_dimension=projection.token_dimension,
            projection=projection.name,
        )
        super().__init__(
            *(tokenizer, int(self._model.get_max_seq_length() or 512), projection, identity),
            question_prompt=question_prompt,
            document_prompt=document_prompt,
        )
        # Numbers of leading tokens that some models leave out of the dense vector: the prompt and special tokens.
        self._prompt_tokens = {
            "query": self._count_leading_tokens(question_prompt),
            "document": self._count_leading_tokens(document_prompt),
        }

    def _forward(self, ids: Sequence[Sequence[int]]) -> tuple[FloatArray, FloatArray]:
        return self._run(ids, "document", self._prompt_tokens["document"])

    def _forward_question(self, ids: Sequence[int], low_priority: bool) -> tuple[FloatArray, FloatArray]:
        return self._run([ids], "query", self._prompt_tokens["query"])

    def _count_leading_tokens(self, prompt: str) -> int:
        """Return the number of tokens of a prompt and of the special tokens before it; 0 without a prompt."""
        encoding = self._tokenizer.encode(f"{prompt}a")
        return int(find_text_token_positions(encoding, prompt)[0]) if prompt else 0

    def _run(
        self, ids: Sequence[Sequence[int]], task: Literal["query", "document"], prompt_tokens: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return dense vectors and token vectors, as `_forward` does.

        ``task`` selects the encoder in models with separate encoders for questions and documents. ``prompt_tokens`` is
        the number of leading tokens that the model may leave out of the dense vector.
        """
        import torch

        input_ids, mask = pad_ids(ids, self._pad_id)
        features: dict[str, Any] = {
            "input_ids": torch.from_numpy(input_ids),
            "attention_mask": torch.from_numpy(mask),
            **({"prompt_length": prompt_tokens} if prompt_tokens else {}),
        }
        with torch.inference_mode():
            out = self._model(features, task=task)
        return scale_to_unit_length(out["sentence_embedding"].float().numpy()), out["token_embeddings"].float().numpy()


class TorchEncoder:
    """The encoder of a BERT model, which torch runs in fp32. It implements `TransformerEncoder`.

    Parameters
    ----------
    folder : Path
        A folder with a model in the format of transformers.
    changes : mapping of str to FloatArray, optional
        Arrays that are added to the weights with the same names.
    device : {"cpu", "cuda"}

    Attributes
    ----------
    max_parallel_calls : int
        Number of parallel calls of `states` that together use all cores.
    """

    def __init__(
        self, folder: Path, changes: Mapping[str, FloatArray] | None = None, device: Literal["cpu", "cuda"] = "cpu"
    ) -> None:
        _silence_libraries()
        import torch
        from sentence_transformers import SentenceTransformer

        kwargs = {"dtype": torch.float32}
        self._model: Any = SentenceTransformer(str(folder), device=device, local_files_only=True, model_kwargs=kwargs)
        self._device = device
        self._model.eval()
        for name, change in (changes or {}).items():
            self._model[0].get_parameter(f"model.{name}").data += torch.from_numpy(change).to(device)
        self.max_parallel_calls = count_available_cores()

    def states(self, ids: Int64Array, mask: Int64Array) -> FloatArray:
        """Return the last hidden states of texts, shape (texts, tokens, dimension).

        ``ids`` and ``mask`` have the shape (texts, tokens). ``mask`` is 1 for tokens and 0 for padding. A call uses one
        core, or the graphics processor.
        """
        import torch

        # This applies only to the calling thread.
        torch.set_num_threads(1)
        with torch.inference_mode():
            inputs = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}
            out = self._model[0]({name: one.to(self._device) for name, one in inputs.items()})
        states: FloatArray = out["token_embeddings"].cpu().numpy()
        return states


class CrossEncoder:
    """A cross-encoder, which reads question and text in one forward pass.

    Parameters
    ----------
    name : str
        Name or path of a sentence-transformers CrossEncoder that is already on this machine. Nothing is downloaded.

    Raises
    ------
    RerankerMissing
        The model is not on this machine, or it does not compute one score for a pair of question and text.
    """

    def __init__(self, name: str) -> None:
        import torch

        hint = (
            "Copy a cross-encoder to this machine and set RAG_RERANKER to its folder, or remove RAG_RERANKER to "
            "order passages by late interaction only."
        )
        self._model = _load_model(
            "CrossEncoder", name, RerankerMissing, "cross-encoder", hint, activation_fn=torch.nn.Sigmoid()
        )
        if self._model.num_labels != 1 or not _has_trained_head(self._model):
            raise RerankerMissing(f"{name!r} is not a cross-encoder: it does not compute one score per pair. {hint}")

    def __call__(self, question: str, texts: Sequence[str]) -> FloatArray:
        """Return a score from 0 to 1 for each text, shape (len(texts),); higher is better.

        If question and text together have too many tokens for the model, the end of the longer of the two is ignored.
        """
        pairs = [(question, text) for text in texts]
        scores: FloatArray = self._model.predict(pairs, batch_size=8, show_progress_bar=False)
        return scores


class LocalVerifier:
    """A model that decides whether a text supports a statement.

    The labels in the configuration of the model decide what its scores mean:

    - If there is a label for contradictions, as in natural language inference, all statements except contradictions
      count as supported, because the label "neutral" is often wrong for parts of a page.
    - If there is only a label for support, statements whose probability of this label is at least 0.5 are supported.
    - Of two labels without names, the second one means "supported", as in MiniCheck (Tang, Laban and Durrett,
      "MiniCheck: Efficient fact-checking of LLMs on grounding documents", EMNLP 2024). So does a single label.

    Parameters
    ----------
    name : str
        Name or path of a sentence-transformers CrossEncoder that is already on this machine. Nothing is downloaded.

    Raises
    ------
    VerifierMissing
        The model is not on this machine, or its labels do not show which one means "supported".
    """

    def __init__(self, name: str) -> None:
        hint = "Set RAG_VERIFIER to a folder that contains one, to model, or remove it to check values only."
        self._model = _load_model("CrossEncoder", name, VerifierMissing, "verifier", hint)
        labels = {int(index): label.casefold() for index, label in (self._model.config.id2label or {}).items()}
        self._contradicted = _find_label(labels, "contradict", "refut")
        self._supported = _find_label(labels, "entail", "support")
        if self._supported is None and self._model.num_labels <= 2:
            self._supported = self._model.num_labels - 1
        if not _has_trained_head(self._model) or (self._supported is None and self._contradicted is None):
            raise VerifierMissing(f"{name!r} is no verifier: it does not say whether a text supports another. {hint}")

    def supports(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """Return for each pair whether the text supports the statement.

        If a text is too long for the model, its end is ignored.

        Parameters
        ----------
        pairs : sequence of (str, str)
            Pairs of a text and a statement.
        """
        import torch

        # A single score is converted to a probability, and several scores to probabilities that sum to 1.
        is_single = self._model.num_labels == 1
        activation = torch.nn.Sigmoid() if is_single else torch.nn.Softmax(dim=-1)
        scores = self._model.predict(list(pairs), batch_size=8, show_progress_bar=False, activation_fn=activation)
        probabilities = np.asarray(scores, np.float32).reshape(len(pairs), -1)
        if self._contradicted is not None:
            return [int(one.argmax()) != self._contradicted for one in probabilities]
        return [bool(one[self._supported] >= 0.5) for one in probabilities]


def _find_label(labels: dict[int, str], *beginnings: str) -> int | None:
    return next((index for index, label in labels.items() if label.startswith(beginnings)), None)


class SparseEncoder:
    """A learned sparse encoder, which computes a weight for each term of its vocabulary.

    SPLADE is the best-known model (Formal, Piwowarski and Clinchant, "SPLADE: Sparse lexical and expansion model for
    first stage ranking", SIGIR 2021). The ends of texts that are too long for the model are ignored. All methods are
    thread-safe.

    Parameters
    ----------
    name : str
        Name or path of a sentence-transformers SparseEncoder that is already on this machine. Nothing is downloaded.

    Raises
    ------
    SparseEncoderMissing
        The model is not on this machine, or it is no sparse encoder.
    """

    def __init__(self, name: str) -> None:
        hint = "Set RAG_SPARSE to a folder that contains a sparse encoder, or remove RAG_SPARSE to search without one."
        self._model = _load_model("SparseEncoder", name, SparseEncoderMissing, "sparse encoder", hint)
        if _has_untrained_encoder(self._model, name):
            raise SparseEncoderMissing(f"{name!r} is not a sparse encoder: it gives terms no weights. {hint}")
        self.name = name
        self.weights = _hash_weights(self._model, name, _find_prompts(self._model))
        self._running, self._waiting = threading.Lock(), threading.Lock()

    def encode(self, texts: Sequence[str]) -> list[SparseVector]:
        """Return the vector of each text. A question encoded at the same time waits for at most one text."""
        # Batches are slower than single texts, because the numbers for all tokens and terms do not fit in the cache of
        # the processor.
        return [self._encode(self._model.encode_document, text) for text in texts]

    def encode_question(self, question: str) -> SparseVector:
        """Return the vector of a question."""
        return self._encode(self._model.encode_query, question)

    def _encode(self, encode: Any, text: str) -> SparseVector:
        with self._take_turn():
            vector = encode(text, convert_to_sparse_tensor=False, show_progress_bar=False).float().numpy()
        terms = np.flatnonzero(vector > 0)
        return SparseVector(terms.astype(np.int32), vector[terms].astype(np.float32))

    @contextmanager
    def _take_turn(self) -> Iterator[None]:
        # The tokenizer is not thread-safe. A thread that waits for the model holds `_waiting`, so that another thread,
        # which encodes many texts, does not get the model again first.
        with self._waiting:
            self._running.acquire()
        try:
            yield
        finally:
            self._running.release()


def _load_model(kind: str, name: str, missing: type[RagError], noun: str, hint: str, **options: Any) -> Any:
    """Load a model of sentence-transformers on the processor, in evaluation mode. Nothing is downloaded.

    Parameters
    ----------
    kind : str
        Name of a class of sentence-transformers, such as "CrossEncoder".
    name : str
        Name or path of the model.
    missing : type of RagError
        The error to raise if the model is not on this machine.
    noun, hint : str
        The noun for the model and the last sentences in the message of the error.
    **options
        Further arguments of the class.
    """
    _silence_libraries()
    import sentence_transformers

    try:
        model = getattr(sentence_transformers, kind)(name, device="cpu", local_files_only=True, **options)
    except (OSError, ValueError, KeyError) as error:
        raise missing(f"The {noun} {name!r} is not on this machine ({type(error).__name__}). {hint}") from error
    model.eval()
    return model


def _silence_libraries() -> None:
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()


def _has_trained_head(model: Any) -> bool:
    # If an encoder has no trained head, sentence-transformers adds a head with random weights and only logs a warning.
    architectures = model.config.architectures or ("",)
    return len(model) > 1 or architectures[0].endswith("ForSequenceClassification")


def _has_untrained_encoder(model: Any, name: str) -> bool:
    # To models of other types, sentence-transformers adds an encoder with random weights and only logs a warning.
    if "SparseAutoEncoder" not in {type(module).__name__ for module in model}:
        return False
    from sentence_transformers.util import load_file_path

    file = load_file_path(name, "config_sentence_transformers.json", local_files_only=True)
    return file is None or json.loads(Path(file).read_text("utf-8")).get("model_type") != "SparseEncoder"


def _find_prompts(model: Any) -> tuple[str, str]:
    """Return the prompts of a model for questions and for documents.

    Prompts for documents have several names in sentence-transformers. The first one that is not empty is returned.
    """
    prompts: dict[str, str] = model.prompts
    document = next((prompts[name] for name in ("document", "passage", "corpus") if prompts.get(name)), "")
    return prompts.get("query", ""), document


def _hash_weights(model: Any, name: str, prompts: Sequence[str]) -> str:
    """Return a SHA-256 of the weights and the prompts of a model, which determine its vectors."""
    files = sorted(Path(name).rglob("*.safetensors")) if Path(name).is_dir() else []
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    if not files:
        for key, value in sorted(model.state_dict().items()):
            digest.update(key.encode() + value.float().numpy().tobytes())
    if any(prompts):
        digest.update("\0".join(prompts).encode())
    return digest.hexdigest()


def _has_native_bf16(torch: Any) -> bool:
    probe = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return bool(probe is not None and probe())
