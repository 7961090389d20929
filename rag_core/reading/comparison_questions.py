"""Recognize questions that compare documents or things, and ask for each of them separately."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_core.text.adjectives import ADJECTIVES, TIMES
from rag_core.text.dates import MONTH, QUARTER, YEAR, is_within_dated_period
from rag_core.text.grammar import AUXILIARIES, COORDINATORS, DO, FUNCTION_WORDS, PREPOSITIONS, WH, split_tokens
from rag_core.text.noun_phrases import Phrase, find_names
from rag_core.text.words import find_lemma, stem

_COUNTS = {"more": 1, "most": 1, "fewer": -1, "fewest": -1, "less": -1, "least": -1}
_MOST_PARTS = 6
_EXPLICIT = re.compile(
    r"^\W*(?:please\s+)?(?:compare|contrast)\b|\bcompar(?:ed|es?|ison)\b|\bdiffer(?:s|ences?|ent)?\b|"
    r"\b(?:versus|vs\.?)(?=\s)|\bwhich (?:one )?of\b",
    re.IGNORECASE,
)
# What comes before a name in "that of Elm Street" and "with the one in Elm Street".
_LINKS = COORDINATORS | PREPOSITIONS | frozenset("the a an that those one ones with versus vs both either".split())
_JOINS = COORDINATORS | frozenset("with versus vs than to from".split())
_EACH = re.compile(
    r",?\s*\b(?:(?P<link>in|of|for|from|by|at|under|across)\s+)?"
    r"(?:(?:each|every|both|all)\b(?:\s+of)?(?:\s+(?:the|these|those|my|our))?)\s+(?P<noun>[^\W\d_]{3,})\b",
    re.IGNORECASE,
)
_SUPERLATIVE = re.compile(
    r"^(?:(?:in|under|for|by)\s+)?(?:which|what|whose)\s+(?:one\s+)?(?:of\s+(?:the|these|those|my|our)\s+)?"
    r"(?P<noun>[^\W\d_]{3,})\b(?!.*\bthan\b)",
    re.IGNORECASE,
)
_OPENER = re.compile(
    r"^\W*(?:please\s+)?(?:compare|contrast|list|state|give|show|tell)\b(?:\s+me\b)?"
    r"|^.*?\b(?:difference|differences|comparison)\s+(?:between|of|in)\b|^how\s+(?:do|does|did)\b"
    r"|\b(?:compared?|differ|differs|differ from each other)\b\s*(?:with|to|from)?\s*$",
    re.IGNORECASE,
)
_RESPECT = re.compile(
    r"\b(?:in terms of|in respect of|with respect to|with regard to|regarding|concerning|as to|by|differ(?:s|ed)?\s+in)"
    r"\s+(?P<measure>.+)$",
    re.I,
)
_WHICH = re.compile(
    rf"^(?:\w+\s+)?(?:which|what)(?:\s+(?!(?:{'|'.join(AUXILIARIES)})\b)\w+){{0,2}}?\s+(?:{'|'.join(AUXILIARIES)})\b",
    re.IGNORECASE,
)
_WHICH_NOUN = re.compile(r"^(?:\w+\s+)?(?:which|what|whose)\s+\w+", re.IGNORECASE)
# A question that the name of a thing answers, or yes or no.
_CHOICE = re.compile(rf"(?:\w+ )?(?:which|who|whose)\b|(?:{'|'.join(AUXILIARIES)})\b", re.IGNORECASE)
_GENITIVE = re.compile(r"^['’]s?\b")
_PERIOD = re.compile(
    rf"(?:the\s+)?(?:H[12]\s+)?(?:(?:FY|CY)\W?)?\d+|{QUARTER}|(?:the\s+)?(?:{MONTH})(?:\s+\d+)*", re.IGNORECASE
)
# A period that belongs to the name before it, as in "Acme in fiscal 2019 and Bolt in 2020".
_OWN_PERIOD = re.compile(
    rf"\s+(?:(?:in|for|at|of|during|as of)\s+)?(?:(?:fiscal|financial)\s+(?:years?\s+)?)?(?:{_PERIOD.pattern})"
    rf"(?:\s+{YEAR})?(?![\w%])",
    re.IGNORECASE,
)
# The place of the name in a template: with its preposition or as a genitive, or else as the subject.
_OF_NAME = re.compile(
    r"\s+(?:of|in|for|at|by|under|from|with)\s+(?:the\s+)?\{\}(?!\w|['’\s]+s\b)|(?:\bthe\s+)?\{\}['’]s?(?=\s)"
)
_SUBJECT = re.compile(r"(?:\bthe\s+)?\{\}")
_PLURAL = re.compile(r"(?:[^s]s|\b(?:people|children|(?:\w*[^iu])?men))\b", re.IGNORECASE)
# The name of a file, such as "lease.pdf" or "lease_2021".
_FILE = re.compile(r"[^\s,;()“”\"]+\.pdf\b|\w+_\w+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A question that is asked of several things separately.

    Attributes
    ----------
    template : str
        The question for one of them; ``{}`` stands for its name, if it is in the question.
    names : tuple of str
        The names that the question compares; empty if it asks for each document.
    noun : str
        What the question calls the documents, such as "contract"; empty for names.
    direction : int
        1 if the question asks which has the highest value, -1 for the lowest, 0 if it asks for neither.
    is_explicit : bool
        Whether words such as "compare" show that the question is a comparison.
    periods : tuple of str
        The period of each name, such as "in 2020"; empty if the names have no periods of their own.
    """

    template: str
    names: tuple[str, ...] = ()
    noun: str = ""
    direction: int = 0
    is_explicit: bool = True
    periods: tuple[str, ...] = ()

    def question_about(self, name: str, period: str = "") -> str:
        """Return the question for one of the names, in its period."""
        return _add_period(self.template.replace("{}", name), period)

    def question_within(self, period: str = "") -> str:
        """Return the question without the name, to ask of a document that the name means."""
        return _add_period(" ".join(_SUBJECT.sub("it", _OF_NAME.sub("", self.template)).split()), period)


def parse_comparison(question: str, known: Sequence[str] = ()) -> Comparison | None:
    """Return what a question compares; ``None`` if it compares nothing that can be looked up separately.

    Parameters
    ----------
    question : str
    known : sequence of str
        Further names in the question, such as names of documents in lower case.

    Examples
    --------
    >>> parse_comparison("Compare the rent in the lease of Oak Street and of Elm Street").template
    'What is the rent in the lease of {}?'
    >>> parse_comparison("Which of Amcor and Boeing has the longer warranty?").template
    'How long is the warranty of {}?'
    >>> parse_comparison("What is the notice period in each contract?").template
    'What is the notice period?'
    >>> parse_comparison("Who founded Amcor and when?")
    """
    text = " ".join(question.split()).rstrip(" ?.!")
    parts = _find_parts(text, known)
    return _compare_names(text, parts) if len(parts) > 1 else _compare_documents(text)


def is_explicit_comparison(question: str) -> bool:
    """Return whether words such as "compare" show that a question is a comparison."""
    return _EXPLICIT.search(question) is not None


def _compare_names(text: str, parts: Sequence[Phrase]) -> Comparison | None:
    names = tuple(re.sub(r"^the\s+", "", part.text) for part in parts)
    first, last = parts[0].start, parts[-1].end
    gaps = [text[one.end : other.start] for one, other in pairwise(parts)]
    words = [{token.word for token in split_tokens(gap)} for gap in gaps]
    is_joined = all(word & _JOINS or "," in gap for word, gap in zip(words, gaps, strict=True))
    is_choice = _CHOICE.match(text) is not None
    scale = _find_scale(text, 0) if is_choice else None
    if not is_joined:
        return None
    if scale is not None:
        apart = _remove_parts(text, parts)
        template = _ask_for_scale(apart, scale[0])
        return Comparison(template, names, direction=scale[1]) if template else None
    explicit = is_explicit_comparison(text)
    rests = [*gaps, text[last:]]
    own = [_OWN_PERIOD.match(rest) for rest in rests]
    periods = tuple(match[0].strip() for match in own if match)
    if len(periods) == len(parts):
        *gaps, end = [rest[len(match[0]) :] for rest, match in zip(rests, own, strict=True) if match]
        words = [{token.word for token in split_tokens(gap)} for gap in gaps]
    else:
        periods, end = (), text[last:]
    around = {token.word for token in split_tokens(f"{text[:first]} {end}")}
    allowed = _LINKS | around | {"s"}
    if not explicit and not all(word <= allowed and (word & COORDINATORS or "," in gap)
                                for word, gap in zip(words, gaps, strict=True)):  # fmt: skip
        return None
    before = re.sub(r"\b(?:both|between|either)\s*$", lambda match: "of " if match[0].strip() == "between" else "",
                    text[:first], flags=re.IGNORECASE)  # fmt: skip
    template = f"{before}{{}}{end}"
    if explicit or not _is_question(template):
        template = _ask_for_measure(template)
    return Comparison(f"{template}?", names, is_explicit=explicit, periods=periods) if template else None


def _add_period(question: str, period: str) -> str:
    return f"{question.removesuffix('?')} {period}?" if period else question


def _compare_documents(text: str) -> Comparison | None:
    each = _EACH.search(text)
    if each is not None and each["noun"].casefold() not in FUNCTION_WORDS:
        noun = each["noun"].casefold()
        in_place = "" if each["link"] else f" the {noun}"
        rest = f"{text[: each.start()]}{in_place}{text[each.end() :]}".strip(" ,")
        template = rest if _is_question(rest) and not _EXPLICIT.search(rest) else _ask_for_measure(rest)
        return Comparison(f"{template}?", noun=noun) if template else None
    superlative = _SUPERLATIVE.match(text)
    scale = _find_scale(text, superlative.end()) if superlative else None
    is_asked = _WHICH.match(text) is not None or (scale is not None and text.endswith(scale[0]))
    if superlative is None or scale is None or not is_asked or scale[0].casefold() in ("more", "fewer", "less"):
        return None
    if superlative["noun"].casefold() in FUNCTION_WORDS:
        return None
    template = _ask_for_scale(text, scale[0]).replace(" of {}", "").replace("{} ", "it ").replace("{}", "it")
    noun = superlative["noun"].casefold()
    return Comparison(template, noun=noun, direction=scale[1], is_explicit=False) if template else None


def _find_parts(text: str, known: Sequence[str]) -> list[Phrase]:
    """Return the names in a question, in order, without periods and without names that occur before."""
    found = [Phrase(match[0], match.start(), match.end()) for match in _FILE.finditer(text)]
    for name in known:
        start = text.find(name)
        if start >= 0 and not any(one.start < start + len(name) and start < one.end for one in found):
            found.append(Phrase(name, start, start + len(name)))
    for one in find_names(text):
        if _PERIOD.fullmatch(one.text) or is_within_dated_period(text, one.start, one.end):
            continue
        if not any(other.start < one.end and one.start < other.end for other in found):
            found.append(one)
    distinct = {one.text.casefold(): one for one in sorted(found, key=lambda one: -one.start)}
    return sorted(distinct.values(), key=lambda one: one.start)[:_MOST_PARTS]


def _remove_parts(text: str, parts: Sequence[Phrase]) -> str:
    for part in reversed(parts):
        text = f"{text[: part.start]} {_GENITIVE.sub('', text[part.end :])}"
    return " ".join(text.split())


def _find_scale(text: str, start: int) -> tuple[str, int] | None:
    """Return the first comparative or superlative after ``start``, and the end of the scale that it asks for."""
    for token in split_tokens(text):
        if token.start >= start and (base := _find_base(token.word)):
            return token.text, ADJECTIVES[base].direction if base in ADJECTIVES else _COUNTS[base]
    return None


def _find_base(word: str) -> str:
    if word in _COUNTS:
        return word
    stemmed = re.sub(r"(?:er|est)$", "", word)
    if stemmed == word:
        return ""
    forms = (stemmed, f"{stemmed}e", re.sub(r"i$", "y", stemmed), re.sub(r"(.)\1$", r"\1", stemmed))
    return next((form for form in forms if form in ADJECTIVES), "")


def _ask_with_verb(verb: str) -> str:
    """Return the end of a question with a verb after its subject: "does {} carry" for "carries", "has {} produced"."""
    word = verb.casefold()
    if (lemma := find_lemma(word)) != stem(word):
        return f"does {{}} {lemma}"
    # A past form does not show its base form ("used" comes from "use", "opened" from "open"), so "has" precedes it.
    # "Need" and "exceed" are no past forms.
    if re.search(r"(?<![cfns]e)ed$", word):
        return f"has {{}} {word}"
    if re.search(r"\w[^aeiou]ies$", word):
        return f"does {{}} {word[:-3]}y"
    return f"does {{}} {re.sub(r'(?<=ch|sh|ss)es$|(?<=[ox])es$|(?<!s)s$', '', word)}"


def _ask_for_scale(text: str, comparative: str) -> str:
    """Return a question for the measure that a comparative such as "longer" compares, with ``{}`` for the name."""
    before, _, after = text.partition(comparative)
    before = _WHICH_NOUN.sub("", before) if not _WHICH.search(before) else _WHICH.sub("", before)
    before = _trim(before)
    compared = re.split(r"\bthan\b", after)[0] if before else after
    after = next(filter(None, map(_trim, compared.split(","))), "")
    base = _find_base(comparative.casefold())
    if base in _COUNTS:
        verb = before if before and " " not in before else "have"
        many = "many" if _PLURAL.search(after) else "much"
        return f"How {many} {after} {_ask_with_verb(verb)}?" if after else ""
    measure = f"{before} {after}".strip()
    if COORDINATORS & set(measure.split()):
        return ""
    if base in TIMES:
        is_verb = bool(before) and " " not in before and not after
        if is_verb and (passive := re.search(rf"\b(is|are|was|were)\s+{re.escape(before)}\b", text, re.IGNORECASE)):
            return f"When {passive[1].lower()} {{}} {before}?"
        return f"When {_ask_with_verb(before)}?" if is_verb else f"When is the {measure} of {{}}?" * bool(measure)
    base = ADJECTIVES[base].measured_as
    return f"How {base} is the {measure} of {{}}?" if measure else f"How {base} is {{}}?"


def _ask_for_measure(text: str) -> str:
    """Return a question, without its question mark, for the measure that a text such as "compare the rent" names."""
    respect = _RESPECT.search(text)
    if respect and "{}" in text[: respect.start()]:
        return f"What is the {_trim(respect['measure'])} of {{}}"
    while (rest := _OPENER.sub("", text).strip(" ,")) != text:
        text = rest
    if _is_question(text):
        return text
    words = [token for token in split_tokens(text.replace("{}", "")) if not token.is_function]
    text = text[:1].lower() + text[1:] if text[1:2].islower() else text
    article = "" if re.match(r"(?:the|a|an|its|their)\b|\{", text, re.I) else "the "
    return f"What is {article}{text}" if words else ""


def _is_question(text: str) -> bool:
    first = next(iter(split_tokens(text)), None)
    return first is not None and (first.word in WH | AUXILIARIES - DO or first.word in PREPOSITIONS | DO)


def _trim(text: str) -> str:
    """Return a text without function words and punctuation at its ends."""
    tokens = split_tokens(text)
    while tokens and tokens[0].word in FUNCTION_WORDS:
        tokens.pop(0)
    while tokens and tokens[-1].word in FUNCTION_WORDS:
        tokens.pop()
    return text[tokens[0].start : tokens[-1].end] if tokens else ""
