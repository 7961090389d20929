"""The settings read, and what is wrong with them in words."""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path
from typing import Any

from dotenv.parser import parse_stream
from pydantic import ValidationError
from pydantic_settings import DotEnvSettingsSource

from rag_core.errors import SettingsError
from rag_core.settings.fields import PREFIX, Settings, known_names

FILE = Path(".env")
# Settings of earlier releases that have no effect any more; they are ignored with a warning for one release.
RETIRED = frozenset(
    {
        "RAG_EMBEDDING_BATCH",
        "RAG_EXPANSION",
        "RAG_FRESHNESS_HALF_LIFE_DAYS",
        "RAG_OPENAI_BACKOFF_S",
        "RAG_OPENAI_CONNECT_TIMEOUT_S",
        "RAG_RERANK_TOP",
        "RAG_STRATEGY_QUERIES",
    }
)
log = logging.getLogger(__name__)


def load_settings(**overrides: Any) -> Settings:
    """Read the settings.

    Parameters
    ----------
    **overrides
        Fields that win over environment and ``.env``; ``None`` values are ignored.

    Raises
    ------
    SettingsError
        A key is unknown or a value is out of range; the message names each key.
    """
    given = {key: value for key, value in overrides.items() if value is not None}
    try:
        _refuse_unreadable_lines()
        _refuse_unknown_variables()
        return Settings(**given)
    except ValidationError as error:
        raise SettingsError(_explain(error)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"The file .env cannot be read ({error}). Save it as UTF-8 text, or remove it.") from None


def _refuse_unreadable_lines() -> None:
    # What dotenv cannot read, it leaves out; lines that name none of our settings are other programs' business.
    if not FILE.is_file():
        return
    with FILE.open(encoding="utf-8-sig") as file:
        lines = [one.original for one in parse_stream(file) if one.error or (one.key and one.value is None)]
    for line in lines:
        if any(re.search(rf"(?<![A-Z_]){name}(?![A-Z_])", line.string.upper()) for name in known_names()):
            raise SettingsError(
                f"Line {line.line} of .env cannot be read. Write it as NAME=value, and close its quotes."
            )


def _refuse_unknown_variables() -> None:
    # pydantic-settings never looks for unknown variables, so a misspelt RAG_TRESHOLD would be ignored
    # in silence.
    file_keys = DotEnvSettingsSource(Settings, env_file=FILE).env_vars
    keys = {key.upper() for key in (*os.environ, *file_keys)}
    if retired := sorted(keys & RETIRED):
        log.warning("Setting %s no longer has an effect. Remove it from the environment or .env.", ", ".join(retired))
    unknown = sorted(key for key in keys - RETIRED if key.startswith(PREFIX) and key not in known_names())
    if unknown:
        known = ", ".join(sorted(known_names()))
        raise SettingsError(f"Unknown setting {', '.join(unknown)}. Remove or correct it; known are: {known}.")


def _explain(error: ValidationError) -> str:
    lines = []
    for problem in error.errors(include_input=False, include_url=False):
        key = str(problem["loc"][0]) if problem["loc"] else "settings"
        name = key.upper() if key.upper() in known_names() else (PREFIX + key).upper()
        lines.append(f"{name}: {problem['msg'].removeprefix('Value error, ')}")
    return "Wrong setting. " + "; ".join(lines) + ". Correct it in the environment or in .env."
