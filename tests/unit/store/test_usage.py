"""Totals of language model usage."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from rag_core.store.database import Database
from rag_core.store.usage import UsageStore
from rag_core.types.usage import Usage, UsageTotal


def test_totals_are_by_generator_and_currency_in_order_of_usage(tmp_path: Path) -> None:
    store = UsageStore(Database(tmp_path / "db.sqlite"))
    assert store.totals() == []
    store.add("openai:small", Usage(1, 100, 10, True))
    store.add("openai:large", Usage(1, 200, 20, False, 0.5, "USD"))
    store.add("openai:large", Usage(1, 300, 30, False, 0.25, "USD"))
    store.add("openai:large", Usage(1, 7, 1, False, 0.1, "EUR"))
    assert store.totals() == [
        UsageTotal("openai:large", Usage(2, 500, 50, False, 0.75, "USD")),
        UsageTotal("openai:large", Usage(1, 7, 1, False, 0.1, "EUR")),
        UsageTotal("openai:small", Usage(1, 100, 10, True, None, "")),
    ]


def test_totals_since_a_time(tmp_path: Path) -> None:
    store = UsageStore(Database(tmp_path / "db.sqlite"))
    store.add("openai:small", Usage(1, 100, 10))
    moment = datetime.now(UTC)
    assert len(store.totals(moment - timedelta(minutes=1))) == 1
    assert store.totals(moment + timedelta(minutes=1)) == []
