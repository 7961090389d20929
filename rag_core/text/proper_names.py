"""Extract names from a text by letter case and closed word classes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_core.text.grammar import Token, split_tokens

_LINK = re.compile(r"\s+(?:(?:of|de|du|von|van|la|le)\s+(?:the\s+)?|&\s+)?$")
_ABBREVIATED = re.compile(r"\.\s+$")
_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s+|\n)[\"'“‘(]*$")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|s)")
# Imperatives that begin a question, as in "Name a city". Their capital letter does not indicate a name.
_ORDERS = frozenset("name list give tell show explain describe compare find define summarise summarize state".split())


@dataclass(frozen=True, slots=True)
class Phrase:
    """A name with its span. An article "the" before the name is included, and is in lower case in ``text``."""

    text: str
    start: int
    end: int


def find_names(text: str) -> list[Phrase]:
    """Return the names in a text, in order: words that begin with a capital letter or contain letters and digits.

    The words of one name form one phrase (``War of the Austrian Succession``, ``St. John's Cathedral``,
    ``DATANET 1``). The phrase does not include the genitive ending of its last word.
    """
    found: list[tuple[int, int]] = []
    for token in split_tokens(text):
        if found and _continues(text, found[-1][1], token):
            found[-1] = found[-1][0], token.stem_end
        elif _is_name(text, token):
            found.append((token.start, token.stem_end))
    return [_add_article(text, start, end) for start, end in found]


def find_content_words(question: str) -> list[str]:
    """Return the words that are neither function words nor numbers, in order."""
    return [token.text for token in split_tokens(question) if not token.is_function_word and not token.text.isdigit()]


def _is_name(text: str, token: Token) -> bool:
    is_mixed = any(map(str.isdigit, token.text)) and any(map(str.isalpha, token.text))
    if token.is_function_word or not (token.text[0].isupper() or (is_mixed and not _ORDINAL.fullmatch(token.word))):
        return False
    return not (token.word in _ORDERS and _SENTENCE_START.search(text[: token.start]))


def _continues(text: str, end: int, token: Token) -> bool:
    """Return whether a word continues the name that ends at ``end``."""
    between = text[end : token.start]
    is_like_name = token.text[0].isupper() or (token.text.isdigit() and len(token.text) < 4)
    if token.is_function_word or not is_like_name:
        return False
    if _ABBREVIATED.fullmatch(between):
        # A full stop after at most three letters marks an abbreviation, as in "St. John". In "in Warsaw. It", the full
        # stop ends the sentence.
        return len(re.split(r"\W", text[:end])[-1]) <= 3
    return between in ("'s ", "’s ") or _LINK.fullmatch(between) is not None


def _add_article(text: str, start: int, end: int) -> Phrase:
    before = re.search(r"\b(the)\s+$", text[:start], re.IGNORECASE)
    first = before.start(1) if before else start
    article = text[first:start].lower()
    return Phrase(article + text[start:end], first, end)
