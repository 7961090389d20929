"""Parse numbers and the parts of dates: ``1,749``, ``$1.7 billion``, ``5 per cent``, ``17th``, ``1754–63``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from rag_core.text.dates import MONTH, MONTHS, YEAR, is_year
from rag_core.text.normalize import SUPERSCRIPT_DIGITS, normalize

# Powers of ten of scale words.
SCALES = {
    "hundred": 2, "thousand": 3, "thousands": 3, "k": 3, "million": 6, "millions": 6, "mn": 6, "mio": 6,
    "billion": 9, "billions": 9, "bn": 9, "b": 9, "trillion": 12, "trillions": 12, "tn": 12,
    # German, French, Spanish and Italian. The Spanish "miles", "mil" and "billones" are left out, because they are or
    # resemble English words of another meaning.
    "tausend": 3, "milliers": 3, "migliaia": 3, "millionen": 6, "millones": 6, "milione": 6, "milioni": 6,
    "milliarde": 9, "milliarden": 9, "mrd": 9, "milliard": 9, "milliards": 9, "miliardo": 9, "miliardi": 9,
    "mil millones": 9,
}  # fmt: skip
# With a currency, "m" and "mm" are scale words as well.
AMOUNT_SCALES = {"m": 6, "mm": 6} | SCALES
CURRENCIES = {
    "$": "dollar", "us$": "dollar", "usd": "dollar", "dollars": "dollar", "dollar": "dollar", "€": "euro",
    "eur": "euro", "euros": "euro", "euro": "euro", "£": "pound", "gbp": "pound", "¥": "yen", "yen": "yen",
    "jpy": "yen",
}  # fmt: skip
# The ISO 4217 codes of other currencies that reports often use.
_OTHER_CODES = (
    "AED AUD BRL CAD CHF CLP CNY COP CZK DKK EGP HKD HUF IDR ILS INR KRW MXN MYR NGN NOK NZD PHP PLN RON RUB SAR SEK "
    "SGD THB TRY TWD UAH VND ZAR"
).split()
CURRENCIES |= {code.casefold(): code for code in _OTHER_CODES}
# Currency codes are matched only in capitals, because "try" is a word.
CURRENCY_CODE = rf"(?-i:USD|EUR|GBP|JPY|{'|'.join(_OTHER_CODES)})"
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen".split()
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth".split()
)
_SPELLED = {word: value for value, word in enumerate(_UNITS)}
_SPELLED |= {word: 10 * value for value, word in enumerate(_TENS, 2)}
_SPELLED |= {word: value for value, word in enumerate(_ORDINALS)} | {"twentieth": 20, "thirtieth": 30}

_SPACED = r"\d{1,3}(?:[ \n]\d{3})+(?![\d.,]*\d)"
_GROUPED = (
    r"\d{1,3}(?:[,\u00a0\u2009\u202f]\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+(?:,\d+)?|"
    # "12,4" is a number with a decimal comma, but "1,2,3" is a list.
    r"\d+,\d{1,2}(?![\d]|,\d)|\d+(?:\.\d+)?"
)
# The scale words as alternatives of a pattern. Single letters are matched separately: "m" can mean metres, and "b" and
# "k" follow their number without a blank.
SCALE_WORDS = "|".join(sorted((name for name in SCALES if len(name) > 1), key=len, reverse=True))


def _compile_digit_pattern(grouped: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<currency>US\$|[$€£¥]|\b{CURRENCY_CODE}\b)?\s?(?<![\w.,])(?P<number>{grouped}|\.\d+)"
        r"(?P<suffix>st|nd|rd|th|s|k|m|mn|bn|b|tn|M|K|B)?(?![A-Za-z]|\d)"
    )


_DIGITS, _DIGITS_OR_SPACED = _compile_digit_pattern(_GROUPED), _compile_digit_pattern(f"{_SPACED}|{_GROUPED}")
_AFTER = re.compile(
    rf"[\s\u00a0-]{{0,2}}(?P<scale>(?:{SCALE_WORDS}|m)\b)?\.?"
    r"[\s\u00a0-]{0,2}"
    r"(?P<percent>%|per\s?cento?\b|percentage points?\b|pp\b|prozent\b|v\.\s?h\.|pour cent\b|por ciento\b)?"
    r"[\s\u00a0]{0,2}"
    rf"(?:(?:d['’]|de\s|di\s)?(?P<currency>dollars?\b|euros?\b|yen\b|usd\b|eur\b|gbp\b|{CURRENCY_CODE}\b|[€£](?!\s?\d)))?",
    re.I,
)
# Superscript digits after a figure. They are footnote marks, except for an exponent after the number 10.
_RAISED = re.compile(rf"[{SUPERSCRIPT_DIGITS}]+(?:,[{SUPERSCRIPT_DIGITS}]+)*")
_POWER = re.compile(rf"[{SUPERSCRIPT_DIGITS}]{{1,2}}")
_BELOW_HUNDRED = (
    rf"(?:(?:{'|'.join(_TENS)})[\s-](?:{'|'.join([*_UNITS[1:10], *_ORDINALS[1:10]])})|"
    rf"{'|'.join(word for word, value in _SPELLED.items() if value)})\b"
)
# "hundred" and the number that is added to it. Before another "hundred", the number is separate: "one hundred and two
# hundred" are two numbers.
_HUNDRED = rf"hundred\b(?:[\s-](?:and\s)?(?>{_BELOW_HUNDRED})(?![\s-]hundred\b))?"
_WORDS = re.compile(rf"\b(?:{_BELOW_HUNDRED}(?:[\s-]{_HUNDRED})?|{_HUNDRED}|zero(?:th)?\b)", re.I)
_AND = re.compile(r"\s(and\s)?", re.I)
_ORDINAL_END = re.compile(rf"\b(?:{'|'.join([*_ORDINALS, 'twentieth', 'thirtieth'])})$", re.I)
_YEARS = re.compile(r"(?<!\d)(\d{2})(\d{2})\s?[-–/]\s?(\d{2})(?![\d.,]\d|\d)")
_ISO = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
# "07/01/2023" is in July in America and in January elsewhere. With full stops, the month is second if possible.
_NUMERIC_DATE = re.compile(rf"(?<![\d./-])(\d{{1,2}})([./-])(\d{{1,2}})\2({YEAR})(?![\d/-]|\.\d)")
_MONTH_BEFORE_DAY = re.compile(r"\b(" + MONTH + r")\b\.?(?=\s+\d)", re.I)
_MONTH_AFTER_DAY = re.compile(r"(?<=\d)(?:st|nd|rd|th)?\s+(?:of\s+)?(" + MONTH + r")\b", re.I)
_MONTH = re.compile(r"\b(" + "|".join(one for one in MONTHS if one not in ("may", "march", "august")) + r")\b", re.I)
_CAPITAL_MONTH = re.compile(r"(?<=\b[Ii]n )(May|March|August)\b|(?<=\b[Bb]y )(May|March|August)\b")
_RANGE = re.compile(r"\s?(?:-|–|\.{2,3}|…|to|and|or|auf|bis|à|a|,)\s?")


@dataclass(frozen=True, slots=True)
class Number:
    """A number or a part of a date in a text.

    Attributes
    ----------
    start, end : int
        Character span, including the scale word, percent sign and currency.
    text : str
        The text of the span.
    values : frozenset[Decimal]
        Possible values, multiplied by the scale. Ambiguous notations, such as ``1.749`` and ``88 m``, have several.
    kind : str
        ``percent``, ``month``, ``decade``, or empty for other numbers.
    currency : str
        ``dollar``, ``euro``, ``pound``, ``yen`` or an ISO 4217 code such as ``SEK``; empty without a currency.
    power : int
        Power of ten of the scale word, such as 6 for "million"; 0 without a scale word. The scale of a table, such as
        "in millions", applies only to numbers whose ``power`` is 0.
    """

    start: int
    end: int
    text: str
    values: frozenset[Decimal]
    kind: str = ""
    currency: str = ""
    power: int = 0

    @property
    def significant_digits(self) -> int:
        """Number of digits of the text, without leading and trailing zeros."""
        return len(re.sub(r"\D", "", self.text).strip("0"))


def parse_numbers(text: str, *, spaced: bool = True) -> list[Number]:
    """Return the numbers and the parts of dates in a text, in order.

    In a range such as "3 to 5 %", the first number is a percentage as well.

    Parameters
    ----------
    text : str
    spaced : bool
        Whether a blank can separate thousands, so that ``94 000`` is one number.
    """
    dates = list(_parse_dates(text))
    dated = {one.start for one in dates}
    digits = [one for one in _parse_digits(text, _DIGITS_OR_SPACED if spaced else _DIGITS) if one.start not in dated]
    found = sorted([*dates, *digits, *_parse_spelled(text)], key=lambda one: (one.start, -one.end))
    kept: list[Number] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    for position in range(len(kept) - 2, -1, -1):
        kept[position] = _read_as_percentage(text, kept[position], kept[position + 1])
    return kept


def numbers_equal(said: Number, source: Number, scales: frozenset[int] = frozenset(), *, rounded: bool = False) -> bool:
    """Return whether the number of a statement equals that of a source, including kind and, if known, currency.

    Parameters
    ----------
    said, source : Number
        The number of the statement and that of the source.
    scales : frozenset of int
        Powers of ten of the source's tables, such as 6 for "in millions".
    rounded : bool
        Whether the statement may round the number of the source.
    """
    if said.kind != source.kind or (said.currency and source.currency and said.currency != source.currency):
        return False
    values = source.values
    if said.power and not source.power:
        values |= {value.scaleb(scale) for value in source.values for scale in scales}
    if said.values & values:
        return True
    return rounded and any(_is_rounded(one, value) for value in values for one in said.values)


def contains_number(numbers: Iterable[Number], wanted: Number, scales: frozenset[int] = frozenset()) -> bool:
    """Return whether ``wanted`` equals, or is a rounded form of, a number of a source; see `numbers_equal`."""
    return any(numbers_equal(wanted, one, scales, rounded=True) for one in numbers)


def _is_rounded(rounded: Decimal, value: Decimal) -> bool:
    """Return whether a number may be a rounded form of a value; false for 0.

    They differ by at most 10 % of the number, and by less than one unit of its last digit that is not 0.
    """
    if not rounded or not value:
        return False
    digits = len(rounded.normalize().as_tuple().digits)
    unit = Decimal(1).scaleb(rounded.adjusted() - digits + 1)
    return abs(value - rounded) < unit and abs(value - rounded) <= rounded / 10


@dataclass(frozen=True, slots=True)
class _Unit:
    """The scale word, percent sign and currency after a figure; empty texts if the figure has none.

    ``scale_end`` is the end offset of the scale word, or -1 if only the others follow. ``end`` is the end offset of all
    three. Both offsets are the end of the figure if nothing follows.
    """

    scale_end: int
    end: int
    scale: str
    kind: str
    currency: str


def _parse_unit(text: str, start: int) -> _Unit:
    match = _AFTER.match(text, start)
    if match is None or not (match["scale"] or match["percent"] or match["currency"]):
        return _Unit(start, start, "", "", "")
    scale, currency = (match["scale"] or "").casefold(), (match["currency"] or "").casefold()
    return _Unit(match.end("scale"), match.end(), scale, "percent" if match["percent"] else "", currency)


def _parse_digits(text: str, pattern: re.Pattern[str]) -> Iterator[Number]:
    for match in pattern.finditer(text):
        raised = _RAISED.match(text, match.end())
        unit = _parse_unit(text, raised.end() if raised else match.end())
        suffix = match["suffix"] or ""
        start = match.start() + len(match[0]) - len(match[0].lstrip())
        end = match.end() if raised and unit.end == raised.end() else unit.end
        mantissas = _parse_figure(match["number"])
        if raised and match["number"] == "10" and _POWER.fullmatch(raised[0]):
            mantissas = frozenset({Decimal(1).scaleb(int(unicodedata.normalize("NFKC", raised[0])))})
        powers = {SCALES.get(suffix.casefold()) or SCALES.get(unit.scale, 0)}
        if unit.scale == "m" or suffix in ("m", "M"):
            # "m" means millions with a currency, and otherwise metres or millions.
            powers = {6} if match["currency"] else {0, 6}
        yield Number(
            start,
            end,
            text[start:end].strip(),
            frozenset(value.scaleb(power) for value in mantissas for power in powers),
            "decade" if suffix == "s" else unit.kind,
            CURRENCIES.get((match["currency"] or unit.currency).casefold(), ""),
            power=min(powers),
        )


def _parse_figure(written: str) -> frozenset[Decimal]:
    """Return the possible values of a figure with decimal and thousands separators."""
    plain = re.sub(r"\s", "", written)
    if re.fullmatch(r"\d+,\d{1,2}", plain):
        return frozenset({Decimal(plain.replace(",", "."))})
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?", plain):
        continental = Decimal(plain.replace(".", "").replace(",", "."))
        is_ambiguous = plain.count(".") == 1 and "," not in plain
        return frozenset({continental, Decimal(plain)} if is_ambiguous else {continental})
    return frozenset({Decimal(plain.replace(",", ""))})


def _parse_spelled(text: str) -> list[Number]:
    found: list[Number] = []
    # The power of ten of the previous number's scale word, and the end of this word. The previous number can be a part
    # of the next one, such as "two thousand" of "two thousand five hundred".
    last = scale_end = 0
    for match in _WORDS.finditer(text):
        total = 0
        # If letter case is ignored, the pattern also matches the dotless i of Turkish.
        for word in re.findall(r"[a-z]+", normalize(match[0]).replace("ı", "i")):
            if word == "hundred":
                total = max(total, 1) * 100
            elif word != "and":
                total += _SPELLED[word]
        unit = _parse_unit(text, match.end())
        power = SCALES.get(unit.scale, 0)
        value, start, kept = Decimal(total).scaleb(power), match.start(), power
        # The second number is separate in "two million first-time buyers" and "two thousand three-bedroom flats".
        is_part = not re.match(r"-[^\W\d_]", text[match.end() :]) and not _ORDINAL_END.search(match[0])
        joint = _AND.fullmatch(text, scale_end, start) if last and is_part else None
        # English has "and" only before the last two digits: "two thousand and five", but "two thousand five hundred".
        if joint and value < (100 if joint[1] else Decimal(10) ** last):
            first = found.pop()
            value, start, kept = value + min(first.values), first.start, first.power
        last, scale_end = power, unit.scale_end
        found.append(
            Number(
                start,
                unit.end,
                text[start : unit.end].strip(),
                frozenset({value}),
                unit.kind,
                CURRENCIES.get(unit.currency, ""),
                power=kept,
            )
        )
    return found


def _parse_dates(text: str) -> Iterator[Number]:
    """Yield the parts of the dates in a text, and the years of periods such as "1754–63"."""
    for match in _ISO.finditer(text):
        for group, kind in ((1, ""), (2, "month"), (3, "")):
            yield Number(match.start(group), match.end(group), match[group], frozenset({Decimal(match[group])}), kind)
    for match in _NUMERIC_DATE.finditer(text):
        one, other = Decimal(match[1]), Decimal(match[3])
        if not (0 < min(one, other) <= 12 and max(one, other) <= 31):
            continue
        either = frozenset({one, other})
        # "12.31.2023" has the American order in spite of the full stops.
        is_second = match[2] == "." and other <= 12
        months = frozenset({other} if is_second else {number for number in either if number <= 12})
        days = either - months or months
        day, month = (3, 1) if months == {one} else (1, 3)
        yield Number(match.start(day), match.end(day), match[day], days if len(months) == 1 else either)
        yield Number(match.start(month), match.end(month), match[month], months, "month")
        yield Number(match.start(4), match.end(4), match[4], frozenset({Decimal(match[4])}))
    for match in _YEARS.finditer(text):
        first, last = match[1] + match[2], match[1] + match[3]
        if int(first) < int(last):
            yield Number(match.start(1), match.end(2), first, frozenset({Decimal(first)}))
            yield Number(match.start(3), match.end(3), last, frozenset({Decimal(last)}))
    for pattern in (_MONTH_BEFORE_DAY, _MONTH_AFTER_DAY, _MONTH, _CAPITAL_MONTH):
        for match in pattern.finditer(text):
            yield _create_month(match, match.lastindex or 1)


def _create_month(match: re.Match[str], group: int) -> Number:
    name = match[group].casefold()
    month = next(number for number, english in enumerate(MONTHS, 1) if english.startswith(name[:3]))
    return Number(match.start(group), match.end(group), match[group], frozenset({Decimal(month)}), "month")


def _read_as_percentage(text: str, one: Number, following: Number) -> Number:
    """Return a number as a percentage if it begins a range of percentages, such as "3 to 5 %"; else unchanged.

    A year before a comma or "and" does not begin a range, as in "In 2020, 5 % were sold".
    """
    if one.kind or one.currency or one.power or following.kind != "percent":
        return one
    is_range = _RANGE.fullmatch(text, one.end, following.start) is not None
    is_list = re.search(r",|\band\b", text[one.end : following.start]) is not None
    return replace(one, kind="percent") if is_range and not (is_list and is_year(one.text)) else one
