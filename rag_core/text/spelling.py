"""Find words that can contain typing errors, and compare spellings."""

from __future__ import annotations

import re
from string import ascii_lowercase

from rapidfuzz.distance import DamerauLevenshtein

from rag_core.text.dictionaries import load_words
from rag_core.text.normalize import normalize
from rag_core.text.words import LETTERS

# Minimum number of letters of a word that can contain a typing error, and of a word that can contain two.
_MIN_LETTERS, _MIN_LETTERS_FOR_TWO = 5, 9
_NOT_BLANK = re.compile(r"\S+")
# Characters of codes, figures and addresses, which words do not contain.
_NO_WORD = re.compile(r"[\d@/\\_]|\w\.\w")


def find_words_to_check(question: str) -> list[tuple[int, int]]:
    """Return the spans of the words of a question that can contain typing errors, without codes and words in capitals.

    >>> question = "Does TASMIN or Tasmin know valve KX-Tasmin7?"
    >>> [question[slice(*span)] for span in find_words_to_check(question)]
    ['Tasmin', 'valve']
    """
    return [
        (part.start() + word.start(), part.start() + word.end())
        for part in _NOT_BLANK.finditer(question)
        if not _NO_WORD.search(part[0])
        for word in LETTERS.finditer(part[0])
        if len(word[0]) >= _MIN_LETTERS and not word[0].isupper() and normalize(word[0]).isascii()
    ]


def is_ordinary_word(word: str, language: str) -> bool:
    """Return whether a word is in the dictionary of English or of ``language``, which is a code or empty."""
    return any(word.lower() in load_words(one) for one in dict.fromkeys(("", language)))


def list_variants(word: str) -> list[str]:
    """Return all strings that differ from a word by one inserted, deleted, replaced or transposed letter.

    The first letter is not changed. See Norvig, "How to write a spelling corrector", 2007.
    """
    plain = normalize(word)
    halves = [(plain[:length], plain[length:]) for length in range(1, len(plain) + 1)]
    variants = {before + after[1:] for before, after in halves if after}
    variants |= {before + after[1] + after[0] + after[2:] for before, after in halves if len(after) > 1}
    variants |= {before + letter + after[1:] for before, after in halves if after for letter in ascii_lowercase}
    variants |= {before + letter + after for before, after in halves for letter in ascii_lowercase}
    return sorted(variants - {plain})


def count_typing_errors(word: str, other: str) -> int | None:
    """Return the number of typing errors by which two words differ; ``None`` if it is too high.

    A word of at least 9 letters can contain two errors, a shorter word one.

    >>> count_typing_errors("Tasmin", "Tamsin"), count_typing_errors("Tasmin", "Tamara")
    (1, None)
    """
    most = 1 + (len(word) >= _MIN_LETTERS_FOR_TWO)
    errors = DamerauLevenshtein.distance(normalize(word), normalize(other), score_cutoff=most)
    return errors if errors <= most else None
