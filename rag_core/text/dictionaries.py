"""Words of a language, from the dictionaries of pyspellchecker."""

from __future__ import annotations

from functools import cache


@cache
def load_words(language: str) -> frozenset[str]:
    """Return the words of a language in lower case, without compounds with hyphens; none if it has no dictionary.

    ``language`` is a code of `detect_language`, in which an empty text stands for English.
    """
    from spellchecker import SpellChecker

    if language and language not in SpellChecker.languages():
        return frozenset()
    return frozenset(SpellChecker(language=language or "en", distance=1).word_frequency.words())
