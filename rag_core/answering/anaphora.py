"""Detect whether a question refers to earlier turns of the conversation.

Rules of English grammar detect incomplete sentences, pronouns and demonstratives. A pronoun or demonstrative does not
count if an earlier clause of the question has a noun, which may be its antecedent. In doubt, a question is treated as
standalone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.text.grammar import (
    AUXILIARIES,
    BE,
    COORDINATORS,
    DEMONSTRATIVES,
    PERSONAL,
    POSSESSIVES,
    PREPOSITIONS,
    SUBORDINATORS,
    WH,
    Token,
    split_tokens,
)
from rag_core.text.proper_names import find_names

# Maximum number of words of a fragment. A longer question without a verb is searched for as it is.
MAX_FRAGMENT_WORDS = 8
_OPENERS = re.compile(r"^(?:(?:and|but|or|so|also|then|ok|okay|well|now)\b[,\s]*)+(?=\S)", re.IGNORECASE)
_WHAT_ABOUT = re.compile(r"^(?:what|how)\s+(?:about|of)\s+(.+)$|^(?:the\s+)?same\s+(?:question\s+)?for\s+(.+)$", re.I)
_ORDINAL = re.compile(
    r"\bthe\s+(first|second|third|fourth|fifth|last|other|next|previous)\s+ones?\b(?!\s+(?:to|who|that|which|of|in)\b)"
    r"|\bthe\s+(former|latter)\b(?=\s*(?:$|[?.,]|(?:is|was|has|had|did|does|and|or|in|by|for|than)\b))"
    r"|\bthe\s+(first|second|third|fourth|fifth|last)(?=\s*[?.]?$)",
    re.IGNORECASE,
)
# A question of only these words and function words is incomplete: "how come", "since when exactly".
_BARE = frozenset("so come not else exactly precisely many much long far often old then ones one".split())
# "This" or "these" before one of these nouns refers to the documents or the present, not to an earlier turn.
_DEICTIC = frozenset(
    "document documents report reports file files page pages pdf paper book text contract agreement collection study "
    "year month week quarter day time moment century".split()
)
# Verbs of which "it" is a formal subject, as in "how long does it take to settle".
_EXPLETIVE_VERBS = frozenset("take takes took cost costs seem seems seemed appear appears matter become became".split())
# Words that begin a clause for which "it" may stand.
_CLAUSES = frozenset("that for if whether to".split())
_SUBJECTS = frozenset("he she they".split())
_POINTING = PERSONAL | POSSESSIVES | DEMONSTRATIVES | {"there"}


def is_dependent(question: str) -> bool:
    """Return whether a question refers to an earlier turn, or is incomplete without an earlier turn."""
    opener = _OPENERS.match(question)
    start = opener.end() if opener else 0
    end = len(question.rstrip(" ?.!"))
    words = [token for token in split_tokens(question) if token.start >= start]
    return bool(words) and (
        _is_fragment(question, words, start, end, joined=bool(opener))
        or _ORDINAL.search(question) is not None
        or any(_refers_back(question, words, position) for position in range(len(words)))
    )


def contains_name_or_number(question: str) -> bool:
    """Return whether a question contains a name, a quotation or a number of five or more digits."""
    return bool(find_names(question)) or bool(re.search(r"[\"“«]|\d{5,}", question))


def _is_fragment(question: str, words: Sequence[Token], start: int, end: int, *, joined: bool) -> bool:
    if _WHAT_ABOUT.match(question[start:end]):
        return True
    # "May" with a capital letter is the month, unless it is the first word of the question.
    kinds = {token.word for token in words if token.is_function_word and not (token.text == "May" and token.start)}
    if kinds & WH and len(words) <= 4 and all(_is_empty_word(token) for token in words):
        return True
    if kinds & (WH | AUXILIARIES) or len(words) > MAX_FRAGMENT_WORDS:
        return False
    # A phrase without a verb, such as "termination clause", may be a standalone search. It is a fragment only after a
    # word such as "and", or if it is a short question that begins with a preposition.
    phrase = words[0].word in PREPOSITIONS and len(words) <= 5 and question.rstrip().endswith("?")
    return joined or (phrase and "," not in question)


def _is_empty_word(token: Token) -> bool:
    return token.word in _BARE or (token.is_function_word and token.word in WH | AUXILIARIES | PREPOSITIONS)


def _refers_back(question: str, words: Sequence[Token], position: int) -> bool:
    """Return whether the word at ``position`` stands for something that the question does not name before it."""
    token = words[position]
    before = words[position - 1].word if position else ""
    if token.word not in _POINTING or not token.is_function_word or _has_other_use(words, position, before):
        return False
    clause = _find_clause_start(question, words, position)
    content = [at for at in range(position) if not words[at].is_function_word and not words[at].text.isdigit()]
    # A word of an earlier clause may be what the pronoun stands for.
    if content and content[0] < clause:
        return False
    if token.word == "there":
        return not any(words[at].text[0].isupper() for at in content)
    # A pronoun after an auxiliary is the subject, and only words such as "in which year" precede the auxiliary.
    if before in AUXILIARIES or token.word not in POSSESSIVES | _SUBJECTS:
        return True
    return not content


def _has_other_use(words: Sequence[Token], position: int, before: str) -> bool:
    """Return whether a pronoun or demonstrative is used without an antecedent: "it takes", "there is", "the fact that".

    ``before`` is the word before the pronoun or demonstrative.
    """
    word, rest = words[position].word, [token.word for token in words[position + 1 :]]
    after = rest[0] if rest else ""
    if word == "it":
        # "It" stands for the following clause, as in "how long does it take to settle".
        return not _CLAUSES.isdisjoint(rest) and (before in BE or after in _EXPLETIVE_VERBS | BE)
    if word == "there":
        return bool({before, after} & AUXILIARIES)
    if word in ("this", "these"):
        return after in _DEICTIC
    if word == "those":
        return after in WH | PREPOSITIONS | {"that"}
    # "That" is a demonstrative in "who designed that bridge", but a conjunction in "who claims that bridges last".
    joins = bool(before) and before not in AUXILIARIES | PREPOSITIONS and len(rest) > 1
    return word == "that" and (joins or after == "of")


def _find_clause_start(question: str, words: Sequence[Token], position: int) -> int:
    """Return the index of the first word of the clause that contains the word at ``position``."""
    for index in range(position, 0, -1):
        between = question[words[index - 1].end : words[index].start]
        opens = words[index].word in SUBORDINATORS | WH and index < position
        # A coordinator before a lower-case word begins a clause: "was sold and closed" has two clauses, but "Syria and
        # Egypt" is one subject.
        joins = words[index].word in COORDINATORS and index < position
        opens = opens or (joins and words[index + 1].text[0].islower())
        if re.search(r"[,;:.?–—]", between) or opens:
            return index
    return 0
