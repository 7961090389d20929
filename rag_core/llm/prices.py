"""The table of prices of language models; ``prices.toml`` explains its fields."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from rag_core.errors import SettingsError
from rag_core.llm.request import DEFAULT_BASE_URL, parse_host
from rag_core.settings import Settings

PRICES_FILE = Path(__file__).with_name("prices.toml")
_DATE = re.compile(r"-\d{4}-\d\d-\d\d")
_Price = Annotated[float, Field(ge=0, le=1_000_000)]


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class ModelPrice:
    """The price of a model at a host: of a million input and output tokens."""

    model: Annotated[str, Field(min_length=1)]
    host: Annotated[str, Field(min_length=1)]
    input: _Price
    output: _Price
    currency: Annotated[str, Field(min_length=1, max_length=8)]


_ENTRIES = TypeAdapter(list[ModelPrice])


def load_prices(file: Path | None = None) -> list[ModelPrice]:
    """Return the entries of a table, by default the one that comes with the application.

    Raises
    ------
    SettingsError
        The file cannot be read or is not a valid table.
    """
    file = file or PRICES_FILE
    try:
        return _ENTRIES.validate_python(tomllib.loads(file.read_text("utf-8")).get("prices"))
    except ValidationError as error:
        problem = error.errors()[0]
        place = " ".join(f"entry {part + 1}:" if isinstance(part, int) else str(part) for part in problem["loc"])
        raise SettingsError(f"The table of prices {file} is not valid. {place} {problem['msg']}. Correct it.") from None
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"The table of prices {file} cannot be read ({error}). Correct it, or unset RAG_PRICES."
        ) from None


def apply_price(settings: Settings, prices: Sequence[ModelPrice]) -> Settings:
    """Return settings with the price of their model, if they set none and the table has one for the endpoint.

    A model on this machine has no entry, and costs nothing.
    """
    if settings.gguf or (settings.price_input, settings.price_output) != (None, None):
        return settings
    host, model = parse_host(settings.openai_base_url or DEFAULT_BASE_URL), settings.openai_model or ""
    for price in prices:
        rest = model.removeprefix(price.model)
        if price.host == host and model.startswith(price.model) and (not rest or _DATE.fullmatch(rest)):
            values = {"price_input": price.input, "price_output": price.output, "price_currency": price.currency}
            return settings.model_copy(update=values)
    return settings
