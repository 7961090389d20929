"""Tokenize, stem and lemmatize English text, and prepare text of other languages for the word index."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import Stemmer

from rag_core.text.normalize import normalize

# Patterns of words, for code that needs no stems: letters and digits, only letters, and letters with hyphens.
ALPHANUMERIC = re.compile(r"[^\W_]+")
LETTERS = re.compile(r"[^\W\d_]+")
HYPHENATED_WORD = r"[^\W\d_]+(?:-[^\W\d_]+)*"
# Chinese, Japanese and Korean do not separate words by blanks, so each character counts as a word.
CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_WORD = re.compile(rf"\d+(?:[.,]\d+)*|[{CJK}]|[^\W\d_{CJK}]+(?:\.[^\W\d_{CJK}]\b)*(?:[-'’][^\W\d_{CJK}]+)*", re.UNICODE)

# Function words, and endings of contractions, such as "ve" in "I've". Negations are no stop words, because they change
# the meaning of a sentence.
STOP_WORDS = frozenset(
    "a about above across after again against all along also although am among an and another any are as at be "
    "because been before being below between both but by can could did do does doing down during each either else "
    "even ever every few for from further had has have having he her here hers herself him himself his how however "
    "i if in indeed instead into is it its itself just later less many may me might more moreover most much must my "
    "of off on once only onto or other others our ours out over own per quite rather same shall she should since so "
    "some still such than that the their theirs them themselves then there therefore these they this those though "
    "through thus to too toward towards under until up upon us very was we were what when where whereas whether "
    "which while who whom whose why will with within would yet you your yours d ll m re s t ve".split()
)
_PORTER = Stemmer.Stemmer("porter", 0)
# Names of the Snowball stemmers (https://snowballstem.org) by language code.
_ALGORITHMS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "es": "spanish",
    "fa": "persian", "fi": "finnish", "fr": "french", "hi": "hindi", "hu": "hungarian", "id": "indonesian",
    "it": "italian", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
_BETWEEN_UNSPACED = re.compile(rf"(?<=[{CJK}])(?=[^\W_])|(?<=[^\W_])(?=[{CJK}])")
# A Chinese word has about 1.6 characters on average.
_WORDS_PER_CHARACTER = 0.6
_UNSPACED = re.compile(rf"[{CJK}]")
_UNSPACED_PART = re.compile(rf"[{CJK}]+|[^{CJK}]+")
# Groups of words with the same lemma: a verb, or synonyms joined by slashes, then its irregular forms and nouns.
# Regular forms have the same stem and are not listed.
_FORMS = (
    "bear bore born borne, become became, begin/start/commence began begun, bind bound, break broke broken, "
    "bring brought, build built, burn burnt, buy bought, catch caught, choose chose chosen, come came, deal dealt, "
    "die dies died dead death, draw drew drawn, drive drove driven, eat ate eaten, end/finish/expire, "
    "fall fell fallen, feed fed, fight fought, find found, fly flew flown, get got gotten, give gave given, "
    "go went gone, grow grew grown, hide hid hidden, hold held, keep kept, know knew known, lay laid, lead led, "
    "leave left, lend lent, lose lost, make made, meet met, pay paid, rise rose risen, run ran, say said, "
    "see saw seen, sell sold, send sent, shoot shot, show shown, sing sang sung, sink sank sunk, sleep slept, "
    "speak spoke spoken, spend spent, stand stood, steal stole stolen, strike struck, swim swam swum, "
    "take took taken, teach taught, tell told, think thought, throw threw thrown, understand understood, "
    "use used using, wear wore worn, win won, write wrote written"
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text, with its character span, its case-folded form and its stem."""

    start: int
    end: int
    text: str
    folded: str
    stem: str

    @property
    def content(self) -> bool:
        """Whether the word is a content word, unlike "the" and "of"."""
        return _is_content(self.folded)


def tokenize(text: str) -> list[Word]:
    """Return the words and numbers of a text, in order. Hyphenated words are split at the hyphens."""
    return [Word(start, start + len(part), part, *_fold(part)) for start, part in _split(text)]


def find_content_stems(text: str) -> set[str]:
    """Return the stems of the content words of a text.

    >>> sorted(find_content_stems("The mills of the towns"))
    ['mill', 'town']
    """
    return {stemmed for folded, stemmed in {_fold(part) for _, part in _split(text)} if _is_content(folded)}


def _split(text: str) -> Iterator[tuple[int, str]]:
    """Yield the start and the text of each word."""
    for match in _WORD.finditer(text):
        word, position = match[0], match.start()
        if "-" not in word:
            yield position, word
            continue
        for part in word.split("-"):
            if part:
                yield position, part
            position += len(part) + 1


# Cached, because words occur many times on the pages of an answer.
@lru_cache(maxsize=50_000)
def _fold(word: str) -> tuple[str, str]:
    """Return the case-folded form and the stem of a word."""
    folded = word
    if not word[0].isdigit():
        folded = normalize(word).removesuffix("'s").replace("'", "").replace(".", "") or word
    return folded, stem(folded)


def _is_content(folded: str) -> bool:
    return folded not in STOP_WORDS and (len(folded) > 1 or not folded.isascii())


def replace_words(text: str, replacements: Mapping[str, str]) -> str:
    """Return a text in which whole words or phrases are replaced.

    >>> replace_words("The IT of an ITEM", {"IT": "computers"})
    'The computers of an ITEM'
    """
    if not replacements:
        return text
    replaced = "|".join(map(re.escape, replacements))
    return re.sub(rf"(?<!\w)(?:{replaced})(?!\w)", lambda match: replacements[match[0]], text)


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return the stem of a lower-case English word, so that "explored" and "exploring" are equal.

    The algorithm is that of Porter, "An algorithm for suffix stripping", Program 14(3), 1980. SQLite FTS5 uses the same
    algorithm.

    >>> stem("explored"), stem("exploring")
    ('explor', 'explor')
    """
    return _PORTER.stemWord(word) if word.isascii() and word.isalpha() else word


def stem_words(words: Iterable[str], language: str) -> list[str]:
    """Return the stems of lower-case words. Without a stemmer for the language, the words are returned unchanged.

    ``language`` is a code as returned by `detect_language`.

    >>> stem_words(["häuser", "kündigungen"], "de")
    ['haus', 'kundig']
    """
    if language not in _ALGORITHMS:
        return list(words)
    # A stemmer is created for each call, because PyStemmer is not thread-safe. This is cheap.
    return [str(one) for one in Stemmer.Stemmer(_ALGORITHMS[language], 0).stemWords(list(words))]


def separate_unspaced(text: str) -> str:
    """Return a text with blanks around each Chinese, Japanese and Korean character.

    >>> separate_unspaced("第3季度")
    '第 3 季 度'
    """
    return text if text.isascii() else _BETWEEN_UNSPACED.sub(" ", text)


def count_words(text: str) -> int:
    """Return the number of words of a text. Five characters of Chinese, Japanese or Korean count as three words.

    >>> count_words("the third quarter"), count_words("第三季度的收入")
    (3, 4)
    """
    unspaced = 0 if text.isascii() else len(_UNSPACED.findall(text))
    if not unspaced:
        return len(text.split())
    spaced = sum(any(map(str.isalnum, word)) for word in _UNSPACED.sub(" ", text).split())
    return spaced + round(unspaced * _WORDS_PER_CHARACTER)


def split_unspaced(word: str) -> list[str]:
    """Return the parts of a word: each pair of neighbouring Chinese, Japanese or Korean characters, and the rest.

    Pairs of characters serve as words, because finding words would need a dictionary: Nie, Gao, Bai and Zhou, "On the
    use of words and n-grams for Chinese information retrieval", IRAL 2000.

    >>> split_unspaced("人口数2023")
    ['人口', '口数', '2023']
    """
    if word.isascii():
        return [word]
    parts: list[str] = []
    for part in _UNSPACED_PART.findall(word):
        parts += map("".join, pairwise(part)) if len(part) > 1 and _UNSPACED.match(part) else [part]
    return parts


_GROUPS = [(verbs.split("/"), forms) for verbs, *forms in map(str.split, _FORMS.split(", "))]
_BASES = {stem(verb): verbs[0] for verbs, _ in _GROUPS for verb in verbs}
# Irregular forms, also with the plural ending of nouns ("thoughts"). Other endings make another verb ("founded").
_IRREGULAR = {form + ending: verbs[0] for verbs, forms in _GROUPS for form in forms for ending in ("", "s")}


def find_lemma(word: str) -> str:
    """Return the lemma of a lower-case word, which is the same for all forms of the word, and for some synonyms.

    >>> find_lemma("left") == find_lemma("leaving"), find_lemma("began") == find_lemma("starts")
    (True, True)
    >>> find_lemma("open") == find_lemma("operated"), find_lemma("find") == find_lemma("founded")
    (False, False)
    """
    return _IRREGULAR.get(word) or _BASES.get(stem(word), stem(word))
