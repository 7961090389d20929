"""Adjectives of size and time, the measures that they compare, and their comparatives and superlatives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Adjective:
    """An adjective that compares things by a measure.

    Attributes
    ----------
    measured_as : str
        The adjective of a question for the measure: "heavy" for "light", as in "How heavy is it?".
    direction : int
        1 if a high value is meant, -1 if a low one.
    """

    measured_as: str
    direction: int


# Adjectives for high values and, after the stroke, for low values of the same measure.
_PAIRS = (
    "long/short high/low large/small big great tall wide/narrow deep/shallow heavy/light thick/thin expensive/cheap "
    "strong/weak hot/cold warm/cool wet/dry loud/quiet fast/slow"
)
# Adjectives of time compare dates, not measures.
TIMES = frozenset("late early soon".split())
ADJECTIVES: Mapping[str, Adjective] = {
    **{
        adjective: Adjective(pair.split("/")[0], -1 if number else 1)
        for pair in _PAIRS.split()
        for number, adjective in enumerate(pair.split("/"))
    },
    **{"dear": Adjective("expensive", 1), "late": Adjective("late", 1)},
    **{adjective: Adjective(adjective, -1) for adjective in ("early", "soon")},
}
# The names of the measures that an adjective compares. "High" and "large" name none.
MEASURES: Mapping[str, tuple[str, ...]] = {
    "long": ("length", "duration"), "tall": ("height",), "wide": ("width",), "deep": ("depth",),
    "heavy": ("weight", "mass"), "thick": ("thickness",), "expensive": ("price", "cost"), "strong": ("strength",),
    "hot": ("temperature",), "warm": ("temperature",), "wet": ("rain", "rainfall", "precipitation"),
    "loud": ("noise", "sound"), "fast": ("speed", "velocity"),
}  # fmt: skip


def inflect(adjective: str, ending: str) -> str:
    """Return the comparative (``er``) or superlative (``est``) of a short adjective.

    >>> inflect("heavy", "er"), inflect("wide", "est"), inflect("big", "est")
    ('heavier', 'widest', 'biggest')
    """
    if adjective.endswith("e"):
        return adjective + ending[1:]
    if adjective.endswith("y"):
        return f"{adjective[:-1]}i{ending}"
    return adjective + adjective[-1] * bool(re.search(r"[^aeiou][aeiou][bdgnt]$", adjective)) + ending
