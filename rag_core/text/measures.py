"""The unit of measurement after a number, by the names and symbols of the Unicode locale data."""

from __future__ import annotations

import re
from functools import cache
from itertools import product

from rag_core.text.languages import LANGUAGES
from rag_core.text.normalize import normalize

# The locale data has only some of these symbols.
_PREFIXES, _BASES = ("", *"nµmkMGT"), ("A", "V", "W", "Wh", "Hz", "F", "J", "Pa", "Ω", "N", "Nm", "B")
# Units that texts do not tell apart, and parts of names that do not change a unit.
_SAME = {"mass-ton": "mass-tonne", "mass-metric-ton": "mass-tonne"}
_VARIANT = re.compile(r"-(?:person|imperial|metric)$")
_UNIT = re.compile(r"[\s\u00a0\u202f-]?(?P<unit>[^\W\d_]+[²³]?|[°µΩ%][^\W\d_]?)(?:/[^\W\d_]+)?(?!\w)")
_METRES = re.compile(r"\d\s?m$")


def find_unit(text: str, end: int) -> str:
    """Return the unit after a number that ends here, such as ``duration-minute``; empty if none is known.

    >>> find_unit("It takes 45 Minuten.", 11), find_unit("at 300 µA", 6), find_unit("36 valves", 2)
    ('duration-minute', 'A-µ', '')
    """
    # A single "m" is part of the number, because it may also stand for millions.
    if _METRES.search(text, 0, end):
        return "length-meter"
    match = _UNIT.match(text, end)
    if match is None:
        return ""
    symbols, names = _load_units()
    return symbols.get(match["unit"]) or names.get(normalize(match["unit"])) or ""


def have_same_dimension(unit: str, other: str) -> bool:
    """Return whether two units measure the same, as minutes and hours do."""
    return unit.partition("-")[0] == other.partition("-")[0]


@cache
def _load_units() -> tuple[dict[str, str], dict[str, str]]:
    """Return the units by symbol, as written, and by name in lower case; ambiguous symbols and names are left out."""
    from babel import Locale
    from babel.units import format_unit

    symbols: dict[str, set[str]] = {}
    names: dict[str, set[str]] = {}
    for language in LANGUAGES:
        locale = Locale(language)
        for unit, count in product(map(str, locale.unit_display_names), (1, 5)):
            key = _VARIANT.sub("", unit)
            symbol = format_unit(count, unit, "short", format="#", locale=locale)
            name = normalize(format_unit(count, unit, "long", format="#", locale=locale))
            for written, known in ((symbol, symbols), (name, names)):
                word = written.replace(str(count), "").strip("\u00a0\u202f ")
                if word and " " not in word:
                    known.setdefault(word, set()).add(_SAME.get(key, key))
    symbols |= {prefix + base: {f"{base}-{prefix}"} for prefix in _PREFIXES for base in _BASES}
    found = (
        {word: next(iter(units)) for word, units in known.items() if len(units) == 1} for known in (symbols, names)
    )
    return next(found), next(found)
