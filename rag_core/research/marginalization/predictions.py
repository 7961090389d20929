"""Compute the predictions of a causal model once, and keep them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.types.arrays import Float64Array
from rag_core.types.marginalization import Marginalization, TokenDistribution
from rag_core.types.protocols import CausalModel


@dataclass(frozen=True, slots=True, eq=False)
class MarginalCandidate:
    """An answer with its probability given several passages.

    Attributes
    ----------
    tokens : tuple of int
        The tokens of the answer, with the end token unless the answer reached the limit of its length.
    log_probability : float
        ``log p(y|x)``, marginalized over the passages.
    token_log_probabilities : Float64Array, shape (tokens, passages)
        ``log p(y_i | x, z, y_1 … y_(i-1))``: the log-probability of each token given each passage. With fast decoding,
        it is minus infinity for passages whose beams do not contain the answer.
    """

    tokens: tuple[int, ...]
    log_probability: float
    token_log_probabilities: Float64Array

    def compute_passage_shares(self, log_weights: Float64Array, method: Marginalization) -> Float64Array:
        """Return the share of each passage in each token, shape (tokens, passages); ``log_weights`` are ``log p(z|x)``.

        For RAG-Sequence, the share is the posterior after the token, ``p(z | x, y_1 … y_i)``. For RAG-Token, the share
        is ``p(z|x) p(y_i | x, z, …)``, divided by its sum over the passages.
        """
        scores = self.token_log_probabilities
        joint = log_weights + (scores.cumsum(axis=0) if method == "rag-sequence" else scores)
        shares: Float64Array = np.exp(joint - np.logaddexp.reduce(joint, axis=-1)[:, None])
        return shares


class Predictions:
    """Predicts the tokens of answers, and keeps all predictions, because beams share their first tokens.

    Parameters
    ----------
    model : CausalModel
    prompts : sequence of sequence of int
        The tokens of the prompts, one for each passage.

    Attributes
    ----------
    computed : int
        Number of predictions that the model computed.
    """

    def __init__(self, model: CausalModel, prompts: Sequence[Sequence[int]]) -> None:
        self._model = model
        self._prompts = [tuple(prompt) for prompt in prompts]
        self._known: dict[tuple[int, tuple[int, ...]], TokenDistribution] = {}
        self.computed = 0

    @property
    def end_tokens(self) -> frozenset[int]:
        return self._model.end_tokens

    def __len__(self) -> int:
        """Return the number of prompts."""
        return len(self._prompts)

    def predict(self, passage: int, answers: Sequence[tuple[int, ...]]) -> list[TokenDistribution]:
        """Return the distribution of the next token after each of ``answers``, which are beginnings, given one passage.

        ``passage`` is the position of the prompt.
        """
        missing = [one for one in dict.fromkeys(answers) if (passage, one) not in self._known]
        if missing:
            found = self._model.predict([(*self._prompts[passage], *one) for one in missing])
            self._known.update(((passage, one), two) for one, two in zip(missing, found, strict=True))
            self.computed += len(missing)
        return [self._known[passage, one] for one in answers]

    def score(self, passage: int, answer: tuple[int, ...]) -> Float64Array:
        """Return the log-probability of each token of an answer given one passage, shape (len(answer),)."""
        beginnings = [answer[:length] for length in range(len(answer))]
        rows = zip(self.predict(passage, beginnings), answer, strict=True)
        return np.array([row.find(np.array([token], np.int32))[0] for row, token in rows], np.float64)
