"""Lookup of financial statements, which can be disabled by a setting."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.finance.measures import StatementPlan, plan_lookup


class FinancialLookup:
    """A `DomainLookup` that plans which lines of which financial statements to look up, if it is enabled."""

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled

    def plan(self, question: str, names: Sequence[str]) -> StatementPlan | None:
        """Return what to look up, or ``None`` if disabled or if the question does not ask for a reported figure."""
        return plan_lookup(question, names) if self._enabled else None
