"""Dictionaries of languages, from pyspellchecker."""

from __future__ import annotations

from functools import cache


@cache
def load_words(language: str) -> frozenset[str]:
    """Return the words of a language in lower case; empty if there is no dictionary for the language.

    ``language`` is a code as returned by `detect_language`, where an empty code stands for English. The dictionaries
    contain no words with hyphens.
    """
    from spellchecker import SpellChecker

    if language and language not in SpellChecker.languages():
        return frozenset()
    return frozenset(SpellChecker(language=language or "en", distance=1).word_frequency.words())
