"""Count the tokens of a request to a language model, and compute their price."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rag_core.llm.context_budget import PER_MESSAGE, TRUSTED_SHARE, count_tokens
from rag_core.llm.message_parts import IMAGE_TOKENS, count_images, join_text
from rag_core.settings import Settings
from rag_core.types import Usage

_MILLION = 1_000_000


def estimate_usage(
    settings: Settings, messages: Sequence[dict[str, Any]], written: str, reported: tuple[int, int] | None
) -> Usage:
    """Return the usage of one request.

    Parameters
    ----------
    settings : Settings
    messages : Sequence[dict[str, Any]]
        The request's messages.
    written : str
        The reply's text.
    reported : tuple[int, int], optional
        Input and output tokens as reported by the endpoint. If it reports none, the ``cl100k_base`` tokens are counted.
    """
    if reported is None:
        counts = sum(map(_count_tokens, messages)), count_tokens(written)
    else:
        counts = reported
    return Usage(1, *counts, estimated=reported is None, cost=_cost(settings, *counts), currency=_currency(settings))


def count_message_tokens(messages: Sequence[dict[str, Any]]) -> int:
    """Return how many tokens of a model's context messages take at most, since tokenizers differ."""
    return math.ceil(sum(map(_count_tokens, messages)) / TRUSTED_SHARE)


def _count_tokens(message: dict[str, Any]) -> int:
    content = message["content"]
    return count_tokens(join_text(content)) + IMAGE_TOKENS * count_images(content) + PER_MESSAGE


def _cost(settings: Settings, input_tokens: int, output_tokens: int) -> float | None:
    prices = settings.price_input, settings.price_output
    if prices == (None, None):
        return None
    return (input_tokens * (prices[0] or 0.0) + output_tokens * (prices[1] or 0.0)) / _MILLION


def _currency(settings: Settings) -> str:
    return "" if (settings.price_input, settings.price_output) == (None, None) else settings.price_currency
