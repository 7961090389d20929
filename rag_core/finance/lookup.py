"""Whether financial statements are looked up, as the settings say."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.finance.measures import StatementPlan, plan_lookup


class FinancialLookup:
    """Plans which lines of which financial statements to look up; a `DomainLookup`.

    Parameters
    ----------
    enabled : bool
        Otherwise nothing is ever looked up.
    """

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled

    def plan(self, question: str, names: Sequence[str]) -> StatementPlan | None:
        """Return what to look up, or ``None`` if the question asks for no reported figure."""
        return plan_lookup(question, names) if self._enabled else None
