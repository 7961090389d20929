"""Detection of contradictions between two texts: negations, antonyms and missing names."""

from __future__ import annotations

from collections.abc import Iterator

from rag_core.text.annotated import AnnotatedText
from rag_core.text.languages import ANTONYMS, NEGATIVE_VERBS
from rag_core.text.words import Word

_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis")
# Endings by which the name of a people or language differs from the name of its place, as in "Japan" and "Japanese".
_NAME_ENDINGS = frozenset("s es n an ian ean ese ish i y ern er ers".split())


def contains_name_word(reading: AnnotatedText, name: Word) -> bool:
    """Return whether a text contains a name, a derived form of the name, or the words that the name abbreviates."""
    return any(_same_name(name.folded, one.folded) for one in reading.words) or contains_expansion(reading, name)


def _same_name(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    if shorter == longer:
        return True
    return len(shorter) > 3 and longer.startswith(shorter) and longer[len(shorter) :] in _NAME_ENDINGS


def contains_expansion(source: AnnotatedText, acronym: Word) -> bool:
    """Return whether the source contains the words that an acronym stands for; ``False`` for other words.

    An acronym of two letters is compared with the initials of capitalized words only. A longer acronym is compared
    with the initials of lower-case words as well.
    """
    if not (acronym.text.isupper() and len(acronym.text) > 1):
        return False
    initials = "".join(one.text[0] for one in source.words)
    capitals = "".join(initial for initial in initials if initial.isupper())
    return acronym.folded in capitals.casefold() or (len(acronym.text) > 2 and acronym.folded in initials.casefold())


def find_added_negations(statement: AnnotatedText, source: AnnotatedText) -> Iterator[str]:
    """Yield a message for each negation in the statement that the source does not contain."""
    for word, scope in statement.negations:
        prefixed = any(
            other.startswith(prefix + one) for prefix in _PREFIXES for one in scope for other in source.folded
        )
        if not prefixed and not _is_denied_too(scope, source):
            yield f"the source does not say “{word}”"


def find_dropped_negations(statement: AnnotatedText, source: AnnotatedText) -> Iterator[str]:
    """Yield a message for each negation in the source that the statement does not contain."""
    for word, scope in source.negations:
        if scope and scope <= statement.stems and not _is_denied_too(scope, statement):
            yield f"the source says “{word}”"


def find_narrowed_negations(statement: AnnotatedText, source: AnnotatedText) -> Iterator[str]:
    """Yield a message for each negation in the source that negates what the statement affirms.

    The statement may leave out negated words after the first: "covers water" contradicts "does not cover damage by
    water".
    """
    for word, reached in source.negated_words:
        head, rest = frozenset(reached[:1]), statement.stems & frozenset(reached[1:])
        if head <= statement.stems and rest and not _is_denied_too(head | rest, statement):
            yield f"the source says “{word}”"


def find_shifted_negations(statement: AnnotatedText, source: AnnotatedText) -> Iterator[str]:
    """Yield a message if both texts negate the same word, but each text about something else.

    An example is "does not cover damage by fire" and "does not cover damage by water".
    """
    for (word, reached), (_, scope) in zip(statement.negated_words, statement.negations, strict=False):
        for _, there in source.negated_words:
            own = {*reached, *scope} - source.stems
            if reached[:1] == there[:1] and own and set(there) - statement.stems:
                yield f"the source says “{word}” of something else"


def _is_denied_too(scope: frozenset[str], other: AnnotatedText) -> bool:
    """Return whether ``other`` negates a word in ``scope``, the stems that a negation of the first text negates."""
    denied = [there for _, there in other.negations]
    # Negative verbs count as negations, unless the scope contains one: "forbidden" does not confirm "not forbidden".
    if not scope & (NEGATIVE_VERBS[""] | NEGATIVE_VERBS[other.language]):
        denied += other.denials
    return any(scope & there or scope == there for there in denied)


def find_antonyms(statement: AnnotatedText, source: AnnotatedText) -> Iterator[str]:
    """Yield a message for each word of the statement whose antonym the source contains."""
    # A negated word means the same as its antonym. So "not allowed" does not contradict "forbidden", and a pair counts
    # only if both words are negated or neither is.
    denied, denied_there = (
        frozenset[str]().union(*(scope for _, scope in reading.negations)) for reading in (statement, source)
    )
    for pair in dict.fromkeys((*ANTONYMS[""], *ANTONYMS[source.language])):
        for one, other in (pair, pair[::-1]):
            if (
                statement.stems & one
                and not source.stems & one
                and source.stems & other
                and not statement.stems & other
                and bool(statement.stems & one & denied) == bool(source.stems & other & denied_there)
            ):
                said = next(word.text for word in statement.words if word.stem in one)
                yield f"the source says the opposite of “{said}”"
