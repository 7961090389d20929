"""Descriptions of search strategies for the pages and the command line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StrategyDescription:
    """The description of a search strategy.

    Attributes
    ----------
    name : str
        Name in a `RetrievalConfig` and on the command line.
    label : str
        Name for display.
    description : str
        What the strategy does, in one line.
    in_chat : bool
        Whether the chat offers the strategy. The Lab and the command line offer all strategies.
    uses_model : bool
        Whether the strategy calls a language model.
    ranks_passages : bool
        Whether the strategy ranks passages, so that it can be evaluated.
    """

    name: str
    label: str
    description: str
    in_chat: bool
    uses_model: bool
    ranks_passages: bool
