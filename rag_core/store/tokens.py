"""Store the digests of the tokens with which other programs use the application."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, insert, select, update

from rag_core.errors import DataFolderUnwritable
from rag_core.store.database import Database, as_utc, create_id, now
from rag_core.store.schema import api_tokens
from rag_core.types.access import AccessToken, Caller

# The time of the last use is stored at most once in this time, so that requests rarely write to the database.
USE_RECORDED_EVERY = timedelta(minutes=1)


class TokenStore:
    """Tokens and the digests of their texts. Each method makes its changes in one transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, name: str, digest: str, caller: Caller) -> AccessToken:
        """Store a token and return it."""
        values = {"id": create_id(), "name": name, "digest": digest, "created_at": now()}
        values |= {"rights": list(caller.rights), "collections": list(caller.collections)}
        self._db.change(insert(api_tokens).values(**values))
        return next(one for one in self.all() if one.token_id == values["id"])

    def all(self) -> list[AccessToken]:
        """Return all tokens, oldest first."""
        return [_token_from_row(row) for row in self._db.fetch(select(api_tokens).order_by(api_tokens.c.created_at))]

    def find(self, digest: str) -> AccessToken | None:
        """Return the token with this digest and record its use; ``None`` if there is none."""
        row = self._db.fetch_first(select(api_tokens).where(api_tokens.c.digest == digest))
        if row is None:
            return None
        if row.used_at is None or now() - as_utc(row.used_at) > USE_RECORDED_EVERY:
            with suppress(DataFolderUnwritable):  # the token is valid in a folder that cannot be written, too
                self._db.change(update(api_tokens).where(api_tokens.c.id == row.id).values(used_at=now()))
        return _token_from_row(row)

    def remove(self, token_id: str) -> None:
        self._db.change(delete(api_tokens).where(api_tokens.c.id == token_id))


def _token_from_row(row: Any) -> AccessToken:
    return AccessToken(
        token_id=row.id,
        name=row.name,
        caller=Caller(tuple(row.rights), tuple(row.collections)),
        created_at=as_utc(row.created_at),
        used_at=as_utc(row.used_at) if row.used_at else None,
    )
