"""Read tables in TOML files that users can replace, such as the catalogue of models and the prices."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from rag_core.errors import SettingsError

T = TypeVar("T")


def read_entries(file: Path, key: str, entries: TypeAdapter[list[T]], title: str, remedy: str) -> list[T]:
    """Return the list below a key of a TOML file.

    Parameters
    ----------
    file : Path
    key : str
    entries : TypeAdapter
        Validates the list.
    title, remedy : str
        For error messages: what the file is, and what to do if it cannot be read.

    Raises
    ------
    SettingsError
        The file cannot be read, or an entry is not valid.
    """
    try:
        return entries.validate_python(tomllib.loads(file.read_text("utf-8")).get(key))
    except ValidationError as error:
        problem = error.errors()[0]
        place = " ".join(f"entry {part + 1}:" if isinstance(part, int) else str(part) for part in problem["loc"])
        raise SettingsError(f"The {title} {file} is not valid. {place} {problem['msg']}. Correct it.") from None
    except (OSError, ValueError) as error:
        raise SettingsError(f"The {title} {file} cannot be read ({error}). {remedy}.") from None
