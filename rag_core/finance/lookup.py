"""Lookup of financial statements."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.finance.measures import StatementPlan, plan_lookup


class FinancialLookup:
    """A `DomainLookup` that plans which lines of which financial statements to look up."""

    def plan(self, question: str, names: Sequence[str]) -> StatementPlan | None:
        """Return what to look up, or ``None`` if the question does not ask for a reported figure."""
        return plan_lookup(question, names)
