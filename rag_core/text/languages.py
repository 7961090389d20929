"""Detect the language of a text."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from rag_core.text.normalize import normalize

# Codes of the languages in which dates, numbers and units are parsed.
LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pt")
# Codes of the languages that are detected. With more languages, short texts would be confused more often.
_DETECTED = (
    *LANGUAGES,
    *("ar", "bg", "ca", "cs", "da", "el", "fa", "fi", "he", "hi", "hr", "hu", "id", "ja", "ko", "no", "pl", "ro", "ru"),
    *("sk", "sl", "sv", "th", "tr", "uk", "vi", "zh"),
)
# Minimum probability of a detected language. Names and codes, for example, have no certain language.
_MIN_PROBABILITY = 0.8
# Number of characters that are classified; more take time and hardly change the result.
_MAX_CHARS = 600
# A "Yes" or "No" before a statement, in seven languages, with its punctuation.
INTERJECTION = re.compile(
    r"[\s*_\"'“„«]*\b(?:yes|no|ja|nein|oui|non|sí|si|sì)\b[*_\"'”“»]*\s*[,.:;!–—-]+[*_]*(?:\s+(?!\d)|$)", re.IGNORECASE
)
# Frequent words of German, French, Spanish, Italian and Dutch. `tokenize` knows only the function words of English.
_FREQUENT_WORDS = frozenset(
    normalize(
        "a aan al alla als am anche au aucun aucune auf aus aux avec bei bij ce ces cette che chez ci como con da "
        "dal dalla dans das dat de dei del della delle dem den der des desde deze di die dit door du dürfen e een "
        "ein eine einem einen einer eines el ella elle elles en entre es est esta este está están et fue für geen "
        "gli ha han hanno hasta hat heeft het hoeveel hors hun i il ils im in is ist jamais kan kann kein keine "
        "keinem keinen keiner keines la las le les leur lo los lui ma maar mai mais met mit moet moeten más naar "
        "nach nada ne nel nella nessun nessuna nessuno ni nicht nie niemals niet ninguna ninguno ningún no non "
        "nooit nous nunca nur o oder of ohne om ont ook op ou par para pas per pero plus por pour puede pueden può "
        "que qui sa sans se senza ses si sich sie sin sind sobre son sono sont stato su sua sul sulla suo sur sus "
        "te tot uit um un una und une uno van vers vom von voor vor vous waar wanneer war wat welke werd werden "
        "wird worden wordt wurde y zich zij zijn zu zum zur è été über"
    ).split()
)


def is_frequent_word(word: str) -> bool:
    """Return whether a normalized word is a frequent word of German, French, Spanish, Italian or Dutch."""
    return word in _FREQUENT_WORDS


@lru_cache(maxsize=2000)
def detect_language(text: str) -> str:
    """Return the language code of a text; empty for English, and if the language is uncertain.

    >>> detect_language("Das Rauchen ist nicht gestattet."), detect_language("Smoking is not allowed.")
    ('de', '')
    """
    code = _identify_language(text)
    return "" if code == "en" else code


def name_language(text: str) -> str:
    """Return the English name of a text's language; empty if the language is uncertain.

    >>> name_language("Das Rauchen ist nicht gestattet."), name_language("A B C")
    ('German', '')
    """
    from babel import Locale

    code = _identify_language(text)
    return str(Locale("en").languages[code]) if code else ""


def languages_differ(text: str, source: str) -> bool:
    """Return whether only one of two texts is in Latin script, or both texts are in different languages.

    If the scripts are the same and a language is uncertain, return false.
    """
    if _is_latin(text) != _is_latin(source):
        return True
    language, other = _identify_language(text), _identify_language(source)
    return bool(language and other) and language != other


@lru_cache(maxsize=2000)
def _identify_language(text: str) -> str:
    """Return the language code of a text, by naive Bayes over byte n-grams; empty if the language is uncertain.

    The model is that of Lui and Baldwin, "langid.py: An off-the-shelf language identification tool", ACL 2012.
    """
    head = text[:_MAX_CHARS]
    if not any(map(str.isalpha, head)):
        return ""
    # The training data of the model contains little text in capitals.
    code, probability = _load_classifier().classify(head.lower() if head.isupper() else head)
    return str(code) if probability >= _MIN_PROBABILITY else ""


@cache
def _load_classifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    classifier: Any = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    classifier.set_languages(_DETECTED)
    return classifier


def _is_latin(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum(letter < "\u0250" for letter in letters) >= len(letters)
