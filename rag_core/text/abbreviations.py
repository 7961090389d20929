"""Find abbreviations that a text defines, and use both forms of an abbreviation in questions.

The short form of "Harbour Dredging Board (HDB)" is "HDB"; its long form is "Harbour Dredging Board".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from rag_core.text.normalize import normalize
from rag_core.text.words import ALPHANUMERIC, STOP_WORDS, replace_words, stem

# Maximum number of words of a long form in a question.
MAX_FORM_WORDS = 9
# German endings, which the English stemmer does not remove.
_ENDING = re.compile(r"(?<=\w{3})(?:e[nrsm]?|s)$")
# Only the first letters of a word are compared, because later letters can belong to an ending.
_KEY_LETTERS = 8
_SHORT = r"[A-Z][A-Za-z0-9&]*[A-Z][A-Za-z0-9&]{0,6}"
_QUOTES = "“”„\"«»‘’'"
# An abbreviation in brackets after its long form, possibly after other words, as in (hereinafter “HDB”).
_AFTER_LONG = re.compile(
    rf"\(\s*(?:[^()\n{_QUOTES}]{{1,30}}[\s{_QUOTES}])?[\s{_QUOTES}]*({_SHORT})[\s{_QUOTES}]*(?:[,;][^()]*)?\)"
)
_BEFORE_LONG = re.compile(rf"(?<!\w)({_SHORT})\s*\(([^()]{{5,120}})\)")
# A line of a list of abbreviations. A sign, such as a colon, may separate the abbreviation from its long form.
_LIST_LINE = re.compile(rf"^[ \t]*({_SHORT})[ \t]*([:=–—-]?)[ \t]+([^\W\d_][^\n,;=]{{4,100}})", re.MULTILINE)
# Maximum length of the articles and prepositions with which a long form cannot begin.
_ARTICLE_LETTERS = 3
_ARTICLE = re.compile(r"^[a-z]{1,3} (?=[A-Z])")
# Number of characters before an abbreviation in which its long form is looked for.
_MAX_LONG_FORM = 150
_SENTENCE_END = re.compile(r"[.!?;:]\s|\n\s*\n|[()]")


def find_abbreviations(text: str) -> Iterator[tuple[str, str]]:
    """Yield the short and the long form of each abbreviation that a text defines.

    An abbreviation has at least two capitals. Definitions are found in this order:

    - an abbreviation in brackets after its long form;
    - an abbreviation before its long form in brackets;
    - a line of a list of abbreviations.

    The algorithm is that of Schwartz and Hearst, "A simple algorithm for identifying abbreviation definitions in
    biomedical text", PSB 2003.

    >>> list(find_abbreviations("The Harbour Dredging Board (HDB) met. The KWV (Kleiner Wasserverband) did not."))
    [('HDB', 'Harbour Dredging Board'), ('KWV', 'Kleiner Wasserverband')]
    """
    for match in _AFTER_LONG.finditer(text):
        before = _SENTENCE_END.split(text[max(0, match.start() - _MAX_LONG_FORM) : match.start()])[-1]
        if long := _find_long_form(match[1], before):
            yield match[1], long
    for match in _BEFORE_LONG.finditer(text):
        for inside in (match[2], re.split(r"[,;]", match[2])[0]):
            if long := _read_as_long_form(match[1], inside):
                yield match[1], long
                break
    for match in _LIST_LINE.finditer(text):
        if long := _read_as_long_form(match[1], match[3], only_initials=not match[2]):
            yield match[1], long


def _find_long_form(short: str, text: str) -> str:
    """Return the long form of ``short`` with which a text ends; empty if the text does not end with one."""
    max_words = min(len(short) + 5, 2 * len(short))
    words = [
        match for match in ALPHANUMERIC.finditer(text) if len(match[0]) > _ARTICLE_LETTERS or not match[0].islower()
    ]
    # An ending in which the letters are initials of words is preferred to one that only contains the letters.
    for start in (word.start() for word in reversed(words)):
        if _has_initials(short, text[start:]):
            return _check_long_form(short, text[start:], max_words)
    return _check_long_form(short, text[_find_letters(short, text) :], len(short))


def _read_as_long_form(short: str, text: str, *, only_initials: bool = False) -> str:
    """Return a text if the whole text is the long form of an abbreviation; otherwise empty. See `_check_long_form`.

    If ``only_initials`` is true, each letter of the abbreviation must be the initial of a word.
    """
    long = text.strip().strip(_QUOTES)
    if _has_initials(short, long):
        return _check_long_form(short, long, min(len(short) + 5, 2 * len(short)))
    return "" if only_initials or _find_letters(short, long) else _check_long_form(short, long, len(short))


def _has_initials(short: str, long: str) -> bool:
    """Return whether the letters of an abbreviation are initials of words of a text, in order, from the first word."""
    initials = iter("".join(word[0] for word in ALPHANUMERIC.findall(normalize(long))))
    letters = normalize(short)
    return next(initials, "") == letters[0] and all(letter in initials for letter in letters[1:] if letter.isalnum())


def _find_letters(short: str, text: str) -> int:
    """Return the offset at which the shortest ending of a text begins that contains the letters of an abbreviation.

    The letters must be in order, and the first one must begin a word. If there is no such ending, return the length of
    the text.
    """
    lower, offset = text.lower(), len(text)
    for index, letter in reversed(list(enumerate(short.lower()))):
        if letter.isalnum():
            offset = lower.rfind(letter, 0, offset)
            while index == 0 and offset > 0 and text[offset - 1].isalnum():
                offset = lower.rfind(letter, 0, offset)
            if offset < 0:
                return len(text)
    return offset


def _check_long_form(short: str, text: str, max_words: int) -> str:
    """Return a text without its article, line breaks and outer quotes; empty if it cannot be a long form.

    A long form is longer than the abbreviation, has at most ``max_words`` words, and contains neither the abbreviation
    nor digits. A stop word has no long form.
    """
    long = _ARTICLE.sub("", " ".join(text.split()).strip(f"{_QUOTES} ,.:"))
    has_wrong_length = len(long) <= len(short) or len(long.split()) > max_words
    contains_others = short in ALPHANUMERIC.findall(long) or any(map(str.isdigit, long))
    return "" if has_wrong_length or contains_others or short.lower() in STOP_WORDS else long


def build_form_key(text: str) -> str:
    """Return the key of a short or long form. Inflected forms of the same words have the same key.

    >>> build_form_key("Kleinen Wasserverbandes") == build_form_key("Kleiner Wasserverband")
    True
    """
    return " ".join(map(_build_word_key, ALPHANUMERIC.findall(text)))


@lru_cache(maxsize=50_000)
def _build_word_key(word: str) -> str:
    return _ENDING.sub("", stem(normalize(word)))[:_KEY_LETTERS]


def list_form_keys(question: str) -> dict[str, tuple[int, int]]:
    """Return the span of each sequence of up to `MAX_FORM_WORDS` words of a question, by its key (`build_form_key`).

    If several sequences have the same key, the span is that of the first one.
    """
    words = list(ALPHANUMERIC.finditer(question))
    keys = [_build_word_key(word[0]) for word in words]
    return {
        " ".join(keys[first : last + 1]): (words[first].start(), words[last].end())
        for first in reversed(range(len(words)))
        for last in range(first, min(first + MAX_FORM_WORDS, len(words)))
    }


def can_be_counterpart(form: str, other: str, question: str) -> bool:
    """Return whether a form in a question can be the short form of ``other`` or its long form.

    If the form is longer than ``other``, it can be its long form. A shorter form must have at least two capitals,
    unlike the word "it"; if the question has no capitals, a shorter form must not be a stop word.
    """
    is_long = len(form) > len(other)
    return is_long or sum(map(str.isupper, form)) > 1 or (question.islower() and form not in STOP_WORDS)


def add_forms(question: str, forms: Mapping[str, Sequence[str]]) -> str:
    """Return a question with the other forms of each abbreviation in brackets after it.

    >>> add_forms("Who chairs the HDB?", {"HDB": ["Harbour Dredging Board"]})
    'Who chairs the HDB (Harbour Dredging Board)?'
    """
    return replace_words(question, {form: f"{form} ({', '.join(others)})" for form, others in forms.items()})


def choose_forms(question: str, text: str, forms: Mapping[str, Sequence[str]]) -> str:
    """Return a question in which each form that a text lacks is replaced by another form that the text contains.

    If the text contains none of the other forms either, the form in the question stays.

    >>> choose_forms("Who chairs the HDB?", "The Harbour Dredging Board met.", {"HDB": ["Harbour Dredging Board"]})
    'Who chairs the Harbour Dredging Board?'
    """
    if not forms:
        return question
    key = f" {build_form_key(text)} "

    def is_in_text(form: str) -> bool:
        # The word "it" is not the abbreviation "IT".
        in_capitals = sum(map(str.isupper, form)) > 1 and form.isalnum()
        return f" {build_form_key(form)} " in key and (not in_capitals or form in text)

    chosen = {form: next(filter(is_in_text, others), form) for form, others in forms.items() if not is_in_text(form)}
    return replace_words(question, chosen)


def describe_forms(forms: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a sentence for the user about each abbreviation of a question that was searched in other forms too."""
    return [f"Searched for “{form}” and for “{'”, “'.join(others)}”." for form, others in forms.items()]
