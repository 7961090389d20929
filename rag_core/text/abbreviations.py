"""Abbreviations that a text defines, as in "Harbour Dredging Board (HDB)" and in lists of abbreviations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from rag_core.text.normalize import normalize
from rag_core.text.words import ALPHANUMERIC, STOP_WORDS, replace_words, stem

# Most words of a long form in a question.
MAX_FORM_WORDS = 9
# An ending that the English stemmer leaves, and the letters of a word that are compared without it.
_ENDING, _KEY_LETTERS = re.compile(r"(?<=\w{3})(?:e[nrsm]?|s)$"), 8
_SHORT = r"[A-Z][A-Za-z0-9&]*[A-Z][A-Za-z0-9&]{0,6}"
_QUOTES = "“”„\"«»‘’'"
# The brackets after a long form, possibly with words before the abbreviation, as in (hereinafter “HDB”).
_AFTER_LONG = re.compile(
    rf"\(\s*(?:[^()\n{_QUOTES}]{{1,30}}[\s{_QUOTES}])?[\s{_QUOTES}]*({_SHORT})[\s{_QUOTES}]*(?:[,;][^()]*)?\)"
)
_BEFORE_LONG = re.compile(rf"(?<!\w)({_SHORT})\s*\(([^()]{{5,120}})\)")
# A line of a list of abbreviations, with or without a sign before the long form.
_LINE = re.compile(rf"^[ \t]*({_SHORT})[ \t]*([:=–—-]?)[ \t]+([^\W\d_][^\n,;=]{{4,100}})", re.MULTILINE)
# Most letters of articles and prepositions, with which no long form begins.
_ARTICLE_LETTERS = 3
_ARTICLE = re.compile(r"^[a-z]{1,3} (?=[A-Z])")
# Characters before an abbreviation that can contain its long form.
_LONGEST = 150
_SENTENCE_END = re.compile(r"[.!?;:]\s|\n\s*\n|[()]")


def find_abbreviations(text: str) -> Iterator[tuple[str, str]]:
    """Yield the short and the long form of each abbreviation that a text defines.

    The algorithm is that of Schwartz and Hearst, "A simple algorithm for identifying abbreviation definitions in
    biomedical text", PSB 2003; abbreviations here have at least two capitals.

    >>> list(find_abbreviations("The Harbour Dredging Board (HDB) met. The KWV (Kleiner Wasserverband) did not."))
    [('HDB', 'Harbour Dredging Board'), ('KWV', 'Kleiner Wasserverband')]
    """
    for match in _AFTER_LONG.finditer(text):
        before = _SENTENCE_END.split(text[max(0, match.start() - _LONGEST) : match.start()])[-1]
        if long := _find_long_form(match[1], before):
            yield match[1], long
    for match in _BEFORE_LONG.finditer(text):
        for inside in (match[2], re.split(r"[,;]", match[2])[0]):
            if long := _match_whole(match[1], inside):
                yield match[1], long
                break
    for match in _LINE.finditer(text):
        if long := _match_whole(match[1], match[3], only_initials=not match[2]):
            yield match[1], long


def _find_long_form(short: str, text: str) -> str:
    """Return the end of a text that an abbreviation stands for; empty if there is none."""
    most = min(len(short) + 5, 2 * len(short))
    words = [
        match for match in ALPHANUMERIC.finditer(text) if len(match[0]) > _ARTICLE_LETTERS or not match[0].islower()
    ]
    # The shortest end whose words begin with the letters; without one, the shortest end that has them in order.
    for start in (word.start() for word in reversed(words)):
        if _has_initials(short, text[start:]):
            return _check_long_form(short, text[start:], most)
    return _check_long_form(short, text[_find_letters(short, text) :], len(short))


def _match_whole(short: str, text: str, *, only_initials: bool = False) -> str:
    """Return a text if an abbreviation stands for all of it; otherwise an empty text."""
    long = text.strip().strip(_QUOTES)
    if _has_initials(short, long):
        return _check_long_form(short, long, min(len(short) + 5, 2 * len(short)))
    return "" if only_initials or _find_letters(short, long) else _check_long_form(short, long, len(short))


def _has_initials(short: str, long: str) -> bool:
    """Return whether the first word of a text begins with the first letter, and later ones with the others in order."""
    initials = iter("".join(word[0] for word in ALPHANUMERIC.findall(normalize(long))))
    letters = normalize(short)
    return next(initials, "") == letters[0] and all(letter in initials for letter in letters[1:] if letter.isalnum())


def _find_letters(short: str, text: str) -> int:
    """Return the last place from which a text has the letters in order, the first one at the beginning of a word."""
    lower, at = text.lower(), len(text)
    for place, letter in reversed(list(enumerate(short.lower()))):
        if letter.isalnum():
            at = lower.rfind(letter, 0, at)
            while place == 0 and at > 0 and text[at - 1].isalnum():
                at = lower.rfind(letter, 0, at)
            if at < 0:
                return len(text)
    return at


def _check_long_form(short: str, text: str, most_words: int) -> str:
    """Return a long form without line breaks; empty if it is no long form, such as one with digits or the short one."""
    long = _ARTICLE.sub("", " ".join(text.split()).strip(f"{_QUOTES} ,.:"))
    is_short = len(long) <= len(short) or len(long.split()) > most_words or short in ALPHANUMERIC.findall(long)
    return "" if is_short or any(map(str.isdigit, long)) or short.lower() in STOP_WORDS else long


def build_form_key(text: str) -> str:
    """Return the key of a short or long form, which inflected forms of it share.

    >>> build_form_key("Kleinen Wasserverbandes") == build_form_key("Kleiner Wasserverband")
    True
    """
    return " ".join(map(_build_word_key, ALPHANUMERIC.findall(text)))


@lru_cache(maxsize=50_000)
def _build_word_key(word: str) -> str:
    return _ENDING.sub("", stem(normalize(word)))[:_KEY_LETTERS]


def list_form_keys(question: str) -> dict[str, tuple[int, int]]:
    """Return the spans of all runs of up to `MAX_FORM_WORDS` words of a question, by their keys."""
    words = list(ALPHANUMERIC.finditer(question))
    keys = [_build_word_key(word[0]) for word in words]
    return {
        " ".join(keys[first : last + 1]): (words[first].start(), words[last].end())
        for first in reversed(range(len(words)))
        for last in range(first, min(first + MAX_FORM_WORDS, len(words)))
    }


def can_be_counterpart(form: str, other: str, question: str) -> bool:
    """Return whether a form in a question can be the counterpart of ``other``.

    A word that is not in capitals, such as "it", is no short form, unless the whole question is in lower case.
    """
    is_long = len(form) > len(other)
    return is_long or sum(map(str.isupper, form)) > 1 or (question.islower() and form not in STOP_WORDS)


def add_forms(question: str, forms: Mapping[str, Sequence[str]]) -> str:
    """Return a question with the other forms of its abbreviations in brackets.

    >>> add_forms("Who chairs the HDB?", {"HDB": ["Harbour Dredging Board"]})
    'Who chairs the HDB (Harbour Dredging Board)?'
    """
    return replace_words(question, {form: f"{form} ({', '.join(others)})" for form, others in forms.items()})


def choose_forms(question: str, text: str, forms: Mapping[str, Sequence[str]]) -> str:
    """Return a question with the form of each abbreviation that a text contains.

    >>> choose_forms("Who chairs the HDB?", "The Harbour Dredging Board met.", {"HDB": ["Harbour Dredging Board"]})
    'Who chairs the Harbour Dredging Board?'
    """
    if not forms:
        return question
    key = f" {build_form_key(text)} "

    def is_said(form: str) -> bool:
        # The word "it" is not the abbreviation "IT".
        in_capitals = sum(map(str.isupper, form)) > 1 and form.isalnum()
        return f" {build_form_key(form)} " in key and (not in_capitals or form in text)

    chosen = {form: next(filter(is_said, others), form) for form, others in forms.items() if not is_said(form)}
    return replace_words(question, chosen)


def describe_forms(forms: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a sentence about each abbreviation of a question, in both forms."""
    return [f"Searched for “{form}” and for “{'”, “'.join(others)}”." for form, others in forms.items()]
