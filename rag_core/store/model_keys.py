"""Store the API key of a language model outside of the database."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Literal

from rag_core.errors import StoreError

KeyPlace = Literal["keyring", "file"]
_SERVICE = "Footnote language model"
_FILE = "model-key"


class ModelKeyStore:
    """The API key of a data folder, in the keyring of the operating system or in a file that only its owner can read.

    Parameters
    ----------
    folder : Path
        The data folder. Its path is also the name of the key in the keyring.
    """

    def __init__(self, folder: Path) -> None:
        self._name = str(folder)
        self._file = folder / _FILE

    def set(self, key: str) -> KeyPlace:
        """Store or replace the key, and return where it is stored; raise `StoreError` if it cannot be stored."""
        import keyring
        from keyring.errors import KeyringError

        try:
            keyring.set_password(_SERVICE, self._name, key)
            self._file.unlink(missing_ok=True)
            return "keyring"
        except KeyringError:
            self._write(key)
            return "file"

    def get(self, place: KeyPlace) -> str:
        """Return the key.

        Raises
        ------
        StoreError
            The keyring or the file cannot be read, or has no key.
        """
        import keyring
        from keyring.errors import KeyringError

        try:
            key = self._file.read_text("utf-8") if place == "file" else keyring.get_password(_SERVICE, self._name)
        except FileNotFoundError:
            key = None
        except (KeyringError, OSError, UnicodeDecodeError) as error:
            where = "The keyring of this machine" if isinstance(error, KeyringError) else self._file
            raise StoreError(
                f"{where} cannot be read ({type(error).__name__}). Allow access to it, for example by unlocking it, "
                "and read the key again on the Settings page; or enter the API key there again."
            ) from None
        if not key:
            raise StoreError(
                "The stored API key of the language model is missing. Enter it again on the Settings page."
            )
        return key

    def remove(self) -> None:
        """Remove the key from the keyring and the data folder; raise `StoreError` if its file cannot be removed."""
        import keyring
        from keyring.errors import KeyringError

        # The error means that the keyring does not contain the key, or that there is no keyring.
        with suppress(KeyringError):
            keyring.delete_password(_SERVICE, self._name)
        try:
            self._file.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{self._file} cannot be removed ({error.strerror}). Remove this file.") from None

    def _write(self, key: str) -> None:
        draft = self._file.with_suffix(".new")
        try:
            draft.unlink(missing_ok=True)
            # The file is created with its final mode, so that other users can never read it.
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                file.write(key)
            draft.replace(self._file)
        except OSError as error:
            raise StoreError(
                f"The API key cannot be stored in {self._file} ({error.strerror}). Make the data folder writable."
            ) from None
