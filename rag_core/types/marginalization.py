"""Distributions over tokens, and answers that a causal model generates from several passages."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rag_core.types.arrays import Float64Array, IntArray

# How an answer is marginalized over passages: for the whole answer, or for each token.
Marginalization = Literal["rag-sequence", "rag-token"]
MARGINALIZATIONS: tuple[Marginalization, ...] = ("rag-sequence", "rag-token")
# Whether RAG-Sequence scores a candidate under every passage, or only under those whose beams contain it.
Decoding = Literal["thorough", "fast"]


@dataclass(frozen=True, slots=True, eq=False)
class TokenDistribution:
    """The distribution of the next token.

    Attributes
    ----------
    tokens : IntArray, shape (n,)
        The listed tokens, without repetitions.
    log_probabilities : Float64Array, shape (n,)
        Their natural logarithms of probability.
    rest : float
        The log-probability of each token that is not listed; minus infinity if all tokens are listed.
    """

    tokens: IntArray
    log_probabilities: Float64Array
    rest: float = -math.inf

    def find(self, tokens: IntArray) -> Float64Array:
        """Return the log-probabilities of tokens, shape (len(tokens),)."""
        if not len(self.tokens):
            return np.full(len(tokens), self.rest)
        order = np.argsort(self.tokens)
        places = np.searchsorted(self.tokens, tokens, sorter=order).clip(max=len(order) - 1)
        found = order[places]
        is_listed = self.tokens[found] == tokens
        return np.where(is_listed, self.log_probabilities[found], self.rest)


@dataclass(frozen=True, slots=True)
class GeneratedToken:
    """A token of an answer, with the share that each passage has in it; the shares sum to 1."""

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
        ``p(y|x)``.
    chunk_ids : tuple of str
        The passages, best first.
    weights : tuple of float
        ``p(z|x)``: the weight of each passage; the weights sum to 1.
    tokens : tuple of GeneratedToken
    candidates : tuple of (str, float)
        The texts of the best answers and their probabilities, best first; the first is the answer.
    predictions : int
        Number of tokens that the model predicted.
    prompt_tokens : int
        Number of tokens of all prompts.
    seconds : float
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
        """Position of the passage with the largest share in the answer: the posterior for RAG-Sequence, else the mean.

        The shares of RAG-Sequence after the last token are the posterior ``p(z|x, y)``.
        """
        if self.method == "rag-sequence":
            shares = np.array(self.tokens[-1].shares)
        else:
            shares = np.mean([token.shares for token in self.tokens], axis=0)
        return int(shares.argmax())
