"""Detection of contradictions between two texts: negations, antonyms and missing names."""

from __future__ import annotations

from collections.abc import Iterator

from rag_core.text.annotated import AnnotatedText
from rag_core.text.languages import ANTONYMS, NEGATIVE_VERBS

_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis")


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
