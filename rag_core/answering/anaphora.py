"""Detect whether a question refers to earlier turns of the conversation.

Rules of English grammar detect pronouns and incomplete sentences. A pronoun does not count if its antecedent, the
phrase that it stands for, may be in the question itself. These rules follow Chomsky, "Lectures on Government and
Binding", 1981: the antecedent of an object pronoun is outside the clause of the pronoun; the antecedent of a possessive
may be in the same clause; the antecedent of a pronoun in a later clause may be in an earlier clause. An "it" that
stands for a following clause does not count. In doubt, a question is treated as standalone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.text.grammar import (
    AUXILIARIES,
    BE,
    COORDINATORS,
    DEMONSTRATIVES,
    DETERMINERS,
    PERSONAL,
    POSSESSIVES,
    PREPOSITIONS,
    SUBORDINATORS,
    WH,
    Token,
    split_tokens,
)
from rag_core.text.noun_phrases import find_names

MAX_FRAGMENT_WORDS = 8
_OPENERS = re.compile(r"^(?:(?:and|but|or|so|also|then|ok|okay|well|now)\b[,\s]*)+(?=\S)", re.IGNORECASE)
_WHAT_ABOUT = re.compile(r"^(?:what|how)\s+(?:about|of)\s+(.+)$|^(?:the\s+)?same\s+(?:question\s+)?for\s+(.+)$", re.I)
_ORDINAL = re.compile(
    r"\bthe\s+(first|second|third|fourth|fifth|last|other|next|previous)\s+ones?\b(?!\s+(?:to|who|that|which|of|in)\b)"
    r"|\bthe\s+(former|latter)\b(?=\s*(?:$|[?.,]|(?:is|was|has|had|did|does|and|or|in|by|for|than)\b))"
    r"|\bthe\s+(first|second|third|fourth|fifth|last)(?=\s*[?.]?$)",
    re.IGNORECASE,
)
# A question of only function words and these words is incomplete: "how come", "since when exactly".
_BARE = frozenset("so come not else exactly precisely many much long far often old then ones one".split())
# "This" or "these" before one of these nouns refers to the documents or the present, not to an earlier turn.
_DEICTIC = frozenset(
    "document documents report reports file files page pages pdf paper book text contract agreement collection study "
    "year month week quarter day time moment century".split()
)
_EXPLETIVE_VERBS = frozenset("take takes took cost costs seem seems seemed appear appears matter become became".split())
_CONJUNCTION_THAT = frozenset("given so now such provided except".split())


def is_dependent(question: str) -> bool:
    """Return whether a question refers to an earlier turn, or is incomplete without an earlier turn."""
    opener = _OPENERS.match(question)
    start = opener.end() if opener else 0
    end = len(question.rstrip(" ?.!"))
    words = [token for token in split_tokens(question) if token.start >= start]
    return bool(words) and (
        _is_fragment(question, words, start, end, joined=bool(opener))
        or _ORDINAL.search(question) is not None
        or _has_pronoun(question, words)
        or _has_demonstrative(question, words)
        or _has_there(question, words)
    )


def contains_name_or_number(question: str) -> bool:
    """Return whether a question contains a name, a quotation or a number of five or more digits."""
    return bool(find_names(question)) or bool(re.search(r"[\"“«]|\d{5,}", question))


def _is_fragment(question: str, words: Sequence[Token], start: int, end: int, *, joined: bool) -> bool:
    if _WHAT_ABOUT.match(question[start:end]):
        return True
    # "May" with a capital letter is the month, unless it is the first word of the question.
    kinds = {token.word for token in words if token.is_function and not (token.text == "May" and token.start)}
    if kinds & WH and len(words) <= 4 and all(_is_empty_word(token) for token in words):
        return True
    if kinds & (WH | AUXILIARIES) or len(words) > MAX_FRAGMENT_WORDS:
        return False
    # A phrase without a verb, such as "termination clause", may be a standalone search. It is a fragment only after a
    # word such as "and", or if it is a short question that begins with a preposition.
    phrase = words[0].word in PREPOSITIONS and len(words) <= 5 and question.rstrip().endswith("?")
    return joined or (phrase and "," not in question)


def _is_empty_word(token: Token) -> bool:
    return token.word in _BARE or (token.is_function and token.word in WH | AUXILIARIES | PREPOSITIONS)


def _has_pronoun(question: str, words: Sequence[Token]) -> bool:
    for position, token in enumerate(words):
        if token.word not in PERSONAL | POSSESSIVES or not token.is_function:
            continue
        following = words[position + 1] if position + 1 < len(words) else None
        owns = token.word in POSSESSIVES and not (
            token.word == "her"
            and (following is None or following.is_function or _is_separated(question, token, following))
        )
        if token.word == "it" and _is_expletive(words, position):
            continue
        if not _is_bound(question, words, position, owns=owns):
            return True
    return False


def _has_demonstrative(question: str, words: Sequence[Token]) -> bool:
    for position, token in enumerate(words):
        if token.word not in DEMONSTRATIVES or not token.is_function:
            continue
        before = words[position - 1].word if position else ""
        after = words[position + 1].word if position + 1 < len(words) else ""
        # "That" is a determiner in "who designed that bridge", but a conjunction in "who claims that bridges last".
        verb_before = bool(before) and before not in AUXILIARIES | PREPOSITIONS
        joins = token.word == "that" and (before in _CONJUNCTION_THAT or (verb_before and position + 2 < len(words)))
        relative = (token.word == "those" and after in WH | PREPOSITIONS | {"that"}) or after == "of"
        if joins or relative or (after in _DEICTIC and token.word in ("this", "these")):
            continue
        if not _has_earlier_antecedent(question, words, position):
            return True
    return False


def _has_there(question: str, words: Sequence[Token]) -> bool:
    for position, token in enumerate(words):
        beside = {word.word for word in words[max(0, position - 1) : position + 2]}
        if token.word != "there" or not token.is_function or beside & AUXILIARIES:
            continue
        if not find_names(question[: token.start]) and not _has_earlier_antecedent(question, words, position):
            return True
    return False


def _is_separated(question: str, token: Token, other: Token) -> bool:
    return bool(question[token.end : other.start].strip())


def _is_expletive(words: Sequence[Token], position: int) -> bool:
    """Return whether an "it" stands for a clause after it, as in "how long does it take to settle"."""
    rest = words[position + 1 :]
    clause = any(token.word in ("that", "for", "if", "whether") for token in rest)
    clause = clause or any(_is_infinitive(words, at) for at in range(position + 1, len(words) - 1))
    before = words[position - 1].word if position else ""
    return clause and (before in BE or (bool(rest) and rest[0].word in _EXPLETIVE_VERBS | BE))


def _is_bound(question: str, words: Sequence[Token], position: int, *, owns: bool) -> bool:
    """Return whether the antecedent of a pronoun may be in the question itself."""
    if _has_earlier_antecedent(question, words, position):
        return True
    if position and words[position - 1].word in AUXILIARIES:
        # A pronoun after an auxiliary is the subject. Only words such as "in which year" precede the auxiliary, and
        # these words cannot be the antecedent.
        return False
    first = _find_clause_start(question, words, position)
    before = words[first:position]
    if _is_subject(words, position):
        # If a verb precedes a subject pronoun, the pronoun begins a new clause, and its antecedent may be in the
        # earlier clause: "who announced she would resign".
        return any(not token.is_function for token in before)
    if not owns:
        # An object pronoun does not stand for the subject of its verb, but may stand for the "of" phrase of the
        # subject: in "which owner of the mill sold it", "it" may be the mill.
        inner = next((at for at in range(first, position) if words[at].word == "of"), position)
        return any(_can_be_antecedent(words, at) for at in range(inner, position))
    by_question_word = words[position].word == "their" and before and before[0].word == "who" and len(before) > 2
    return bool(by_question_word) or any(_can_be_antecedent(words, at) for at in range(first, position))


def _is_subject(words: Sequence[Token], position: int) -> bool:
    following = words[position + 1].word if position + 1 < len(words) else ""
    return words[position].word in ("he", "she", "they") or (words[position].word == "it" and following in AUXILIARIES)


def _can_be_antecedent(words: Sequence[Token], position: int) -> bool:
    """Return whether a word can be the antecedent of a later pronoun."""
    token = words[position]
    if token.is_function or token.text.isdigit():
        return False
    before = words[position - 1].word if position else ""
    return token.text[0].isupper() or before in DETERMINERS | AUXILIARIES | {"what", "which", "whose"}


def _has_earlier_antecedent(question: str, words: Sequence[Token], position: int) -> bool:
    """Return whether an earlier clause of the question may contain the antecedent of the word at ``position``."""
    first = _find_clause_start(question, words, position)
    if any(not token.is_function and not token.text.isdigit() for token in words[:first]):
        return True
    infinitives = [at for at in range(first + 1, position) if _is_infinitive(words, at)]
    return any(_can_be_antecedent(words, at) for at in range(first, infinitives[-1] if infinitives else first))


def _is_infinitive(words: Sequence[Token], position: int) -> bool:
    following = words[position + 1]
    return (
        words[position].word == "to"
        and (following.word in AUXILIARIES or not following.is_function)
        and (following.text[0].islower())
    )


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
