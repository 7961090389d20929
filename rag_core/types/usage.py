"""Token usage and cost of language models."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Price:
    """The prices of a million input tokens and of a million output tokens, in one currency."""

    input: float
    output: float
    currency: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and cost of calls to language models. Usages can be added; ``Usage()`` stands for no calls.

    ``estimated`` is true if the endpoint did not report the tokens of at least one call, so that they are estimated.
    ``cost`` is in ``currency``; it is ``None`` if no price is set.
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
    def cost_label(self) -> str:
        """The cost with its currency, such as ``0.0031 USD``; empty if no price is set."""
        if self.cost is None:
            return ""
        # Two decimals; more for a cost below 0.1, so that two significant digits are visible.
        decimals = 2 if not self.cost or self.cost >= 0.1 else 1 - math.floor(math.log10(self.cost))
        return f"{self.cost:,.{decimals}f} {self.currency}"

    @property
    def label(self) -> str:
        """The usage in words, such as ``3 calls, 1,204 tokens in, 88 out, 0.0031 USD (some of it estimated)``.

        The number of calls is left out for a single call.
        """
        several = self.calls > 1
        label = f"{self.calls:,} calls, " if several else ""
        label += f"{self.input_tokens:,} tokens in, {self.output_tokens:,} out"
        if self.cost is not None:
            label += f", {self.cost_label}"
        if self.estimated:
            label += " (some of it estimated)" if several else " (estimated)"
        return label


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """The total usage of one generator, such as ``openai:MODEL``."""

    generator: str
    usage: Usage
