"""Recognize questions for a figure of a company's annual statements, and the formula of the figure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rag_core.finance.expressions import Expression, find_dimension
from rag_core.finance.formulas import (
    FormulaError,
    build_annual_growth,
    build_average,
    build_change,
    build_growth,
    parse_formula,
)
from rag_core.finance.line_items import LineItem, find_line_items
from rag_core.finance.standard_measures import FORMULAS, StandardMeasure, Unit, find_measure
from rag_core.finance.years import find_years
from rag_core.text.dates import blank_periods, names_part_of_year
from rag_core.text.grammar import split_tokens
from rag_core.text.numbers import SCALES

_NUMBERS = {word: number for number, word in enumerate("zero one two three four five six seven eight nine ten".split())}
_COUNT = rf"(\d|{'|'.join(_NUMBERS)})"
_DEFINED = re.compile(
    r"(?:^|[.?!;)]\s+|\n)(?:please )?(?:(?:define|calculate|compute) (?P<first>[^.?!:]{2,60}?) (?:as|using)"
    r"|(?P<second>[A-Z][^.?!:]{1,60}?) (?:is|are|can be) (?:defined|calculated|computed) as):?\s*(?P<formula>.+?)"
    r"(?=\.(?:\s|$)|[?!;](?:\s|$)|$)",
    re.IGNORECASE | re.DOTALL,
)
_ABBREVIATED = re.compile(r"^(?P<name>.+?)\s*\((?P<short>[\w&/-]{2,8})\)\s*$")
# "(from cash flow statement)" after a line.
_SOURCE = re.compile(r"\s*\((?:from|as|in|per|see|i\.e\.) [^()]*\)", re.IGNORECASE)
# "(using net income attributable to shareholders)" after a measure.
_USING = re.compile(r"\s*\((?:using|based on) [^()]*\)", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[?!])\s+|(?<=\.)\s+(?=[A-Z])")
_DECIMALS = re.compile(r"\b(?:to|with) (?P<count>\w+|no) (?:decimal|digit)s?(?: places?| points?)?", re.IGNORECASE)
_SCALE = re.compile(
    r"\b(?:in|as|of) (?:units of )?(?:us ?d |usd |us dollars? |dollars? |u\.s\. dollars? |\$ ?|€ ?|£ ?|eur |gbp )?"
    r"\(?(?P<scale>thousand|million|billion)s?\b|\(in (?:usd |\$ ?)?(?P<bracketed>thousand|million|billion)s?\b",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"\b(?:percent(?:s|age)?|per cent)\b|%", re.IGNORECASE)
_CAGR = re.compile(r"\bCAGR\b|\bcompound(?:ed)? annual growth(?: rate)?", re.IGNORECASE)
_GROWTH = re.compile(
    r"\b(?:growth(?: rate)?|(?:%|percent(?:age)?) (?:change|growth|increase|decrease|decline)|(?:grow|grew|grown)\b"
    r"(?= by (?:what|how many) percent))",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:change|changed|increase[sd]?|decrease[sd]?|decline[sd]?|grow|grew|grown|improve[sd]?|drop(?:ped)?|f[ae]ll|rise|rose|"
    r"fallen|risen|yoy|year[- ]over[- ]year)\b",
    re.IGNORECASE,
)
_AVERAGE_YEARS = re.compile(
    rf"\b{_COUNT}[- ]years? (?:\w+ )?average\b|\baverage\b(?=.*\b(?:from|over|between|for)\b)", re.I
)
_YEAR_COUNT = re.compile(rf"\b{_COUNT}[- ]years?\b", re.IGNORECASE)
_SHARE = re.compile(
    r"(?P<part>[\w &'’,()/-]+?)\s+as (?:an? )?(?:%|percent(?:age)?|share|proportion) of (?P<whole>[\w &'’-]+)",
    re.IGNORECASE,
)
_RATIO = re.compile(r"\bratio of (?P<part>[\w &'’-]+?) to (?P<whole>[\w &'’-]+)", re.IGNORECASE)
# Questions about something else than a figure of a year: causes, forecasts, parts of a year or of the company,
# comparisons with others, and adjusted figures, which are not in the statements.
_OTHER = re.compile(
    r"\b(?:why|how come|reasons?|causes?|caused|drivers?|drove|driven|explains?|led to|due to|guidance|outlook|"
    r"forecasts?|expect(?:s|ed)?|projected|targets?|will|would|quarters?(?:ly)?|half|months?|weeks?|segments?|"
    r"regions?|geograph(?:y|ies|ic)|products?|divisions?|brands?|countr(?:y|ies)|subsidiar(?:y|ies)|organic(?:ally)?|"
    r"adjusted|non-?gaap|pro forma|constant currency|largest|biggest|highest|lowest|smallest|most|"
    r"which|who|any|events?|(?:when|where) (?:did|was|were|is|does)|"
    r"list|restricted|authori[sz]ed|acquired|acquisitions?|impairments?|competitors?|peers?|industry|per employee|"
    r"exclud(?:e|es|ed|ing)|like-for-like|same-store)\b",
    re.IGNORECASE,
)
# Words directly before a measure that do not restrict it to a part, as "licence" in "licence revenue" does.
_WHOLE = frozenset(
    "annual average company consolidated decreasing declining end entire falling fiscal full group growing improving "
    "increasing mean median net overall reported rising stated total unadjusted whole year year-end yearly".split()
)
# Words that restrict the measure before them to a part, as in "revenue from subscriptions".
_FROM_PART = re.compile(
    r"\W+(?:(?:generated|earned|derived|received|coming) )?(?:from|by|through|attributable to|relat(?:ed|ing) to)\s+"
    r"(?!the (?:end|company|group)\b|the (?:\w+ ){0,3}(?:statements?|sheet|report|filing)\b)"
    r"(?:the |its |their )?(?P<part>[a-z][\w-]+)"
)
# Asks for a share or a number of things, which no line of a statement is.
_NO_AMOUNT = re.compile(
    r"\b(?:what|which|how large an?) (?:\w+ )?(?:share|proportion|fraction|part|percent(?:age)?)\b|"
    r"\bhow many (?!dollars|euros|million|billion)",
    re.IGNORECASE,
)
_PER_UNIT = re.compile(r"\W+per\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?\s+(?:[\w.&-]+\s+){0,3}$")
# "How much revenue did the streaming business make": another subject than a name or "the company".
_MADE_BY = re.compile(
    r"\W+(?:did|does|do|has|have|had)\s+(?:the |its |their )?(?!company\b|group\b|firm\b)(?P<part>[a-z][\w-]+)"
    r"(?: [a-z][\w-]+)* "
    r"(?:make|made|generated?|earn(?:ed)?|have|report(?:ed)?|contributed?|bring|produced?|record(?:ed)?)\b"
)
_RANGE = re.compile(r"\b(?:between|from)\b|\d\s*[-–—]\s*(?:FY\s?)?\d")
_NEXT_WORD = re.compile(r" ((?![a-z]+ly\b)[a-z][\w-]*)")
# Words that may follow a measure without making it another one.
_AFTER = frozenset(
    "amount amounts attributable balance balances earned figure figures generated growth incurred level outstanding "
    "paid percentage position profile recorded reported total value values".split()
)
# Other words of questions for a line of a statement.
_PLAIN = frozenset(
    "according balance directly dollars earn earned flow formerly generate generated get got income known made make "
    "million millions much operating operations outlined paid pay period post posted provided quantity rate record "
    "recorded report sheet shown spend spent state statement statements stated thousands".split()
).union(_WHOLE, _AFTER)
_CLAUSE_END = re.compile(r"[,;:]\s|\(")
# A place that is no part of a period, as in "revenue in the United States".
_PLACE = re.compile(
    r"\b(?:in|within|outside|across)\s+(?:the\s+)?"
    r"(?!USD?\b|U\.S\. dollars|(?:EUR|GBP|Millions?|Billions?|Thousands?|Note|Item|Income|Balance|Cash)\b)"
    r"[A-Z][\w.&-]+(?!['’\w.&-])"
)
_PERCENT_OF = re.compile(
    r"(?:%|\bpercent(?:age)?|\bshare|\bproportion|\bfraction) of (?:[\w.&’' -]{1,40}['’]s )?"
    r"(?:the |its |their |total )*$",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:what|how much|how many|how high|calculate|compute|determine|give|state|tell|did|does|has|have|had|is|was|"
    r"were|are|show|find|report|by how)\b",
    re.IGNORECASE,
)
_OPERATOR = re.compile(r"\s*(?:[-–−+*/÷×]|less|minus|plus|divided by|over)\s+|\s*[/÷]\s*", re.IGNORECASE)
_LEAST_YEAR, _LAST_YEAR = 1990, 2099


@dataclass(frozen=True, slots=True)
class FigureRequest:
    """A figure that a question asks for.

    Attributes
    ----------
    label : str
        Such as "fixed asset turnover, fiscal 2019".
    expression : Expression
    unit : Unit
    years : tuple of int
        The first and the last fiscal year of the question.
    decimals : int or None
        Number of decimal places to which the question asks to round the figure; ``None`` if it does not ask.
    scale : int or None
        Power of ten in which the question asks for an amount of money; ``None`` if it does not ask.
    is_change : bool
        Whether the figure is the change between two years.
    subject : str
        The question without the measure and its lines, so that the name of the company remains.
    others : tuple of FigureRequest
        The same figure for the other years of the question, latest first, if it asks for several.
    """

    label: str
    expression: Expression
    unit: Unit
    years: tuple[int, ...]
    decimals: int | None = None
    scale: int | None = None
    is_change: bool = False
    subject: str = ""
    others: tuple[FigureRequest, ...] = ()


@dataclass(frozen=True, slots=True)
class _Target:
    """What the question asks for, before its periods: a formula in words.

    ``unit`` is ``None`` for a measure that only the question defines.
    """

    label: str
    formula: str
    unit: Unit | None


def parse_figure_question(question: str) -> FigureRequest | None:
    """Return the figure that a question asks for; ``None`` if it asks for none that annual statements contain.

    Examples
    --------
    >>> parse_figure_question("What was Acme's gross margin in FY2020?").label
    'gross margin, fiscal 2020'
    >>> parse_figure_question("Who founded Acme in 2020?")
    """
    definitions = _find_definitions(question)
    # A definition begins with the end of the sentence before it.
    rest = _DEFINED.sub(lambda match: f"{match[0][:1]} ", question)
    asking = _USING.sub("", _find_asking_sentence(rest))
    years = [year for year in find_years(asking) if _LEAST_YEAR <= year <= _LAST_YEAR] or find_years(question)
    if not years or _OTHER.search(asking) or names_part_of_year(asking) or not _ASKS.search(asking):
        return None
    names: Mapping[str, str] = FORMULAS | definitions
    target = _find_target(asking, definitions)
    if target is None:
        return None
    try:
        return replace(_build(question, asking, target, sorted(years), names), subject=_remove_measures(asking))
    except FormulaError:
        return None


def _remove_measures(asking: str) -> str:
    while measure := find_measure(asking):
        asking = f"{asking[: measure[1]]} {asking[measure[2] :]}"
    for _, start, end in reversed(find_line_items(asking)):
        asking = f"{asking[:start]} {asking[end:]}"
    return asking


def _find_definitions(question: str) -> dict[str, str]:
    """Return the formulas that a question defines, by name and by abbreviation."""
    found: dict[str, str] = {}
    for match in _DEFINED.finditer(question):
        name = (match["first"] or match["second"]).strip().casefold().removeprefix("unadjusted ")
        formula = _SOURCE.sub("", " ".join(match["formula"].split()))
        if short := _ABBREVIATED.match(name):
            found |= {short["name"]: formula, short["short"]: formula}
        else:
            found[name] = formula
    return found


def _find_asking_sentence(question: str) -> str:
    sentences = [one for one in _SENTENCE_END.split(question) if one.strip(" .")]
    return next((one for one in sentences if "?" in one), sentences[0] if sentences else "")


def _find_target(asking: str, definitions: Mapping[str, str]) -> _Target | None:
    defined = [name for name in definitions if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", asking, re.IGNORECASE)]
    measure = find_measure(asking)
    name = max(defined, key=len, default="")
    if formula := _find_combination(asking, measure, find_line_items(asking)):
        return _Target(formula, formula, None)
    if name and (measure is None or len(name) + 1 >= measure[2] - measure[1] or name == measure[0].name.casefold()):
        if measure is not None:
            return _Target(measure[0].name, definitions[name], measure[0].unit)
        return _Target(name, definitions[name], None)
    if (share := _SHARE.search(asking)) or (share := _RATIO.search(asking)):
        part, whole = find_line_items(share["part"]), find_line_items(share["whole"])
        if part and whole:
            part_name, whole_name = part[-1][0].name, whole[0][0].name
            unit = Unit.PERCENT if share.re is _SHARE else Unit.RATIO
            label = f"{part_name} as a share of {whole_name}" if share.re is _SHARE else f"{part_name} to {whole_name}"
            return _Target(label, f"({part_name}) / ({whole_name})", unit)
    items = find_line_items(asking)
    others = [one for one in items if measure is None or one[2] <= measure[1] or one[1] >= measure[2]]
    named = [(start, end) for _, start, end in (*others, *([measure] if measure else []))]
    if any(_is_of_part(asking, start, end) for start, end in named):
        return None
    if measure is not None:
        # A measure beside other lines, as in "the working capital and the revenue", is not one figure.
        if len(definitions) == 1 and not defined:
            return _Target(measure[0].name, next(iter(definitions.values())), measure[0].unit)
        return None if len(others) > 1 else _Target(measure[0].name, measure[0].formula, measure[0].unit)
    distinct = list(dict.fromkeys(item for item, _, _ in items))
    if len(distinct) != 1 or _NO_AMOUNT.search(asking) or not _is_plain(asking, items):
        return None
    item = distinct[0]
    return _Target(item.name, item.name, Unit.PER_SHARE if item.is_per_share else Unit.MONEY)


def _is_of_part(asking: str, start: int, end: int) -> bool:
    """Return whether the words around a measure restrict it to a part of the company, or make it another measure.

    Words with a capital letter are names. Directly before the measure they may be that of the company, unless another
    name owns the measure, as in "Acme's PC revenue".
    """
    blanked = blank_periods(asking)
    before, after = blanked[:start], blanked[end:]
    for token in reversed(split_tokens(before)):
        if token.is_function or before[token.end :].strip(" .") or token.text[0].isdigit():
            break
        is_name = token.text[0].isupper()
        if _POSSESSIVE.search(before[: token.start]) if is_name else token.word not in _WHOLE:
            return True
        before = before[: token.start]
    part = _FROM_PART.match(after) or _MADE_BY.match(after)
    is_part = part is not None and not split_tokens(part["part"])[0].is_function
    following = _NEXT_WORD.match(after)
    is_other = following is not None and not (
        split_tokens(following[1])[0].is_function or following[1].casefold() in _AFTER or _CHANGE.match(following[1])
    )
    return bool(is_part or is_other or _PLACE.search(after) or _PER_UNIT.match(after) or _PERCENT_OF.search(before))


def _is_plain(asking: str, items: Sequence[tuple[LineItem, int, int]]) -> bool:
    """Return whether the clause of a line says nothing about it that the label of its row does not say.

    The price per share of a buyback and the commercial paper among the investments are not the figures of these lines.
    """
    blanked = blank_periods(asking)
    for _, start, end in items:
        blanked = blanked[:start] + " " * (end - start) + blanked[end:]
    at = items[0][1]
    start = max((match.end() for match in _CLAUSE_END.finditer(blanked, 0, at)), default=0)
    following = _CLAUSE_END.search(blanked, at)
    words = split_tokens(blanked[start : following.start() if following else len(blanked)])
    return all(
        word.is_function
        or not word.text[0].islower()
        or word.word in _PLAIN
        or _CHANGE.fullmatch(word.word) is not None
        for word in words
    )


def _find_combination(
    asking: str, measure: tuple[StandardMeasure, int, int] | None, items: Sequence[tuple[LineItem, int, int]]
) -> str:
    """Return the part of a question in which an operator joins two lines, as in "EBITDA less capex"; else empty."""
    spans = sorted([(start, end) for _, start, end in items] + ([measure[1:]] if measure else []))
    for (start, end), (next_start, next_end) in pairwise(spans):
        if end <= next_start and _OPERATOR.fullmatch(asking, end, next_start):
            return asking[start:next_end]
    return ""


def _build(question: str, asking: str, target: _Target, years: list[int], names: Mapping[str, str]) -> FigureRequest:
    first, last = years[0], years[-1]
    count = _YEAR_COUNT.search(asking)
    span = (_NUMBERS.get(count[1].casefold()) or int(count[1])) if count else 0
    label, is_change = target.label, False
    unit = target.unit or _find_unit(parse_formula(target.formula, last, names))
    if _CAGR.search(asking):
        first = last - (span or 1) if first == last else first
        expression = build_annual_growth(target.formula, first, last, names)
        unit, label = Unit.PERCENT, f"compound annual growth of {label}"
    elif _AVERAGE_YEARS.search(asking) and (span > 1 or first < last):
        first = last - span + 1 if first == last else first
        expression = build_average(target.formula, first, last, names)
        label = f"average {label}"
    elif _GROWTH.search(asking) or (_CHANGE.search(asking) and unit is Unit.MONEY and _PERCENT.search(question)):
        first = last - 1 if first == last else first
        expression = build_growth(target.formula, first, last, names)
        unit, label, is_change = Unit.PERCENT, f"growth of {label}", True
    elif _CHANGE.search(asking):
        first = last - 1 if first == last else first
        expression = build_change(target.formula, first, last, names)
        label, is_change = f"change in {label}", True
    elif first == last:
        expression = parse_formula(target.formula, last, names)
    else:
        # Several years without a change or an average ask for several figures, unless a definition names them.
        if len(years) > 2 or not _RANGE.search(asking):
            latest, *others = [_build(question, asking, target, [year], names) for year in reversed(years)]
            return replace(latest, others=tuple(others))
        expression = parse_formula(target.formula, last, names)
    if find_dimension(expression) != (1 if unit in (Unit.MONEY, Unit.PER_SHARE) else 0):
        # The formula of a question may have another unit than the measure with this name.
        raise FormulaError(f"The unit of {target.formula!r} is not {unit.value}.")
    if unit is Unit.RATIO and _PERCENT.search(question):
        unit = Unit.PERCENT
    shown = f"fiscal {last}" if first == last else f"fiscal {first} to {last}"
    decimals, scale = _find_decimals(question), _find_scale(question)
    return FigureRequest(f"{label}, {shown}", expression, unit, (first, last), decimals, scale, is_change)


def _find_unit(expression: Expression) -> Unit:
    return Unit.MONEY if find_dimension(expression) == 1 else Unit.RATIO


def _find_decimals(question: str) -> int | None:
    match = _DECIMALS.search(question)
    if match is None:
        return None
    word = match["count"].casefold()
    return 0 if word == "no" else _NUMBERS.get(word, int(word) if word.isdecimal() else 2)


def _find_scale(question: str) -> int | None:
    match = _SCALE.search(question)
    return SCALES[(match["scale"] or match["bracketed"]).casefold()] if match else None
