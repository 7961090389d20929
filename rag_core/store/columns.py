"""Column types for text from files and users, which may contain characters that databases refuse."""

from __future__ import annotations

import json
import re
from typing import Any

from sqlalchemy import String as SqlString
from sqlalchemy import Text as SqlText
from sqlalchemy.types import TypeDecorator

# PostgreSQL cannot store NUL, and no database can store half of a surrogate pair, because it is not valid UTF-8.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
REPLACEMENT = "\ufffd"


def clean_text(text: str) -> str:
    """Return text with each character that a database refuses replaced by U+FFFD, so that offsets stay valid."""
    return _UNSTORABLE.sub(REPLACEMENT, text)


def dump_json(value: Any) -> str:
    """Return a value as JSON in which each string is clean."""
    return json.dumps(_clean_value(value))


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {_clean_value(key): _clean_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean_value(item) for item in value]
    return value


class _CleanText(TypeDecorator[str]):
    def process_bind_param(self, value: str | None, _dialect: Any) -> str | None:
        return clean_text(value) if isinstance(value, str) else value


class Text(_CleanText):
    """Text of any length."""

    impl = SqlText
    cache_ok = True


class String(_CleanText):
    """Text with a maximum length."""

    impl = SqlString
    cache_ok = True
