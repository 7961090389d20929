"""Answers that are marginalized over passages, and the token distributions from which they are generated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rag_core.types.arrays import Float64Array, IntArray

# Whether probabilities are marginalized over passages for the whole answer, or for each token.
Marginalization = Literal["rag-sequence", "rag-token"]
MARGINALIZATIONS: tuple[Marginalization, ...] = ("rag-sequence", "rag-token")
# Whether RAG-Sequence scores an answer given every passage, or only given those whose beam search found the answer.
Decoding = Literal["thorough", "fast"]


@dataclass(frozen=True, slots=True, eq=False)
class TokenDistribution:
    """The probability distribution of the next token.

    Attributes
    ----------
    tokens : IntArray, shape (n,)
        Distinct ids of tokens.
    log_probabilities : Float64Array, shape (n,)
        Natural logarithm of the probability of each of ``tokens``.
    rest : float
        Log-probability of each token that is not in ``tokens``; minus infinity if there is no such token.
    """

    tokens: IntArray
    log_probabilities: Float64Array
    rest: float = -math.inf

    def find(self, tokens: IntArray) -> Float64Array:
        """Return the log-probabilities of tokens, shape (len(tokens),)."""
        if not len(self.tokens):
            return np.full(len(tokens), self.rest)
        order = np.argsort(self.tokens)
        found = order[np.searchsorted(self.tokens, tokens, sorter=order).clip(max=len(order) - 1)]
        return np.where(self.tokens[found] == tokens, self.log_probabilities[found], self.rest)


@dataclass(frozen=True, slots=True)
class GeneratedToken:
    """A token of an answer, with the share of each passage in its probability; the shares sum to 1."""

    text: str
    shares: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class MarginalAnswer:
    """An answer that is marginalized over passages.

    Attributes
    ----------
    method : Marginalization
    text : str
    probability : float
        ``p(y|x)``: the probability of the answer.
    chunk_ids : tuple of str
        Chunk ids of the passages, best first.
    weights : tuple of float
        ``p(z|x)``: the weight of each passage; the weights sum to 1.
    tokens : tuple of GeneratedToken
        The tokens of the answer.
    candidates : tuple of (str, float)
        The most probable answers with their probabilities, best first. The first is the answer.
    predictions : int
        Number of tokens that the model predicted.
    prompt_tokens : int
        Number of tokens of all prompts.
    seconds : float
        Duration of the generation.
    """

    method: Marginalization
    text: str
    probability: float
    chunk_ids: tuple[str, ...]
    weights: tuple[float, ...]
    tokens: tuple[GeneratedToken, ...]
    candidates: tuple[tuple[str, float], ...]
    predictions: int
    prompt_tokens: int
    seconds: float

    @property
    def main_passage(self) -> int:
        """Position in ``chunk_ids`` of the passage with the largest share in the answer.

        For RAG-Sequence, the shares in the last token are the posterior ``p(z|x, y)``. For RAG-Token, the shares are
        averaged over all tokens.
        """
        shares = [token.shares for token in self.tokens]
        return int(np.argmax(shares[-1] if self.method == "rag-sequence" else np.mean(shares, axis=0)))
