"""Rewrite a follow-up that only changes the period, the entity or the measure of the question before it."""

from __future__ import annotations

import re

from rag_core.answering.anaphora import MAX_FRAGMENT_WORDS
from rag_core.finance.years import find_years
from rag_core.text.dates import MONTH, QUARTER, WHOLE_YEAR, YEAR, is_within_dated_period
from rag_core.text.grammar import AUXILIARIES, PREPOSITIONS, WH, split_tokens
from rag_core.text.noun_phrases import Phrase, find_names
from rag_core.text.words import stem

_LEAD = re.compile(
    r"^\W*(?:(?:and|but|or|so|also|then|ok|okay|now)\b[,\s]*)*"
    r"(?:(?:what|how)\s+(?:about|of)\b\s*|(?:the\s+)?same\s+(?:\w+\s+)?(?=for\b|in\b|of\b)|(?:what|how much)\s+"
    r"(?:is|was|were|are)\s+(?:it|that|they|those)\b\s*)?",
    re.IGNORECASE,
)
_IN = r"(?:(?:in|for|during|of|at|from)\s+)?(?:the\s+)?"
_RELATIVE = re.compile(
    rf"{_IN}(?:fiscal\s+)?(?:(?P<before>year\s+(?:before|earlier)|(?:previous|prior|preceding)\s+year)|"
    r"(?P<after>year\s+(?:after|later)|(?:next|following)\s+year))(?:\s+that)?\b",
    re.IGNORECASE,
)
_ORDINAL_QUARTER = rf"(?:(?:first|second|third|fourth|last)\s+quarter|{QUARTER})"
_QUARTER = re.compile(rf"{_IN}(?P<quarter>{_ORDINAL_QUARTER})(?:\s+of)?\b", re.IGNORECASE)
_MONTH = re.compile(rf"{_IN}(?P<month>{MONTH})\b(?!\s+\d)", re.IGNORECASE)
_ABSOLUTE = re.compile(rf"{_IN}(?:(?:fiscal\s+)?year\s+|fiscal\s+|FY\s?)?(?P<year>{YEAR})\b", re.IGNORECASE)
_WRITTEN_YEAR = re.compile(rf"(?:\bfiscal\s+(?:year\s+)?|\bFY\s?|\byear\s+)?\b{YEAR}\b", re.IGNORECASE)
_IN_YEAR = re.compile(rf"\s+(?:in|for|during|of)\s+(?:the\s+)?{_WRITTEN_YEAR.pattern}", re.IGNORECASE)
_PERIOD_NAME = re.compile(rf"(?:the\s+)?(?:(?:FY|CY)\W?)?\d+|{QUARTER}|(?:{MONTH})", re.IGNORECASE)
_VERB = (
    r"change[ds]?|grow|grew|grown|increase[ds]?|decrease[ds]?|decline[ds]?|f[ae]ll|fallen|rise|rose|risen|drop(?:ped)?|"
    r"improve[ds]?|vary|differ"
)
_CHANGE = re.compile(
    rf"^\W*(?:and\s+)?(?:(?:by\s+)?how\s+(?:much|many|far)|by\s+what\s+(?:amount|percentage))\s+(?:did|has|have)\s+"
    rf"(?:it|that|this|they|these)\s+(?P<verb>{_VERB})\b(?P<rest>[^?]*)",
    re.IGNORECASE,
)
_MEASURED = re.compile(r"^(?:what|how\s+\w+)\s+(?:is|are|was|were)\s+(?P<measure>.+)$", re.IGNORECASE)
# "What is the rent of …" and "What was Amcor's revenue in …", with the words for the measure.
_OF_MEASURE = re.compile(
    rf"^(?:(?:what|how\s+\w+)\s+(?P<be>is|are|was|were)|(?P<compare>compare))\s+(?P<whose>(?:the\s+)?(?:[\w.&-]+\s+){{0,3}}?[\w.&-]+['’]s?\s+)?"
    rf"(?P<measure>(?:the\s+)?(?:(?!(?:{'|'.join(PREPOSITIONS)})\b)[\w-]+\s*)+?)"
    rf"(?P<rest>\s+(?:{'|'.join(PREPOSITIONS)})\b.*)?$",
    re.IGNORECASE,
)


def shift_question(question: str, earlier: str, answer: str = "", before: str = "") -> str:
    """Return the earlier question with the period, entity or measure of a follow-up; empty if it changes none of them.

    Parameters
    ----------
    question : str
        The follow-up.
    earlier : str
        The question before it, which can be understood alone.
    answer : str
        The answer to it, which may state its year.
    before : str
        The question before the earlier one, which may ask for the same of another year.

    Examples
    --------
    >>> shift_question("And the year before?", "What were net sales of Amcor in 2022?")
    'What were net sales of Amcor in 2021?'
    >>> shift_question("What about Boeing?", "What were net sales of Amcor in 2022?")
    'What were net sales of Boeing in 2022?'
    >>> shift_question("And the deposit?", "What is the rent of Oak Street?")
    'What is the deposit of Oak Street?'
    """
    text = earlier.rstrip(" ?.!")
    if change := _CHANGE.match(question):
        return _ask_for_change(change, text, before.rstrip(" ?.!"))
    lead = _LEAD.match(question)
    led = lead.end() if lead else 0
    rest = question[led:].strip(" ?.!,")
    words = [token.word for token in split_tokens(rest)]
    if not words or len(words) > MAX_FRAGMENT_WORDS or set(words) & (WH | AUXILIARIES - {"may"} | {"one", "ones"}):
        return ""
    is_led = (bool(question[:led].strip()) or words[0] in PREPOSITIONS) and "," not in rest
    shifted, rest = _shift_period(rest, text, answer)
    if shifted is None:
        return ""
    if split_tokens(rest):
        shifted = (_shift_entity(rest, shifted) or _shift_measure(rest, shifted)) if is_led else ""
    return f"{shifted}?" if shifted and shifted != text else ""


def _shift_period(rest: str, text: str, answer: str) -> tuple[str | None, str]:
    """Return the question with the periods of a fragment, and the fragment without them.

    The question is ``None`` if the fragment has a period that cannot be applied.
    """
    shifted: str | None = text
    for pattern, apply in (
        (_RELATIVE, _shift_year),
        (_QUARTER, _set_quarter),
        (_MONTH, _set_month),
        (_ABSOLUTE, _set_year),
    ):
        match = pattern.search(rest)
        if match and shifted is not None:
            shifted = apply(match, shifted, answer)
            rest = f"{rest[: match.start()]} {rest[match.end() :]}".strip(" ,")
    return shifted, rest


def _shift_year(match: re.Match[str], text: str, answer: str) -> str | None:
    step = -1 if match["before"] else 1
    if re.search(YEAR, text):
        return re.sub(WHOLE_YEAR, lambda year: str(int(year[0]) + step), text)
    years = find_years(answer)
    return f"{text} in {years[0] + step}" if len(years) == 1 else None


def _set_year(match: re.Match[str], text: str, _answer: str) -> str | None:
    years = set(re.findall(WHOLE_YEAR, text))
    if len(years) > 1:
        return None
    return text.replace(years.pop(), match["year"]) if years else f"{text} in {match['year']}"


def _set_quarter(match: re.Match[str], text: str, _answer: str) -> str:
    quarter = match["quarter"] if match["quarter"][0] in "Qq" else f"the {match['quarter'].lower()}"
    if re.search(_ORDINAL_QUARTER, text, re.IGNORECASE):
        return re.sub(rf"(?:the\s+)?{_ORDINAL_QUARTER}", quarter, text, flags=re.IGNORECASE)
    year = _WRITTEN_YEAR.search(text)
    return f"{text[: year.start()]}{quarter} of {text[year.start() :]}" if year else f"{text} in {quarter}"


def _set_month(match: re.Match[str], text: str, _answer: str) -> str | None:
    # "May" in lower case is a verb.
    known = [one for one in re.finditer(rf"\b(?:{MONTH})\b", text, re.IGNORECASE) if one[0][0].isupper()]
    if len(known) > 1 or not match["month"][0].isupper():
        return None
    if not known:
        return f"{text} in {match['month']}"
    return f"{text[: known[0].start()]}{match['month']}{text[known[0].end() :]}"


def _shift_entity(rest: str, text: str) -> str:
    """Return the question with its name replaced by that of a fragment; empty if it has several."""
    names = find_names(rest)
    outside = split_tokens(rest[: names[0].start] + rest[names[0].end :]) if names else split_tokens(rest)
    preposition = next((token.word for token in split_tokens(rest)[:1] if token.word in PREPOSITIONS), "")
    if len(names) != 1 or any(not token.is_function and token.word != "s" for token in outside):
        return _replace_namesake(rest, text)
    known = [
        one
        for one in find_names(text)
        if not (_PERIOD_NAME.fullmatch(one.text) or is_within_dated_period(text, one.start, one.end))
    ]
    if len(known) > 1:
        same = [one for one in known if preposition and _word_before(text, one) == preposition]
        known = same or [one for one in known if text[one.end : one.end + 2] in ("'s", "’s")]
    if len(known) != 1:
        return ""
    name = re.sub(r"^the\s+", "", names[0].text) if not known[0].text.startswith("the ") else names[0].text
    return text[: known[0].start] + name + text[known[0].end :]


def _replace_namesake(rest: str, text: str) -> str:
    """Return the question with "second bidder" in place of "first bidder", which has the same last word."""
    tokens = [token for token in split_tokens(rest) if not token.is_function]
    known = split_tokens(text)
    if len(tokens) < 2:
        return ""
    same = [place for place, one in enumerate(known) if stem(one.word) == stem(tokens[-1].word)]
    if len(same) != 1 or same[0] == 0:
        return ""
    first = same[0]
    while first and not known[first - 1].is_function and same[0] - first < len(tokens) - 1:
        first -= 1
    return text[: known[first].start] + rest[tokens[0].start : tokens[-1].end] + text[known[same[0]].end :]


def _shift_measure(rest: str, text: str) -> str:
    """Return the question with its measure replaced by that of a fragment such as "the deposit"."""
    match = _OF_MEASURE.match(text)
    words = split_tokens(rest)
    if match is None or words[0].word in PREPOSITIONS or find_names(rest) or not (match["whose"] or match["rest"]):
        return ""
    measure = re.sub(r"^(?:the|its|their|his|her)\s+", "", rest, flags=re.IGNORECASE)
    article = "" if match["whose"] else "the "
    begin = match["compare"] or f"What {match['be']}"
    return f"{begin} {match['whose'] or ''}{article}{measure}{match['rest'] or ''}"


def _ask_for_change(change: re.Match[str], text: str, before: str) -> str:
    """Return a question for the change of what the earlier question asks for, between its year and that before it."""
    match = _MEASURED.match(text)
    if match is None:
        return ""
    measure, rest = match["measure"], change["rest"].strip(" ?.!")
    years = sorted({*re.findall(YEAR, text), *re.findall(YEAR, before)})
    if len(years) == 2 and _IN_YEAR.sub("", text) == _IN_YEAR.sub("", before) and not rest:
        rest = f"from {years[0]} to {years[1]}"
    if re.search(YEAR, rest):
        measure = _IN_YEAR.sub("", measure)
    return f"By how much did {measure} {change['verb'].lower()}{rest and f' {rest}'}?"


def _word_before(text: str, name: Phrase) -> str:
    before = split_tokens(text[: name.start])
    return before[-1].word if before else ""
