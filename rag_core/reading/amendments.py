"""Find a statement that changes another statement of the same document, such as an amendment to a rule."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.reading.statement_reading import ReadStatement
from rag_core.text.numbers import parse_numbers
from rag_core.text.words import find_content_stems

# Share of the words of a statement that the new wording of the same rule contains.
MIN_SHARED = 0.5
_AMENDS = re.compile(
    r"\b(?:replaced|amended|superseded|deleted|no longer applies|shall (?:now )?read|in place of)\b", re.IGNORECASE
)


def find_amendment(statement: ReadStatement, statements: Sequence[ReadStatement]) -> ReadStatement | None:
    """Return the first statement of the same document that replaces a value or the wording of a statement.

    It replaces a value if it quotes the value, as in "“30 days” is replaced by “45 days”". It replaces the wording if
    it has most of the same words and other numbers.

    Parameters
    ----------
    statement : ReadStatement
    statements : sequence of ReadStatement
        In order of preference.
    """
    words = find_content_stems(statement.text)
    numbers = {number.values for number in parse_numbers(statement.text)}
    if not numbers or _AMENDS.search(statement.text):
        return None
    for other in statements:
        if other.passage.version_id != statement.passage.version_id or not _AMENDS.search(other.text):
            continue
        others = {number.values for number in parse_numbers(other.text)}
        quotes_value = bool(statement.answer) and statement.answer in other.text
        has_new_wording = len(words & find_content_stems(other.text)) >= MIN_SHARED * len(words)
        if others - numbers and (quotes_value or has_new_wording):
            return other
    return None
