"""Store the usage of language models, with a row for each request. When an answer is deleted, its rows are kept."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from sqlalchemy import func, insert, select

from rag_core.store.database import Database, now
from rag_core.store.schema import usage
from rag_core.types.usage import Usage, UsageTotal


class UsageStore:
    """The usage of requests. Each method uses one transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, generator: str, used: Usage) -> None:
        """Store the usage of a request."""
        self._db.change(insert(usage).values(generator=generator, created_at=now(), **asdict(used)))

    def totals(self, since: datetime | None = None) -> list[UsageTotal]:
        """Return the total usage of each generator and currency, most calls first.

        With ``since``, only requests from this time on are counted. Requests without a price do not contribute to the
        cost.
        """
        columns = usage.c
        sums = (func.sum(columns.calls).label("calls"), func.sum(columns.cost).label("cost"))
        tokens = (func.sum(columns.input_tokens).label("input"), func.sum(columns.output_tokens).label("output"))
        estimated = func.count().filter(columns.estimated).label("estimated")
        query = (
            select(columns.generator, columns.currency, *sums, *tokens, estimated)
            .group_by(columns.generator, columns.currency)
            .order_by(func.sum(columns.calls).desc(), columns.generator, columns.currency)
        )
        if since is not None:
            query = query.where(columns.created_at >= since)
        return [
            UsageTotal(
                row.generator,
                Usage(row.calls, row.input, row.output, bool(row.estimated), row.cost, row.currency),
            )
            for row in self._db.fetch(query)
        ]
