"""Adapt questions to texts that do not repeat a name, because the title of their document contains it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from rag_core.text.abbreviations import choose_forms
from rag_core.text.dates import MONTHS
from rag_core.text.grammar import FUNCTION_WORDS
from rag_core.text.languages import detect_language
from rag_core.text.names import annotate, contains_document_name, contains_name_form, list_name_words
from rag_core.text.proper_names import find_names
from rag_core.types.retrieval import ReadTexts

# The ending of a possessive, as in "Acme's", "Acme Corp.'s" and "General Mills'".
_POSSESSIVE = re.compile(r"\.?['’]s?(?!\w)")
# Words before a name that precedes a noun, as in "how many Acme shares".
_BEFORE_A_NOUN = re.compile(r"\b(?:how many|which)\s+$", re.IGNORECASE)
_NOUN = re.compile(r"\s+([a-z][\w-]*)")
_ARTICLE, _ARTICLE_BEFORE = re.compile(r"the\s+", re.IGNORECASE), re.compile(r"\bthe\s+$", re.IGNORECASE)
# The beginning of a number or another name after a name.
_NEXT_NAME = re.compile(r"\s+[A-Z0-9]")


def read_with_forms(read: ReadTexts, forms: Mapping[str, Sequence[str]]) -> ReadTexts:
    """Return a function that calls ``read`` with each question rewritten for its text by `choose_forms`.

    If there are no forms, ``read`` itself is returned.
    """
    if not forms:
        return read
    return lambda pairs: read([(choose_forms(question, text, forms), text) for question, text in pairs])


def replace_title_names(question: str, text: str, title: str) -> str:
    """Return an English question without the names that the title contains but the text does not.

    A question in another language is returned unchanged.

    The answerability model would return a low probability for a text without a name of the question. A name is replaced
    by a pronoun. Before a noun, as in "the Acme report", it is left out.

    >>> replace_title_names("What were Acme's costs in Peru?", "Our costs were 3 million.", "acme_2021.pdf")
    'What were its costs in Peru?'
    """
    if detect_language(question):
        return question
    parts, position = [], 0
    for start, end in _find_name_spans(question):
        name = question[start:end]
        owner = _POSSESSIVE.sub("", name)
        if contains_document_name(title, owner) and not _contains_name(text, question, start, end):
            # Some names end in "'s" themselves, such as "McDonald's".
            is_possessive = name != owner and not (name.endswith("s") and contains_document_name(title, name))
            stand_in, first, last = _choose_stand_in(question, start, end, is_possessive=is_possessive)
            parts += [question[position:first], stand_in]
            position = last
    return "".join([*parts, question[position:]])


# Cached, because a question is read with many texts.
@lru_cache(maxsize=32)
def _find_name_spans(question: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of the names in a question, without articles. A span ends with the first possessive ending.

    Left out are names with digits, names of months, and names before a number or another name, as in "Acme 2021", if
    they are no possessives.
    """
    spans = []
    for name in find_names(question):
        article = _ARTICLE.match(question, name.start, name.end)
        start = article.end() if article else name.start
        possessive = _POSSESSIVE.search(question, start, name.end + 3)
        end = possessive.end() if possessive else name.end
        span = question[start:end]
        is_name = not any(char.isdigit() for char in span) and span.casefold() not in MONTHS
        if is_name and (possessive or not _NEXT_NAME.match(question, end)):
            spans.append((start, end))
    return tuple(spans)


def _choose_stand_in(question: str, start: int, end: int, *, is_possessive: bool) -> tuple[str, int, int]:
    """Return "its", "it" or an empty text as the replacement of a name, and the span to replace."""
    if is_possessive:
        return "its", start, end
    article = _ARTICLE_BEFORE.search(question, 0, start)
    noun = _NOUN.match(question, end)
    if noun and noun[1] not in FUNCTION_WORDS and (article or _BEFORE_A_NOUN.search(question, 0, start)):
        return "", start, noun.start(1)
    return "it", article.start() if article else start, end


def _contains_name(text: str, question: str, start: int, end: int) -> bool:
    """Return whether a text contains a form of each word of a name, given its span in a question."""
    said, no_title = annotate(text), annotate("")
    return all(contains_name_form(one, said, no_title) for one in list_name_words(question, start, end))
