"""Detection of a text's language, and negations in English, German, French, Spanish and Italian.

The English words have the empty language code and apply to every text. The words of another language apply only to
texts in that language, since a word such as the Spanish "sin" has another meaning in other languages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from rag_core.text.normalize import normalize
from rag_core.text.words import LETTERS, Word, stem

_ENGLISH = (
    "a about an and are as at be been but by can did do does for from had has have if is it its may more no not of on "
    "or such than that the their there these they this to was were which who will with would"
)
# The most frequent words of each language. A word that two languages share counts for both languages.
_COMMON = {
    "de": "als am auf aus bei das dem den der des die dürfen ein eine einem einen einer eines es für hat im ist kann "
    "kein keine keinem keinen keiner keines mit nach nicht nie niemals nur oder ohne sich sie sind um und vom von vor "
    "war werden wird wurde zu zum zur über",
    "fr": "a au aucun aucune aux avec ce ces cette chez dans de des du elle elles en est et hors il ils jamais la le "
    "les leur lui mais ne ni nous ont ou par pas plus pour qui que sa sans se ses son sont sur un une vers vous été",
    "es": "al como con de del desde el ella en entre es esta este están fue ha han hasta la las lo los más nada ni "
    "ningún ninguna ninguno no nunca para pero por puede pueden que se sin sobre son su sus un una y está",
    "it": "a al alla anche che ci con da dal dalla dei del della delle di e gli ha hanno i il in la le lo ma mai nel "
    "nella nessun nessuna nessuno non o per più può sono senza si sua suo sul sulla un una uno è stato",
}
_CONTRACTED = "dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt cant couldnt wont wouldnt shouldnt mustnt"
_NEGATIONS = {
    "": f"not no never none nor neither nobody nothing nowhere without cannot hardly scarcely barely {_CONTRACTED}",
    "de": "nicht kein keine keinem keinen keiner keines keinerlei nie niemals niemand nirgends ohne weder",
    "fr": "pas jamais aucun aucune sans non ni nullement",
    "es": "no sin nunca jamás ningún ninguna ninguno nada nadie tampoco ni",
    "it": "non senza mai nessun nessuna nessuno niente nulla neppure",
}
# The letters before the apostrophe in "l'Union", "n'exporte" and "dell'anno", which are a separate word.
_ELISIONS: Mapping[str, re.Pattern[str]] = {
    "fr": re.compile(r"(?:[cdjlmnst]|qu|jusqu|lorsqu)['’](?=\w)", re.IGNORECASE),
    "it": re.compile(r"(?:[cdlmst]|un|dell|all|nell|sull|dall|quest)['’](?=\w)", re.IGNORECASE),
}
# A "Yes" or "No" that precedes a statement and is not part of it.
INTERJECTION = re.compile(
    r"[\s*_\"'“„«]*\b(?:yes|no|ja|nein|oui|non|sí|si|sì)\b[*_\"'”“»]*\s*[,.:;!–—-]+[*_]*(?:\s+(?!\d)|$)", re.IGNORECASE
)
# Fewer frequent words do not identify a language: "in" is English, German and Italian.
_MIN_FREQUENT_WORDS = 2
# Words with which questions begin.
_ASKING = {
    "en": "what when where who whose why how many much does did",
    "de": "wer was wann wie wo warum wieso welche welcher welches welchem welchen wem wessen viele viel hat gibt",
    "fr": "quel quelle quels quelles combien quand où comment pourquoi quoi qui est-ce",
    "es": "qué cuál cuáles cuándo cuánto cuánta cuántos cuántas dónde cómo quién quiénes",
    "it": "quale quali quanto quanta quanti quante quando dove come chi perché cosa qual",
}
_NAMES = {"en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian"}


def _words(listed: str) -> frozenset[str]:
    return frozenset(normalize(listed).split())


NEGATIONS: Mapping[str, frozenset[str]] = {language: _words(listed) for language, listed in _NEGATIONS.items()}
# The most frequent words of each language, English included. English needs its question words too, because some English
# words, such as "in", "per" and "come", are frequent words of Italian.
_FREQUENT_WORDS = {
    "en": _words(_ENGLISH) | _words(_ASKING["en"]),
    **{language: _words(listed) for language, listed in _COMMON.items()},
}


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


def split_elisions(words: Sequence[Word], language: str) -> list[Word]:
    """Return the words without elided French and Italian articles and pronouns: "Union" for "l'Union"."""
    elision = _ELISIONS.get(language)
    return [_without(word, found) if elision and (found := elision.match(word.text)) else word for word in words]


def _without(word: Word, elided: re.Match[str]) -> Word:
    text = word.text[elided.end() :]
    return Word(word.start + elided.end(), word.end, text, normalize(text), stem(normalize(text)))
