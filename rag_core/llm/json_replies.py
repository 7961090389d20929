"""JSON in the replies of language models: the schemas that they are asked for, and objects in their text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

# A longer reply is not read to its end; it cannot have the required form.
_LONGEST_REPLY = 20_000


def build_object_schema(properties: dict[str, Any], required: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the schema of an object with these properties only; all of them are required by default."""
    names = list(properties if required is None else required)
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}


def find_objects(reply: str) -> Iterator[dict[str, Any]]:
    """Yield the outermost JSON objects in a text.

    >>> list(find_objects('I {call} ```{"a": {"b": 1}}``` now.'))
    [{'a': {'b': 1}}]
    """
    reply = reply[:_LONGEST_REPLY]
    decoder, position = json.JSONDecoder(), reply.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(reply, position)
            yield value
        except (ValueError, RecursionError):
            end = position + 1
        position = reply.find("{", end)
