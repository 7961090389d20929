"""Detection of English yes-no questions, for which a negation is as good an answer as an affirmation.

A yes-no question has a clause that begins with an auxiliary, and no interrogative word. "Can you tell me when" does not
begin a yes-no question, because "when" is interrogative. "May a tenant who is late" begins a yes-no question, because
"who" is a relative pronoun. In doubt, a question is not a yes-no question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.text.grammar import AUXILIARIES, COORDINATORS, PREPOSITIONS, WH, Token, split_tokens

_FINITE = AUXILIARIES - {"be", "been", "being"}
# What `split_tokens` returns for "can't", "won't" and "shan't".
_CONTRACTED = frozenset("ca wo sha".split())
# Words that are German words as well. For example, the German "was" is a question word.
_GERMAN = frozenset("also am an her in so was will".split())
_OPENERS = COORDINATORS | {"so", "then"}
_MARK = re.compile(r"[,;:.?!–—]")
# Subjects of requests, such as "can you tell me when", whose answer is information and not "yes".
_PERSONS = frozenset("you i we anyone anybody someone somebody".split())
_REQUEST_VERBS = frozenset(
    "ask clarify clear compare define describe explain find give indicate inform know known list mention name remember "
    "remind say show shown specified specify state stated summarise summarize tell".split()
)
# Most words between the person and the verb, as in "could you please also tell".
_MAX_WORDS_TO_VERB = 3
_RELATIVE = frozenset("which who whom whose when where".split())


def is_yes_no_question(question: str) -> bool:
    """Return whether a question has the form of a yes-no question.

    >>> is_yes_no_question("Can it be immersed in water?"), is_yes_no_question("Can you tell me when it opens?")
    (True, False)
    """
    words = split_tokens(question)
    starts = [at for at in range(len(words)) if at == 0 or _MARK.search(question, words[at - 1].end, words[at].start)]
    openings = [at for at in (_skip_openers(words, start) for start in {*starts[:1], *starts[-1:]}) if at is not None]
    inverted = [at for at in openings if _is_inverted(words, at)]
    if not inverted or any(_is_interrogative(words, at, starts) for at in range(len(words))):
        return False
    wants_to_be_told = any(_is_request(words, at) for at in inverted)
    return not wants_to_be_told or any(token.word in ("if", "whether") for token in words)


def _skip_openers(words: Sequence[Token], start: int) -> int | None:
    """Return the index of the first word of a clause after "and" and similar openers."""
    return next((at for at in range(start, len(words)) if words[at].word not in _OPENERS), None)


def _is_inverted(words: Sequence[Token], at: int) -> bool:
    """Return whether a clause begins with an auxiliary; "May and June" and "May 2024" do not."""
    if at + 1 == len(words) or words[at + 1].word in COORDINATORS or words[at + 1].text[0].isdigit():
        return False
    word = words[at]
    if word.word in _GERMAN:
        return word.word in _FINITE and any(token.is_function and token.word not in _GERMAN for token in words)
    return word.word in _FINITE or (word.word in _CONTRACTED and word.stem_end < word.end)


def _is_request(words: Sequence[Token], at: int) -> bool:
    """Return whether an auxiliary begins a request such as "can you tell me", "do you know" or "may I ask"."""
    behind = [token.word for token in words[at + 1 : at + 3 + _MAX_WORDS_TO_VERB]]
    return behind[0] in _PERSONS and not _REQUEST_VERBS.isdisjoint(behind)


def _is_interrogative(words: Sequence[Token], at: int, starts: Sequence[int]) -> bool:
    """Return whether a word is interrogative, not a relative pronoun or a conjunction of time or place."""
    word = words[at]
    if word.word not in WH or not word.is_function:
        return False
    if word.word not in _RELATIVE:
        return True
    if at in starts:
        # In "When the plant closed, did sales fall?", "when" is a conjunction, because no auxiliary follows it.
        inverts = at + 1 == len(words) or words[at + 1].word in AUXILIARIES
        return inverts or word.word not in ("when", "where")
    before = at - 1
    if word.word in ("which", "whom", "whose") and words[before].word in PREPOSITIONS and before:
        before -= 1
    return words[before].is_function or words[before].word in _REQUEST_VERBS
