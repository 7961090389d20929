"""Messages about differences between a statement and its source."""

from __future__ import annotations

from collections.abc import Iterator

from rag_core.text.annotated import AnnotatedText
from rag_core.text.contradictions import (
    contains_name_word,
    find_added_negations,
    find_antonyms,
    find_dropped_negations,
    find_narrowed_negations,
    find_shifted_negations,
)
from rag_core.text.numbers import find_table_scales, numbers_equal
from rag_core.text.words import PRONOUNS


def find_differences(
    statement: AnnotatedText, source: AnnotatedText, around: AnnotatedText, context: AnnotatedText, title: AnnotatedText
) -> list[str]:
    """Return a message for each name, negation and antonym by which a statement differs from its source.

    Parameters
    ----------
    statement : AnnotatedText
    source : AnnotatedText
        The sentences that the statement is compared with.
    around : AnnotatedText
        The same sentences, with the lines above them if they are table rows.
    context : AnnotatedText
        The sentences before the source, which may contain the antecedent of a pronoun.
    title : AnnotatedText
        Document name and heading of the passage. A sentence need not repeat the names in them.
    """
    return [
        *_find_missing_names(statement, around, context, title),
        *find_added_negations(statement, source),
        *find_dropped_negations(statement, source),
        *find_narrowed_negations(statement, source),
        *find_shifted_negations(statement, source),
        *find_antonyms(statement, source),
    ]


def find_number_errors(
    statement: AnnotatedText, source: AnnotatedText, around: str, scales: frozenset[int] = frozenset()
) -> Iterator[str]:
    """Yield a message for each number of a statement that the source lacks or states with another unit.

    The scales of tables are taken from the source, from the text ``around`` the source, and from ``scales``.
    """
    scales |= find_table_scales(around) | find_table_scales(source.text)
    for number in statement.numbers:
        same = [other for other in source.possible_numbers if numbers_equal(number, other, scales)]
        if not same:
            yield f"the number {number.text} is missing"
            continue
        unit = statement.unit(number)
        others = {source.unit(other) for other in source.possible_numbers if other not in same}
        if unit and unit in others and unit not in {source.unit(other) for other in same}:
            yield f"the number {number.text} has another unit"


def _find_missing_names(
    statement: AnnotatedText, source: AnnotatedText, context: AnnotatedText, title: AnnotatedText
) -> Iterator[str]:
    refers = bool(source.folded & PRONOUNS)
    for word in statement.names:
        # In "FY22", "FY" is an abbreviation and not a name.
        if word.folded == "fy":
            continue
        if (
            contains_name_word(source, word)
            or contains_name_word(title, word)
            or (refers and contains_name_word(context, word))
        ):
            continue
        if not statement.begins_sentence(word):
            yield f"the name “{word.text}” is missing"
