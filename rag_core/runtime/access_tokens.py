"""Create, list, revoke and recognize the tokens with which other programs use the application."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence

from rag_core.errors import TokenError
from rag_core.store.file_names import clean_collection, normalize_name
from rag_core.store.files import compute_sha256
from rag_core.store.tokens import TokenStore
from rag_core.types.access import RIGHTS, AccessToken, Caller, Right

# The beginning of each token, by which scanners for secrets recognize it.
PREFIX = "footnote_"
# Maximum number of characters in the name of a token.
MAX_NAME_CHARS = 80


class AccessTokens:
    """The tokens of the data folder. Only the digest of a token is stored, so its text is shown only once.

    The digest needs no salt, because a token has 256 random bits.

    Parameters
    ----------
    store : TokenStore
    """

    def __init__(self, store: TokenStore) -> None:
        self._store = store
        # Held while a token is added, so that no two tokens get the same name.
        self._adding = threading.Lock()

    def create(self, name: str, rights: Sequence[Right], collections: Sequence[str] = ()) -> tuple[str, AccessToken]:
        """Create a token, and return its secret text and its description.

        The token gives access to ``collections``; by default, to all documents.

        Raises
        ------
        TokenError
            The name is empty or taken, ``rights`` is empty, or a right is unknown.
        CollectionError
            The name of a collection is invalid.
        """
        name = normalize_name(name)[:MAX_NAME_CHARS].strip()
        if not name:
            raise TokenError("The token was not created, because its name is empty. Enter a name.")
        if not rights or not set(rights) <= set(RIGHTS):
            raise TokenError(f"The token was not created: choose what it allows. The rights are {', '.join(RIGHTS)}.")
        secret = PREFIX + secrets.token_urlsafe(32)
        names = dict.fromkeys(map(clean_collection, collections))
        caller = Caller(tuple(one for one in RIGHTS if one in rights), tuple(names))
        with self._adding:
            if any(one.name == name for one in self.list()):
                raise TokenError(
                    f"The token was not created, because one is named “{name}” already. Enter another name."
                )
            return secret, self._store.add(name, _compute_digest(secret), caller)

    def list(self) -> Sequence[AccessToken]:
        """Return all tokens, oldest first."""
        return self._store.all()

    def find(self, secret: str) -> AccessToken | None:
        """Return the token with this text and record its use; ``None`` if it was revoked or never existed."""
        return self._store.find(_compute_digest(secret))

    def revoke(self, name: str) -> AccessToken:
        """Remove the token with this name or id; raise `TokenError` if there is none."""
        found = next((one for one in self.list() if name in (one.token_id, one.name)), None)
        if found is None:
            raise TokenError(f"No token is named “{name}”. List the tokens to see their names.")
        self._store.remove(found.token_id)
        return found


def _compute_digest(secret: str) -> str:
    return compute_sha256(secret.encode("utf-8", "surrogatepass"))
