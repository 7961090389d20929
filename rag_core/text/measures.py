"""Find the unit of measurement or the currency of a number, by names and symbols of the Unicode locale data (CLDR)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import product

from rag_core.text.languages import LANGUAGES
from rag_core.text.normalize import normalize

# Metric prefixes and units. The locale data contains only some of their combinations.
_PREFIXES, _BASES = ("", *"nµmkMGT"), ("A", "V", "W", "Wh", "Hz", "F", "J", "Pa", "Ω", "N", "Nm", "B")
# Units that texts do not distinguish, and name parts that do not change a unit.
_SYNONYMS = {"mass-ton": "mass-tonne", "mass-metric-ton": "mass-tonne"}
_VARIANT = re.compile(r"-(?:person|imperial|metric)$")
_UNIT = re.compile(r"[\s\u00a0\u202f-]?(?P<unit>[^\W\d_]+[²³]?|[°µΩ%][^\W\d_]?)(?:/[^\W\d_]+)?(?!\w)")
# Up to three words after a number, which can be repeated in digits, as in "ten (10) working days".
_PHRASE = re.compile(r"\s?(?:\([^()]{1,12}\)\s?)?([^\W\d_]+(?:\s[^\W\d_]+){0,2})")
_METRES = re.compile(r"\d\s?m$")
# Minimum lengths of a unit at the end of a German compound noun, and of such a noun.
_MIN_PART, _MIN_COMPOUND = 4, 8
# Further numbers in a row of numbers, of which only the last has a unit, and the word before the first number.
_NUMBERS, _BEFORE = re.compile(r"(?:[ \t–-]*[+±]?\d[\d.,]*)+"), re.compile(r"([^\s\d]+)\s*$")
# Powers of ten of SI prefixes, by name and by symbol.
_SI = {"giga": 9, "mega": 6, "kilo": 3, "hecto": 2, "deci": -1, "centi": -2, "milli": -3, "micro": -6, "nano": -9}
_SI |= {"T": 12, "G": 9, "M": 6, "k": 3, "m": -3, "µ": -6, "n": -9}
_SI_BASES = "meter gram liter watt byte joule hertz volt ampere pascal newton watt-hour".split()
_SYMBOLS = {"W": "watt", "Wh": "watt-hour", "V": "volt", "A": "ampere", "Hz": "hertz", "J": "joule", "B": "byte"}
_SYMBOLS |= {"Pa": "pascal", "N": "newton"}
# Base unit and factor of other units.
_FACTORS = {
    "tonne": ("gram", "1e6"), "pound": ("gram", "453.59237"), "ounce": ("gram", "28.349523125"),
    "mile": ("meter", "1609.344"), "foot": ("meter", "0.3048"), "inch": ("meter", "0.0254"),
    "cubic-meter": ("liter", "1000"), "cubic-centimeter": ("liter", "0.001"), "gallon": ("liter", "3.785411784"),
    "square-meter": ("square-meter", "1"), "square-centimeter": ("square-meter", "1e-4"),
    "square-kilometer": ("square-meter", "1e6"), "hectare": ("square-meter", "1e4"),
    "acre": ("square-meter", "4046.8564224"), "square-foot": ("square-meter", "0.09290304"),
    "second": ("second", "1"), "minute": ("second", "60"), "hour": ("second", "3600"), "day": ("second", "86400"),
    "week": ("second", "604800"), "month": ("month", "1"), "quarter": ("month", "3"), "year": ("month", "12"),
    "decade": ("month", "120"), "bar": ("pascal", "1e5"),
}  # fmt: skip
# Languages that put the adjective of a currency after its noun, as in "francs suisses".
_NOUN_FIRST = frozenset(("fr", "es", "it", "pt"))


@dataclass(frozen=True, slots=True)
class Measure:
    """The unit of an amount.

    ``dimension`` is the measured quantity, such as ``duration`` or ``currency``; for metric units that the locale data
    lacks, it is the symbol without its prefix, such as ``A``. ``units`` contains several units if the word for the unit
    is ambiguous, such as "dollars".
    """

    dimension: str
    units: frozenset[str]

    def agrees(self, other: Measure) -> bool:
        """Return whether two amounts may be in the same unit."""
        return self.dimension == other.dimension and bool(self.units & other.units)

    def conflicts(self, other: Measure) -> bool:
        """Return whether two amounts are in different units of the same dimension, such as minutes and hours."""
        return self.dimension == other.dimension and not self.units & other.units


def find_measure(text: str, start: int, end: int, currency: str = "", *, in_row: bool = False) -> Measure | None:
    """Return the unit of the number at a span of a text; ``None`` if the unit is unknown.

    Parameters
    ----------
    text : str
    start, end : int
        Span of the number.
    currency : str
        The currency of the number, as in `Number`; may be empty.
    in_row : bool
        Whether the number may be in a row of numbers whose unit stands before the first or after the last number.
    """
    if currency:
        return Measure("currency", _load_currencies().get(currency.casefold(), frozenset((currency,))))
    places = [end]
    if in_row and (following := _NUMBERS.match(text, end)):
        places.append(following.end())
    for place in places:
        if unit := find_unit_after(text, place):
            return Measure(unit.partition("-")[0], frozenset((unit,)))
        if (word := _PHRASE.match(text, place)) and (codes := _load_currencies().get(normalize(word[1].split()[0]))):
            return Measure("currency", codes)
    line = text.rfind("\n", 0, start) + 1
    if (
        in_row
        and (first := re.search(r"\d", text[line:end]))
        and (word := _BEFORE.search(text[line : line + first.start()]))
    ):
        symbol = word[1].strip("()[],:").partition("/")[0]
        if before := _load_units()[0].get(symbol):
            return Measure(before.partition("-")[0], frozenset((before,)))
    return None


def find_unit_after(text: str, end: int) -> str:
    """Return the unit after the end of a number, such as ``duration-minute``; empty if no known unit follows.

    >>> find_unit_after("It takes 45 Minuten.", 11), find_unit_after("at 300 µA", 6), find_unit_after("36 valves", 2)
    ('duration-minute', 'A-µ', '')
    >>> find_unit_after("ten (10) Working Days", 3), find_unit_after("517 square miles", 3)
    ('duration-day', 'area-square-mile')
    >>> find_unit_after("50 Betriebsstunden", 2)
    'duration-hour'
    """
    # An "m" after a number is included in the span of the number, because it can also stand for millions.
    if _METRES.search(text, 0, end):
        return "length-meter"
    symbols, names = _load_units()
    phrase = _PHRASE.match(text, end)
    words = phrase[1].split() if phrase else []
    for count in (3, 2):
        if len(words) >= count and (unit := names.get(normalize(" ".join(words[:count])))):
            return unit
    match = _UNIT.match(text, end)
    unit = symbols.get(match["unit"], "") if match else ""
    if not unit and words:
        unit = _find_named_unit(words[0])
    if not unit and len(words) > 1 and (further := _find_named_unit(words[1])).startswith("duration"):
        return further
    return unit


@cache
def convert_unit(unit: str) -> tuple[str, Decimal] | None:
    """Return the base unit of a unit from `find_unit_after`, and how many base units the unit is; ``None`` if unknown.

    >>> convert_unit("length-kilometer"), convert_unit("W-k"), convert_unit("duration-year")
    (('meter', Decimal('1E+3')), ('watt', Decimal('1E+3')), ('month', Decimal('12')))
    """
    first, _, name = unit.partition("-")
    if first in _SYMBOLS:
        return _SYMBOLS[first], Decimal(1).scaleb(_SI.get(name, 0))
    if name in _FACTORS:
        base, factor = _FACTORS[name]
        return base, Decimal(factor)
    for base in _SI_BASES:
        prefix = name.removesuffix(base).rstrip("-")
        if name.endswith(base) and (not prefix or prefix in _SI):
            return base, Decimal(1).scaleb(_SI.get(prefix, 0))
    return None


def _find_named_unit(word: str) -> str:
    """Return the unit that a word names, which can be a German dative or compound; empty if the word is not a unit."""
    names, folded = _load_units()[1], normalize(word)
    for form in (folded, folded.removesuffix("n")):
        if form in names:
            return names[form]
        if word[0].isupper() and len(form) >= _MIN_COMPOUND:
            endings = (form[start:] for start in range(_MIN_PART - 1, len(form) - _MIN_PART + 1))
            if unit := next((names[ending] for ending in endings if ending in names), ""):
                return unit
    return ""


@cache
def _load_units() -> tuple[dict[str, str], dict[str, str]]:
    """Return the units by symbol, and by normalized name. Ambiguous symbols and names are left out."""
    from babel import Locale
    from babel.units import format_unit

    symbols: dict[str, set[str]] = {}
    names: dict[str, set[str]] = {}
    # British and American names differ.
    for language in (*LANGUAGES, "en_GB"):
        locale = Locale.parse(language)
        for unit, count in product(map(str, locale.unit_display_names), (1, 5)):
            key = _VARIANT.sub("", unit)
            symbol = format_unit(count, unit, "short", format="#", locale=locale)
            name = normalize(format_unit(count, unit, "long", format="#", locale=locale))
            for written, known in ((symbol, symbols), (name, names)):
                word = written.replace(str(count), "").strip("\u00a0\u202f ")
                if word and (known is names or " " not in word):
                    known.setdefault(word, set()).add(_SYNONYMS.get(key, key))
    symbols |= {prefix + base: {f"{base}-{prefix}"} for prefix in _PREFIXES for base in _BASES}
    by_symbol, by_name = (
        {word: next(iter(units)) for word, units in known.items() if len(units) == 1} for known in (symbols, names)
    )
    return by_symbol, by_name


@cache
def _load_currencies() -> dict[str, frozenset[str]]:
    """Return the ISO 4217 codes of currencies by noun and by code, in lower case. The noun "dollar" has many codes."""
    found: dict[str, set[str]] = {}
    for language, code, name in _list_currency_names():
        words = normalize(name).replace("-", " ").split()
        found.setdefault(words[0] if language in _NOUN_FIRST else words[-1], set()).add(code)
        found.setdefault(code.casefold(), set()).add(code)
    return {word: frozenset(codes) for word, codes in found.items()}


def _list_currency_names() -> Iterator[tuple[str, str, str]]:
    """Yield the language, the code and the name of each currency in each language, in the singular and the plural."""
    from babel.numbers import get_currency_name

    for language, code, count in product(LANGUAGES, sorted(list_currency_codes()), (1, 5)):
        yield language, code, get_currency_name(code, count=count, locale=language).partition(" (")[0]


def list_currency_codes() -> set[str]:
    """Return the ISO 4217 codes of the present currencies of all countries."""
    from babel import Locale
    from babel.numbers import get_territory_currencies

    countries = [one for one in map(str, Locale("en").territories) if len(one) == 2 and one.isalpha()]
    return {str(code) for one in countries for code in get_territory_currencies(one)}
