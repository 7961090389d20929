"""Store access tokens of the API."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

from sqlalchemy import delete, insert, select, update

from rag_core.errors import DataFolderUnwritable
from rag_core.store.database import AnyRow, Database, create_id, now
from rag_core.store.schema import api_tokens
from rag_core.types.access import AccessToken, Caller

# Minimum time between two updates of a token's last use, so that requests rarely write to the database.
USE_RECORDED_EVERY = timedelta(minutes=1)


class TokenStore:
    """Access tokens, with the digests (SHA-256) of their secrets. Each method makes its changes in one transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, name: str, digest: str, caller: Caller) -> AccessToken:
        """Store a token with the rights and collections of ``caller``, and return the token."""
        values = {"id": create_id(), "name": name, "digest": digest, "created_at": now()}
        values |= {"rights": list(caller.rights), "collections": list(caller.collections)}
        self._db.change(insert(api_tokens).values(**values))
        return next(one for one in self.all() if one.token_id == values["id"])

    def all(self) -> list[AccessToken]:
        """Return all tokens, oldest first."""
        return [_token_from_row(row) for row in self._db.fetch(select(api_tokens).order_by(api_tokens.c.created_at))]

    def find(self, digest: str) -> AccessToken | None:
        """Return the token with a digest, and record its use at most once in `USE_RECORDED_EVERY`.

        Return ``None`` if there is no such token. The returned token has the time of the use before this one.
        """
        row = self._db.fetch_first(select(api_tokens).where(api_tokens.c.digest == digest))
        if row is None:
            return None
        if row.used_at is None or now() - row.used_at > USE_RECORDED_EVERY:
            # A token is also valid if the data folder cannot be written.
            with suppress(DataFolderUnwritable):
                self._db.change(update(api_tokens).where(api_tokens.c.id == row.id).values(used_at=now()))
        return _token_from_row(row)

    def remove(self, token_id: str) -> None:
        self._db.change(delete(api_tokens).where(api_tokens.c.id == token_id))


def _token_from_row(row: AnyRow) -> AccessToken:
    caller = Caller(tuple(row.rights), tuple(row.collections))
    return AccessToken(row.id, row.name, caller, row.created_at, row.used_at)
