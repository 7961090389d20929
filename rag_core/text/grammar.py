"""Closed word classes of English, for parsing questions without a model.

A closed class, such as the prepositions, gains no new words, so that its members can be listed completely.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# A word, which can contain punctuation, as in "10-K", "AT&T" and "Poland's".
_WORD = re.compile(r"[^\W_]+(?:[.&/’'-][^\W_]+)*")
_CONTRACTION = re.compile(r"(?:n['’]t|['’](?:s|re|ve|ll|d|m))$", re.IGNORECASE)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


WH = _words("what which who whom whose when where why how")
BE = _words("am is are was were be been being")
DO = _words("do does did")
AUXILIARIES = BE | DO | _words("has have had can could may might must shall should will would")
ARTICLES = _words("the a an")
DEMONSTRATIVES = _words("this that these those")
DETERMINERS = (
    ARTICLES
    | DEMONSTRATIVES
    | _words("my your our its his her their some any no every each all both either neither another such")
    | _words("much many more most less least few fewer several other enough")
)
PREPOSITIONS = _words(
    "about above according across after against along amid among around as at before behind below beneath beside "
    "besides between beyond by concerning despite down during except for from given in inside into like near of off "
    "on onto out outside over past per regarding since than through throughout till to toward towards under until up "
    "upon versus via with within without"
)
COORDINATORS = _words("and or but nor")
SUBORDINATORS = _words("that if while as because since after before until unless although though whether once")
PERSONAL = _words("he she him her it they them")
POSSESSIVES = _words("his her hers its their theirs")
OTHER_PRONOUNS = _words("i you we me us who one ones there himself herself itself themselves something anything")
ADVERBS = _words("not also too only even just still then now here again else ever never often so very most exactly yet")
FUNCTION_WORDS = (
    WH
    | AUXILIARIES
    | DETERMINERS
    | PREPOSITIONS
    | COORDINATORS
    | SUBORDINATORS
    | PERSONAL
    | POSSESSIVES
    | OTHER_PRONOUNS
    | ADVERBS
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text: ``text`` as it is written, and ``word`` in lower case without an ending such as "'s"."""

    text: str
    word: str
    start: int
    end: int

    @property
    def stem_end(self) -> int:
        """End offset of the word without an ending such as "'s"."""
        return self.start + len(self.word)

    @property
    def is_function_word(self) -> bool:
        """Whether the word is a function word, such as "the" or "of"."""
        # "IT" and "WHO" in capitals are names, but a single capital letter can be an "A" that begins a sentence.
        return self.word in FUNCTION_WORDS and not (len(self.text) > 1 and self.text.isupper())


def split_tokens(text: str) -> list[Token]:
    """Return the words of a text, in order.

    >>> [token.word for token in split_tokens("What's Poland's GDP?")]
    ['what', 'poland', 'gdp']
    """
    return [Token(match[0], _CONTRACTION.sub("", match[0]).lower(), *match.span()) for match in _WORD.finditer(text)]
