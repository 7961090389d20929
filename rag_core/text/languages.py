"""Detection of a text's language among English, German, French, Spanish, Italian and Dutch."""

from __future__ import annotations

import re
from functools import lru_cache

from rag_core.text.normalize import normalize
from rag_core.text.words import LETTERS

# The most frequent words of each language. A word that two languages share counts for both languages. English needs its
# question words too, because some English words, such as "in", "per" and "come", are frequent words of Italian.
_COMMON = {
    "en": "a about an and are as at be been but by can did do does for from had has have how if is it its many may "
    "more much no not of on or such than that the their there these they this to was were what when where which "
    "who whose why will with would",
    "de": "als am auf aus bei das dem den der des die dürfen ein eine einem einen einer eines es für hat im ist kann "
    "kein keine keinem keinen keiner keines mit nach nicht nie niemals nur oder ohne sich sie sind um und vom von vor "
    "war werden wird wurde zu zum zur über",
    "fr": "a au aucun aucune aux avec ce ces cette chez dans de des du elle elles en est et hors il ils jamais la le "
    "les leur lui mais ne ni nous ont ou par pas plus pour qui que sa sans se ses son sont sur un une vers vous été",
    "es": "al como con de del desde el ella en entre es esta este están fue ha han hasta la las lo los más nada ni "
    "ningún ninguna ninguno no nunca para pero por puede pueden que se sin sobre son su sus un una y está",
    "it": "a al alla anche che ci con da dal dalla dei del della delle di e gli ha hanno i il in la le lo ma mai nel "
    "nella nessun nessuna nessuno non o per più può sono senza si sua suo sul sulla un una uno è stato",
    "nl": "aan als bij dat de deze dit door een en geen heeft het hoeveel hun is kan maar met moet moeten naar niet "
    "nooit of om ook op te tot uit van voor waar wanneer wat welke werd worden wordt zich zijn zij",
}
# The codes of the languages in which dates, numbers and units are read.
LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pt")
# A "Yes" or "No" that precedes a statement and is not part of it.
INTERJECTION = re.compile(
    r"[\s*_\"'“„«]*\b(?:yes|no|ja|nein|oui|non|sí|si|sì)\b[*_\"'”“»]*\s*[,.:;!–—-]+[*_]*(?:\s+(?!\d)|$)", re.IGNORECASE
)
# Fewer frequent words do not identify a language: "in" is English, German and Italian.
_MIN_FREQUENT_WORDS = 2
# In an English text, at least one word in so many is one of its most frequent words.
_WORDS_A_FREQUENT = 8
_FREQUENT_WORDS = {language: frozenset(normalize(listed).split()) for language, listed in _COMMON.items()}


def is_frequent_word(word: str) -> bool:
    """Return whether a normalized word is one of the most frequent words of any of the languages."""
    return any(word in frequent for frequent in _FREQUENT_WORDS.values())


@lru_cache(maxsize=2000)
def detect_language(text: str) -> str:
    """Return the language code of a text, judged by frequent words; empty for English, other languages and in doubt.

    >>> detect_language("Das Rauchen ist nicht gestattet."), detect_language("Smoking is not allowed.")
    ('de', '')
    """
    words = [normalize(word) for word in LETTERS.findall(text)]
    counts = {language: sum(word in frequent for word in words) for language, frequent in _FREQUENT_WORDS.items()}
    most = max(counts.values())
    found = [language for language, count in counts.items() if count == most]
    return found[0] if most and len(found) == 1 and found != ["en"] else ""


def name_language(text: str) -> str:
    """Return the English name of a text's language; empty if it is none of the known ones, or in doubt.

    >>> name_language("Das Rauchen ist nicht gestattet."), name_language("A B C")
    ('German', '')
    """
    from babel import Locale

    words = [normalize(word) for word in LETTERS.findall(text)]
    frequent = sum(word in _FREQUENT_WORDS["en"] for word in words)
    code = detect_language(text) or ("en" if frequent * _WORDS_A_FREQUENT > len(words) else "")
    return str(Locale("en").languages[code]) if code else ""


def languages_differ(text: str, source: str) -> bool:
    """Return whether two texts differ in language, judged by their words and letters."""
    if _is_latin(text) != _is_latin(source):
        return True
    language = detect_language(text)
    frequent = sum(normalize(word) in _FREQUENT_WORDS[language or "en"] for word in LETTERS.findall(text))
    return frequent >= _MIN_FREQUENT_WORDS and language != detect_language(source)


def _is_latin(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum(letter < "\u0250" for letter in letters) >= len(letters)
