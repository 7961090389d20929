"""Recognize questions about all things of a kind: "list all …", "how many …", "which …s" and "the oldest …".

A single passage rarely answers such a question, because other passages may belong to the answer as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import dropwhile, takewhile
from typing import Literal

from rag_core.text.dictionaries import load_words
from rag_core.text.grammar import AUXILIARIES, FUNCTION_WORDS, PREPOSITIONS, SUBORDINATORS, Token, split_tokens
from rag_core.text.languages import is_frequent_word
from rag_core.text.numbers import parse_numbers
from rag_core.text.words import find_content_stems, stem, tokenize
from rag_core.types.tables import Span

# Words for all things of a kind in English, German, French, Spanish, Portuguese, Italian and Dutch.
_ALL = re.compile(
    r"(?<!\bat )(?<!\bafter )(?<!\babove )(?<!\bin )\ball\b(?! right\b| but\b)(?=\s)|\b(?:each|every)\b(?! other\b)|"
    r"\b(?:everyone|everybody)\b(?! else\b)|^\W*who (?:are|were)(?= the \w+s\b)|"
    r"^\W*(?:please\s+)?(?:list|enumerate)\b|\blist of\b|"
    r"\b(?:alle[rn]?|jede[rsmn]?|sämtliche[rn]?)\b|^\W*liste\b|"
    r"\bwelche(?= \w+ (?:sind|waren|haben|hatten|werden|wurden|können|dürfen|müssen|sollen|gibt)\b)|"
    r"\b(?:tous|toutes) les\b|\bchaque\b|^\W*(?:quels|quelles)\b|\b(?:todos|todas) (?:l?[oa]s)\b|\bcada\b|"
    r"\bcuáles\b|\bqué (?=\w+s (?:hay|son|están|tienen)\b)|\btutt[ei] (?:gli|i|le)\b|"
    r"^\W*quais(?: s[ãa]o)?+(?: [oa]s)?+\b(?! tod)|^\W*quali(?: sono)?+(?: (?:gli|i|le))?+\b(?! tutt)|"
    r"\b(?:elke|iedere?)\b|\bwelke(?= \w+ (?:zijn|waren|hebben|hadden|worden|werden|kunnen|mogen|moeten)\b)",
    re.IGNORECASE,
)
# "which" at the beginning of a question, where it is not a relative pronoun.
_WHICH = re.compile(
    r"^\W*(?:(?:in|on|for|at|to|from|of|with|by|about|under)\s+)?which\s+(?:of\s+(?:the|our|my|these)\s+)?",
    re.IGNORECASE,
)
# Words that ask for a number, and superlatives, in the same languages.
_COUNT = re.compile(
    r"\bhow many\b|\bwie ?viele\b|\bcombien d(?:e\s|['’])|\b[cq]u[áa]nt[oa]s\b|\bquant[ei]\b(?: sono\b)?", re.IGNORECASE
)
_MOST = re.compile(
    r"(?<!\bat )(?<!\bits )(?<!\btheir )\b(?-i:most|least)\b(?! (?:of|often|recent|an?|\w+ly)\b)|"
    r"(?<!to the )\b(?-i:best|worst)\b(?! before\b)|"
    r"\b(?:der|die|das|den|dem|des|am|im|zum|zur) (?!erst|letzt|nächst|best)(?-i:[a-zäöüß]+(?:st|ßt)e[nrms]?)\b|"
    r"\b(?:der|die|das|am) best\w*|\b(?:le|la|les) (?:plus|moins|meilleure?s?|pires?)\b|"
    r"\b(?:el|la|los|las) (?:\w+ )?(?:más|menos|mejor|peor)(?:es)?\b|"
    r"(?<!\bm[aá]s )(?<!\bmais )\b[oa]s? (?:\w+ )?(?:mais|menos|maior|menor|melhor|pior)(?:es)?\b(?! (?:parte|que)\b)|"
    r"\b(?:il|la|i|le|gli) (?:\w+ )?(?:più|meno|maggiore?|migliore?|peggiore?)\b",
    re.IGNORECASE,
)
_ONE_OF = re.compile(r"\b(?:one|some) of the (?:\w+est|most|best|least|worst)\b", re.IGNORECASE)
# With one of these nouns, "each" states how often something happens, as in "each year".
_TIMES = frozenset("term season session year quarter month week day night hour time jahr monat tag woche".split())
# Words before "all" in a clause that is not asked for, as in "until all seats are taken".
_ADVERBIAL = (PREPOSITIONS | SUBORDINATORS) - {"of", "for", "by", "from", "to", "with"}
# Stems of words that ask for a list or a number.
_ASKING = frozenset(
    map(
        stem,
        "name list give tell show enumerate find please complete full liste nenne gibt hay alle wir quais quem sao "
        "quali chi sono noem zijn".split(),
    )
)
_EACH = frozenset(("all", "each", "every"))
# Minimum share of the topic's words in a passage that is related to a question for a number.
_RELATED_SHARE = 2 / 3
# Maximum number of words between a number and its noun, as in "nine regional managers".
_MAX_BETWEEN = 2


@dataclass(frozen=True, slots=True)
class SetQuestion:
    """A question about all things of a kind.

    Attributes
    ----------
    kind : str
        ``all``, ``count`` or ``most``.
    noun : str
        Stem of the noun for the things; empty if there is none.
    topic : frozenset of str
        Stems of the content words of the question, except the quantifier and the superlative.
    superlative : str
        The superlative in lower case, such as "oldest"; empty if there is none.
    """

    kind: Literal["all", "count", "most"]
    noun: str
    topic: frozenset[str]
    superlative: str = ""

    def is_related(self, text: str) -> bool:
        """Return whether a text mentions the things; false if the question has no noun.

        If the question asks for a number, the text must contain two thirds of the words of the topic.
        """
        # A quick check, because finding the stems of a long text takes a tenth of a millisecond.
        if not self.noun or self.noun[:3] not in text.casefold():
            return False
        stems = find_content_stems(text)
        fewest = _RELATED_SHARE * len(self.topic) if self.kind == "count" else 0
        return self.noun in stems and len(self.topic & stems) >= fewest

    def is_covered(self, texts: Iterable[str]) -> bool:
        """Return whether at least two texts each contain all words of the topic; false if the topic lacks the noun."""
        return self.noun in self.topic and sum(self.topic <= find_content_stems(text) for text in texts) > 1

    def is_stated(self, text: str) -> bool:
        """Return whether a text may state the answer.

        Depending on ``kind``, the text must contain

        - ``most``: the superlative,
        - ``all``: the noun shortly after "all", "each" or "every",
        - ``count``: the noun shortly after a number.
        """
        words = tokenize(text)
        if self.kind == "most":
            parts = self.superlative.split()
            return any([one.folded for one in words[first:][: len(parts)]] == parts for first in range(len(words)))
        if not self.noun:
            return False
        if self.kind == "all":
            # The noun is close to the quantifier, as in "each regional manager".
            return any(
                word.folded in _EACH and self.noun in {one.stem for one in words[index + 1 : index + 3]}
                for index, word in enumerate(words)
            )
        ends = [number.end for number in parse_numbers(text) if not number.kind]
        return any(self.noun in [one.stem for one in words if one.start >= end][: _MAX_BETWEEN + 1] for end in ends)


def parse_set_question(question: str) -> SetQuestion | None:
    """Return a question about all things of a kind; ``None`` for any other question.

    >>> parse_set_question("How many managers are there?").noun, parse_set_question("Who is the oldest judge?").kind
    ('manag', 'most')
    >>> parse_set_question("When was the bridge built?") is None
    True
    """
    tokens = split_tokens(question)
    if match := _COUNT.search(question):
        return _build_question("count", question, tokens, match.span())
    if found := _find_superlative(question, tokens):
        return _build_question("most", question, tokens, (found.start, found.end), found.word)
    for match in _ALL.finditer(question):
        noun = _find_noun(tokens, match.end())
        before = [token.word for token in tokens if token.end <= match.start()]
        if _ADVERBIAL.isdisjoint(before[-1:]) and (noun is None or noun.word not in _TIMES):
            return _build_question("all", question, tokens, match.span())
    match = _WHICH.search(question)
    if match and _is_plural_next(tokens, match.end()):
        return _build_question("all", question, tokens, match.span())
    return None


def _build_question(
    kind: Literal["all", "count", "most"], question: str, tokens: list[Token], span: Span, superlative: str = ""
) -> SetQuestion:
    """Return the set question whose quantifier or superlative is in ``span``."""
    noun = _find_noun(tokens, span[1], is_last=kind == "most")
    rest = tokenize(f"{question[: span[0]]} {question[span[1] :]}")
    words = [one for one in rest if one.content and not is_frequent_word(one.folded)]
    topic = {one.stem for one in words} - _ASKING - find_content_stems(superlative)
    return SetQuestion(kind, stem(noun.word) if noun else "", frozenset(topic), superlative)


def _find_noun(tokens: list[Token], end: int, *, is_last: bool = False) -> Token | None:
    """Return the noun among the content words after a quantifier or superlative; ``None`` without content words.

    After a quantifier, the noun is the first plural, or else the first word, as in "each manager earns". After a
    superlative (``is_last``), the noun is the last word, as in "the best paid manager".
    """
    following = list(dropwhile(lambda one: one.is_function_word, (token for token in tokens if token.start >= end)))
    words = [one for one in takewhile(lambda one: not one.is_function_word, following) if not parse_numbers(one.text)]
    if is_last:
        return words[-1] if words else None
    return next((one for one in words if _ends_as_plural(one.word)), words[0] if words else None)


def _find_superlative(question: str, tokens: list[Token]) -> Token | None:
    if _ONE_OF.search(question):
        return None
    if match := _MOST.search(question):
        following = next((token for token in tokens if token.start >= match.end()), None)
        # The next word is included, because "most" alone has other meanings.
        text = f"{match[0].casefold()} {following.word if following else ''}".strip()
        return Token(match[0], text, *match.span())
    for token in tokens:
        # `_MOST` matches "best". Other short words, such as "west" and "rest", are no superlatives.
        if token.word.endswith("est") and len(token.word) > 5 and token.text.islower() and _is_superlative(token.word):
            return token
    return None


def _is_superlative(word: str) -> bool:
    """Return whether an English word in "-est" is a superlative: its comparative and positive are words as well."""
    positives = {word[:-3], word[:-2], word[:-4], f"{word[:-4]}y"}
    words = load_words("")
    return f"{word[:-2]}r" in words and not words.isdisjoint(positives)


def _is_plural_next(tokens: list[Token], start: int) -> bool:
    """Return whether a plural noun without a number follows an offset, as in "which judges were appointed"."""
    following = [token for token in tokens if token.start >= start][:3]
    words = [token.word for token in following]
    if not words or words[0] in FUNCTION_WORDS or parse_numbers(words[0]):
        return False
    verb = next((index for index, word in enumerate(words) if word in AUXILIARIES), None)
    return _ends_as_plural(words[verb - 1]) if verb else _ends_as_plural(words[0]) and following[0].text.islower()


def _ends_as_plural(word: str) -> bool:
    return re.search(r"[^sui]s$|ies$", word) is not None or word in ("people", "children", "men", "women")
