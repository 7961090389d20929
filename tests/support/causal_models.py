"""A causal model that is a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rag_core.types.marginalization import TokenDistribution

# Maps contexts to the probabilities of the next token, whose ids are their positions.
Table = Mapping[tuple[int, ...], Sequence[float]]


class TableModel:
    """Predicts the next token from a table; the last token of the vocabulary ends an answer."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.vocabulary = len(next(iter(table.values())))
        self.end_tokens = frozenset({self.vocabulary - 1})
        self.calls = 0

    def predict(self, contexts: Sequence[Sequence[int]]) -> list[TokenDistribution]:
        self.calls += len(contexts)
        tokens = np.arange(self.vocabulary, dtype=np.int32)
        with np.errstate(divide="ignore"):
            return [TokenDistribution(tokens, np.log(self._table[tuple(one)])) for one in contexts]
