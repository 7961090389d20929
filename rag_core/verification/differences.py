"""What a statement says otherwise than its source, in words for the reader."""

from __future__ import annotations

from collections.abc import Iterator

from rag_core.text.annotated import AnnotatedText
from rag_core.text.contradictions import (
    added_negations,
    contains_name,
    dropped_negations,
    find_antonyms,
    narrowed_negations,
    shifted_negations,
)
from rag_core.text.numbers import numbers_equal, table_scales
from rag_core.text.words import PRONOUNS


def find_differences(
    statement: AnnotatedText, source: AnnotatedText, around: AnnotatedText, context: AnnotatedText, title: AnnotatedText
) -> list[str]:
    """What but numbers a statement says otherwise than its source does, in words for the reader; empty when nothing.

    Parameters
    ----------
    statement : AnnotatedText
    source : AnnotatedText
        The sentences that the statement is held against.
    around : AnnotatedText
        The same, with what heads them where they are rows of a table.
    context : AnnotatedText
        What stands before them: there a pronoun of the source finds its name.
    title : AnnotatedText
        What the passage is about: a name in it need not be repeated in every sentence.
    """
    return [
        *_names(statement, around, context, title),
        *added_negations(statement, source),
        *dropped_negations(statement, source),
        *narrowed_negations(statement, source),
        *shifted_negations(statement, source),
        *find_antonyms(statement, source),
    ]


def find_number_errors(
    statement: AnnotatedText, source: AnnotatedText, around: str, scales: frozenset[int] = frozenset()
) -> Iterator[str]:
    """Where the numbers of a statement are not those of its source, or count something else, in words for the reader.

    A table's scale is looked for in the source and ``around`` it, and may be among ``scales``.
    """
    scales |= table_scales(around) | table_scales(source.text)
    there = [*source.numbers, *source.columns]
    for number in statement.numbers:
        same = [one for one in there if numbers_equal(number, one, scales)]
        if not same:
            yield f"the number {number.text} is not there"
            continue
        unit = statement.unit(number)
        others = {source.unit(one) for one in there if one not in same}
        if unit and unit in others and unit not in {source.unit(one) for one in same}:
            yield f"the number {number.text} counts something else there"


def _names(
    statement: AnnotatedText, source: AnnotatedText, context: AnnotatedText, title: AnnotatedText
) -> Iterator[str]:
    refers = bool(source.folded & PRONOUNS)
    for word in statement.names:
        # "FY22": the fiscal year.
        if word.folded == "fy":
            continue
        if contains_name(source, word) or contains_name(title, word) or (refers and contains_name(context, word)):
            continue
        if not statement.begins_sentence(word):
            yield f"the name “{word.text}” is not there"
