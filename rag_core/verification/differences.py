"""What a statement says otherwise than its source, in words for the reader."""

from __future__ import annotations

from collections.abc import Iterator

from rag_core.text.annotated import Reading
from rag_core.text.contradictions import (
    holds_name,
    narrowed_negations,
    opposites,
    own_negations,
    shifted_negations,
    source_negations,
)
from rag_core.text.numbers import equal, table_scales
from rag_core.text.words import PRONOUNS


def differences(statement: Reading, source: Reading, around: Reading, context: Reading, title: Reading) -> list[str]:
    """What but numbers a statement says otherwise than its source does, in words for the reader; empty when nothing.

    Parameters
    ----------
    statement : Reading
    source : Reading
        The sentences that the statement is held against.
    around : Reading
        The same, with what heads them where they are rows of a table.
    context : Reading
        What stands before them: there a pronoun of the source finds its name.
    title : Reading
        What the passage is about: a name in it need not be repeated in every sentence.
    """
    return [
        *_names(statement, around, context, title),
        *own_negations(statement, source),
        *source_negations(statement, source),
        *narrowed_negations(statement, source),
        *shifted_negations(statement, source),
        *opposites(statement, source),
    ]


def miscounted(statement: Reading, source: Reading, around: str, scales: frozenset[int] = frozenset()) -> Iterator[str]:
    """Where the numbers of a statement are not those of its source, or count something else, in words for the reader.

    A table's scale is looked for in the source and ``around`` it, and may be among ``scales``.
    """
    scales |= table_scales(around) | table_scales(source.text)
    there = [*source.numbers, *source.columns]
    for number in statement.numbers:
        same = [one for one in there if equal(number, one, scales)]
        if not same:
            yield f"the number {number.text} is not there"
            continue
        unit = statement.unit(number)
        others = {source.unit(one) for one in there if one not in same}
        if unit and unit in others and unit not in {source.unit(one) for one in same}:
            yield f"the number {number.text} counts something else there"


def _names(statement: Reading, source: Reading, context: Reading, title: Reading) -> Iterator[str]:
    refers = bool(source.folded & PRONOUNS)
    for word in statement.names:
        # "FY22": the fiscal year.
        if word.folded == "fy":
            continue
        if holds_name(source, word) or holds_name(title, word) or (refers and holds_name(context, word)):
            continue
        if not statement.begins_sentence(word):
            yield f"the name “{word.text}” is not there"
