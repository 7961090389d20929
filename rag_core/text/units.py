"""Find the unit of figures (scale, currency and measure) that a caption, a header or a text in brackets states.

The names and symbols are those of the Unicode locale data (CLDR).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from babel import Locale
from babel.numbers import get_currency_name

from rag_core.text.grammar import FUNCTION_WORDS
from rag_core.text.measures import list_currency_codes
from rag_core.text.numbers import CURRENCIES, SCALES
from rag_core.text.scales import find_table_scales

_LANGUAGES = "en en_GB en_IN de fr es it pt nl sv nb da fi pl cs hu ro tr".split()
# Names of units, and words for scales, that the locale data lacks.
_MORE_NAMES = frozenset("crown crowns rs cents pence units points pieces people percent % ‰".split()) | {"per cent"}
_MORE_SCALES = {"tsd": 3, "mln": 6, "milj": 6, "milhares": 3, "crore": 7, "crores": 7, "lakhs": 5}
_MORE_SCALES |= dict.fromkeys(("'000", "’000", "1000", "1,000", "1.000", "1'000", "1’000", "1 000"), 3)
# Currency codes and names of measures that are more often words of another meaning.
_NO_UNITS = frozenset(("ALL", "TOP", "light", "part", "real", "in", "to", "se"))
_PREFIXED = frozenset(prefix + unit for prefix in "kMGT" for unit in ("Wh", "W", "J", "t", "B"))
# Units of one letter, which are read in brackets or after "in". Other letters are footnotes, samples or names.
_LETTERS = frozenset("tglhsWV")
# Words before a unit, as in "in tonnes".
_IN = frozenset("in en em i w v".split())
# Words inside a unit, as in "millions of euros".
_OF = frozenset("of de di des von van av".split())
# Words before the denominator of a unit, as in "per share".
_PER = frozenset("per pro par por je".split())
# Words that can follow a unit, as in "sales in tonnes by town".
_AFTER = FUNCTION_WORDS | frozenset("für nach pour selon por según per".split())
# Maximum numbers of words of a name, of a phrase that states a unit, and of the denominator of a unit.
_MAX_NAME, _MAX_PHRASE, _MAX_PER = 4, 8, 3
# Minimum number of letters of a name in lower case that is a unit without "in". "min" and "won" are too ambiguous.
_MIN_NAME_LETTERS = 4
# Minimum number of letters of a scale word that can be inflected, and maximum number of letters of its ending, as in
# "tisících".
_SCALE_STEM, _ENDING = 5, 3
_BRACKETS = re.compile(r"(?<!\w)(?:\(([^()]*)\)|\[([^\[\]]*)\])")
# The Spanish word for thousands is the name of a measure in English.
_SPANISH_THOUSANDS = re.compile(r"\bmiles(?= de\b)|(?<=\ben )miles\b", re.IGNORECASE)
_ELISION = re.compile(r"\bd['’]", re.IGNORECASE)
_NUMBER = re.compile(r"[\d\s.,'’]+")
_GENITIVE = re.compile(r"['’]s$")
_CLAUSE_END = re.compile(r"(?<=[,;:])(?:\s+|$)")
# A currency joined with a scale, such as "T€", "€m" and "CHF'000".
_JOINED = re.compile(
    r"(?P<before>[kKtTmM])?(?P<money>[^\W\d_]{0,3}[$€£¥₹₩₪₫₱₺₴]|[^\W\d_]{2,3})(?P<after>k|m|mn|bn|['’]?000s?)?"
)
_COMPACT_ZEROS = re.compile(r"[0\s'.’\u00a0\u202f]+")


@dataclass(frozen=True)
class _UnitWords:
    """Words for units.

    ``names`` are names of currencies and measures in lower case. ``money`` and ``symbols`` are the symbols of
    currencies and of measures. ``scales`` contains the powers of ten of scale words; an ambiguous word has none.
    """

    names: frozenset[str]
    money: frozenset[str]
    symbols: frozenset[str]
    scales: dict[str, frozenset[int]]


def find_stated_unit(text: str) -> str:
    """Return the part of a text that states a unit: a part in brackets or the whole text; empty without a unit.

    >>> find_stated_unit("Sales (in thousands of francs)"), find_stated_unit("Milk, in tonnes"), find_stated_unit("Day")
    ('(in thousands of francs)', 'Milk, in tonnes', '')
    """
    for match in _BRACKETS.finditer(text):
        if read_unit(match[1] or match[2] or "", in_brackets=True) is not None:
            return match[0]
    return text if read_unit(text) is not None else ""


def read_unit(text: str, *, in_brackets: bool = False) -> frozenset[int] | None:
    """Return the powers of ten of the unit that a text states; ``None`` if the text states no unit.

    The result is empty for a unit without a scale word, such as "in tonnes".

    Parameters
    ----------
    text : str
    in_brackets : bool
        Whether the text is in brackets, where a symbol alone is a unit.
    """
    powers = find_table_scales(text)
    if powers:
        return powers
    clauses = _split_clauses(text)
    for clause in clauses:
        for start, end in _find_spans(clause):
            if (found := _read_phrase(clause[start:end])) is not None:
                return found
    if in_brackets or len(clauses) == 1:
        found = _read_phrase(clauses[0][:_MAX_PHRASE], is_marked=in_brackets)
        if found is not None:
            return found
    last = clauses[-1]
    is_name = bool(last) and len(last[0]) >= _MIN_NAME_LETTERS and last[0].islower()
    return _read_phrase(last) if is_name else None


def is_unit_cut(line: str, following: str) -> bool:
    """Return whether a unit begins in a line and ends in the following line.

    >>> is_unit_cut("Inflow in thousand cubic", "metres"), is_unit_cut("Sales in tonnes", "by town")
    (True, False)
    """
    if line.count("(") > line.count(")"):
        return find_stated_unit(f"{line} {following}").startswith("(")
    words, position = len(line.split()), 0
    for clause in _split_clauses(f"{line} {following}"):
        for start, end in _find_spans(clause):
            if position + start < words < position + end and _read_phrase(clause[start:end]) is not None:
                return True
        position += len(clause)
    return False


def _split_clauses(text: str) -> list[list[str]]:
    """Return the words of each clause of a text, without the text in brackets."""
    text = _SPANISH_THOUSANDS.sub("milhares", _BRACKETS.sub(" ", text))
    clauses = _CLAUSE_END.split(_ELISION.sub("de ", text).strip(" ."))
    return [[word.rstrip(",;:") for word in clause.split()] for clause in clauses]


def _find_spans(clause: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans of words of a clause that can be a unit: those after a word such as "in", longest first."""
    ends = [index for index, word in enumerate(clause) if index and word.casefold() in _AFTER] + [len(clause)]
    for start in [index + 1 for index, word in enumerate(clause) if word.casefold() in _IN]:
        yield from ((start, end) for end in reversed(ends) if start < end <= start + _MAX_PHRASE)


def _read_phrase(words: Sequence[str], *, is_marked: bool = True) -> frozenset[int] | None:
    """Return the powers of ten of the scale words of a phrase; ``None`` if the phrase is not a unit.

    Each word must be part of a unit. Figures alone are no unit, and scale words alone are none if ``is_marked`` is
    false.
    ``is_marked`` says whether the phrase is in brackets or after a word such as "in". Otherwise, the phrase cannot
    begin with a name, because a name alone is a header.
    """
    powers: frozenset[int] = frozenset()
    is_unit, is_scale, position = False, True, 0
    while position < len(words):
        if is_unit and words[position].casefold() in _PER and len(words) - position <= 1 + _MAX_PER:
            break
        if is_unit and words[position].casefold() in _OF:
            position += 1
            continue
        for count in range(min(_MAX_NAME, len(words) - position), 0, -1):
            part = " ".join(words[position : position + count]).strip(",;:")
            found = _read_part(part, may_be_name=is_marked or is_unit)
            if found is not None:
                powers |= found
                is_scale &= part.casefold().rstrip(".") in _load_unit_words().scales
                is_unit, position = True, position + count
                break
        else:
            return None
    if is_scale and not is_marked:
        return None
    return powers if is_unit and not _NUMBER.fullmatch(" ".join(words)) else None


def _read_part(part: str, *, may_be_name: bool) -> frozenset[int] | None:
    """Return the powers of ten of a scale word, an empty set for a currency or measure, or ``None`` for other words."""
    words, folded = _load_unit_words(), _GENITIVE.sub("", part.casefold().rstrip("."))
    if folded in words.scales:
        return words.scales[folded]
    if len(folded) > _SCALE_STEM:
        for length in range(max(_SCALE_STEM, len(folded) - _ENDING), len(folded)):
            if folded[:length] in words.scales:
                return words.scales[folded[:length]]
    if may_be_name and (
        folded in words.names or folded.removesuffix("n") in words.names or part in words.symbols or part in _LETTERS
    ):
        return frozenset()
    if part.casefold() in CURRENCIES and not part.islower():
        return frozenset()
    if may_be_name and part in words.money:
        return frozenset()
    match = _JOINED.fullmatch(part)
    if match and match["money"] in words.money and (match["before"] or match["after"]):
        return frozenset({_read_joined(match["before"] or "", match["after"] or "")})
    parts = part.split("/")
    if len(parts) > 1 and all(_read_part(one, may_be_name=True) is not None for one in parts):
        return frozenset()
    is_symbol = (part in words.symbols and not part.isalpha()) or part in _PREFIXED
    return frozenset() if is_symbol else None


def _read_joined(before: str, after: str) -> int:
    """Return the power of ten of a scale before or after a currency, as in "T€" and "€m"."""
    if before:
        return 6 if before in "mM" else 3
    return {"k": 3, "m": 6, "mn": 6, "bn": 9}.get(after, 3)


@cache
def _load_unit_words() -> _UnitWords:
    locales = [Locale(language) for language in _LANGUAGES]
    codes = list_currency_codes()
    names: set[str] = set(_MORE_NAMES)
    money: set[str] = set(codes)
    symbols: set[str] = {"m2", "m3", "km2", *_PREFIXED}
    scales: dict[str, set[int]] = {word: {power} for word, power in SCALES.items() if len(word) > 1}
    for word, power in _MORE_SCALES.items():
        scales.setdefault(word, set()).add(power)
    for locale in locales:
        for code in codes.intersection(locale.currencies):
            for name in (locale.currencies[code], get_currency_name(code, count=5, locale=locale)):
                full = name.split(" (")[0].casefold()
                names |= {full, full.split()[-1]}
        money |= {locale.currency_symbols[code] for code in codes if code in locale.currency_symbols}
        for forms in locale.unit_display_names.values():
            names.add(forms.get("long", "").casefold())
            symbols |= {forms[length] for length in ("short", "narrow") if length in forms}
        for by_count in locale.compact_decimal_formats.values():
            for by_size in by_count.values():
                for size, number_format in by_size.items():
                    pattern = number_format.pattern
                    word = _COMPACT_ZEROS.sub(" ", pattern).strip().casefold()
                    if len(word) > 1:
                        scales.setdefault(word, set()).add(len(size) - pattern.count("0"))
    return _UnitWords(
        frozenset(name for name in names if len(name) > 2 or name in _MORE_NAMES) - _NO_UNITS,
        frozenset(sign for sign in money if len(sign) > 1 or not sign.isalpha()) - _NO_UNITS,
        frozenset(symbol for symbol in symbols if len(symbol) > 1 or not symbol.isalnum()) - _NO_UNITS,
        {word: frozenset(powers if len(powers) == 1 else ()) for word, powers in scales.items()},
    )
