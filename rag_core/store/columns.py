"""Types of database columns: text without characters that databases refuse, and times in UTC."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime
from sqlalchemy import String as SqlString
from sqlalchemy import Text as SqlText
from sqlalchemy.types import TypeDecorator

# PostgreSQL cannot store NUL. No database can store half of a surrogate pair, because it is not valid UTF-8.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
REPLACEMENT = "\ufffd"


def clean_text(text: str) -> str:
    """Return text in which each character that a database refuses is replaced by U+FFFD."""
    return _UNSTORABLE.sub(REPLACEMENT, text)


def dump_json(value: Any) -> str:
    """Return a value as JSON, with `clean_text` applied to each string."""
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


class Time(TypeDecorator[datetime]):
    """A time in UTC. SQLite stores no time zone, so the time zone is added when a time is read."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_result_value(self, value: datetime | None, _dialect: Any) -> datetime | None:
        return value if value is None or value.tzinfo else value.replace(tzinfo=UTC)
