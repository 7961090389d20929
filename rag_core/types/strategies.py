"""What the pages and the command line know about a search strategy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StrategyDescription:
    """A search strategy.

    Attributes
    ----------
    name : str
        The name by which a `RetrievalConfig` and the command line select it.
    label : str
        Name for display.
    description : str
        What it does, in one line.
    in_chat : bool
        Whether the chat offers it; the others are in the Lab and on the command line.
    uses_model : bool
        Whether it calls a language model.
    ranks_passages : bool
        Whether it ranks passages, which is what an evaluation measures.
    """

    name: str
    label: str
    description: str
    in_chat: bool
    uses_model: bool
    ranks_passages: bool
