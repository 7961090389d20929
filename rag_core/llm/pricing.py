"""Count the tokens of a request to a language model, and compute their price from the table ``prices.toml``."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass

from rag_core.llm.context_budget import PER_MESSAGE, TRUSTED_SHARE, count_tokens
from rag_core.llm.message_parts import IMAGE_TOKENS, count_images, join_text
from rag_core.llm.request import DEFAULT_BASE_URL, parse_host
from rag_core.llm.toml_tables import read_entries
from rag_core.settings import Settings
from rag_core.types.usage import Price, Usage

PRICES_FILE = Path(__file__).with_name("prices.toml")
_MILLION = 1_000_000
_DATE = re.compile(r"-\d{4}-\d\d-\d\d")
_Amount = Annotated[float, Field(ge=0, le=1_000_000)]


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class ModelPrice:
    """The prices of a million input and output tokens of a model at a host."""

    model: Annotated[str, Field(min_length=1)]
    host: Annotated[str, Field(min_length=1)]
    input: _Amount
    output: _Amount
    currency: Annotated[str, Field(min_length=1, max_length=8)]


_ENTRIES = TypeAdapter(list[ModelPrice])


def load_prices(file: Path | None = None) -> list[ModelPrice]:
    """Return the entries of a table, by default the one that comes with the application; may raise `SettingsError`."""
    return read_entries(file or PRICES_FILE, "prices", _ENTRIES, "table of prices", "Correct it, or unset RAG_PRICES")


def apply_price(settings: Settings, prices: Sequence[ModelPrice]) -> Settings:
    """Return settings with the price that the table states for the model at its host.

    The settings are returned unchanged if they contain a price, if the model is a GGUF file, or if the table has no
    price. It has none for models on this machine, which cost nothing. A dated version, such as ``NAME-2025-01-31``, has
    the price of ``NAME``.
    """
    if settings.gguf or settings.token_price:
        return settings
    host, model = parse_host(settings.openai_base_url or DEFAULT_BASE_URL), settings.openai_model or ""
    for entry in prices:
        rest = model.removeprefix(entry.model)
        if entry.host == host and model.startswith(entry.model) and (not rest or _DATE.fullmatch(rest)):
            return settings.model_copy(update={"price": Price(entry.input, entry.output, entry.currency)})
    return settings


def estimate_usage(
    price: Price | None, messages: Sequence[dict[str, Any]], written: str, reported: tuple[int, int] | None
) -> Usage:
    """Return the usage of one request.

    Parameters
    ----------
    price : Price, optional
    messages : Sequence[dict[str, Any]]
        The request's messages.
    written : str
        The reply's text.
    reported : tuple[int, int], optional
        Input and output tokens as reported by the endpoint. Without them, the ``cl100k_base`` tokens are counted, and
        the usage is marked as estimated.
    """
    read, wrote = reported or (sum(map(_count_tokens, messages)), count_tokens(written))
    cost = (read * price.input + wrote * price.output) / _MILLION if price else None
    return Usage(1, read, wrote, estimated=reported is None, cost=cost, currency=price.currency if price else "")


def count_message_tokens(messages: Sequence[dict[str, Any]]) -> int:
    """Return an upper estimate of the tokens of messages, with a reserve because the tokenizers of models differ."""
    return math.ceil(sum(map(_count_tokens, messages)) / TRUSTED_SHARE)


def _count_tokens(message: dict[str, Any]) -> int:
    content = message["content"]
    return count_tokens(join_text(content)) + IMAGE_TOKENS * count_images(content) + PER_MESSAGE
