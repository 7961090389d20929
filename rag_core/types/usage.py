"""What language models took."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """What calls to a language model took; ``a + b`` is the sum, ``Usage()`` that of no call.

    ``estimated`` is true where the tokens of at least one call were counted here, because the
    endpoint did not tell them. ``cost`` is in ``currency``, and ``None`` where no price was set.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    cost: float | None = None
    currency: str = ""

    def __add__(self, other: Usage) -> Usage:
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            estimated=self.estimated or other.estimated,
            cost=sum(costs) if costs else None,
            currency=self.currency or other.currency,
        )

    @property
    def label(self) -> str:
        """``1,204 tokens in, 88 out, 0.0031 USD (estimated)``; the calls too, where there were several."""
        several = self.calls > 1
        label = f"{self.calls:,} calls, " if several else ""
        label += f"{self.input_tokens:,} tokens in, {self.output_tokens:,} out"
        if self.cost is not None:
            # Two decimals, or as many as it takes to show two digits of a small cost.
            decimals = 2 if not self.cost or self.cost >= 0.1 else 1 - math.floor(math.log10(self.cost))
            label += f", {self.cost:,.{decimals}f} {self.currency}"
        if self.estimated:
            label += " (some of it estimated)" if several else " (estimated)"
        return label


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """What one generator took. ``usage.estimated``: some of it was."""

    generator: str
    usage: Usage
