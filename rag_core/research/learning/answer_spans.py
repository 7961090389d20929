"""Find the expected answers of a question in passages, and compute how probable the reader finds them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from rag_core.text.numbers import numbers_equal, parse_numbers
from rag_core.text.scales import find_table_scales

# Characters before and after an answer that the reader reads. The reader was trained on short texts.
CONTEXT_CHARS = 150
# Most occurrences of an answer in a passage that are read.
MAX_OCCURRENCES = 3
# Scales of tables, as powers of ten, that are tried if a passage states none: the heading may be in another passage.
_SCALES = frozenset({3, 6, 9})

# A function that returns the logarithm of the probability that a span of a text answers a question. Its arguments are
# the question, the text, and the start and the end of the span.
ScoreSpan = Callable[[str, str, int, int], float]


def find_answer_spans(text: str, answers: Sequence[str]) -> list[tuple[int, int]]:
    """Return the spans of a text that equal one of the answers, ignoring case and white space, in order.

    Answers that are numbers are compared by value. A span inside another span is left out.

    >>> find_answer_spans("The Ohio Company sent Christopher\\nGist.", ["christopher gist"])
    [(22, 38)]
    >>> find_answer_spans("Inventories (in millions): 5,409", ["$5,409 million"])
    [(27, 32)]
    """
    stripped = [answer.strip() for answer in answers]
    numbers = [number for answer in stripped for number in parse_numbers(answer) if number.text == answer]
    scales = find_table_scales(text) or _SCALES
    spans = {
        (one.start, one.end)
        for one in (parse_numbers(text) if numbers else ())
        if any(numbers_equal(number, one, scales) for number in numbers)
    }
    patterns = [r"\s+".join(map(re.escape, answer.split())) for answer in answers if answer.strip()]
    if patterns:
        pattern = rf"(?<!\w)(?:{'|'.join(sorted(patterns, key=len, reverse=True))})(?!\w)"
        spans |= {match.span() for match in re.finditer(pattern, text, re.IGNORECASE)}
    return sorted(
        (start, end)
        for start, end in spans
        if not any(first <= start and end <= last and (first, last) != (start, end) for first, last in spans)
    )


def score_passage(question: str, text: str, answers: Sequence[str], score_span: ScoreSpan) -> float:
    """Return the logarithm of p(y|x,z): the probability of the most probable occurrence of an answer in a passage.

    The reader reads the first `MAX_OCCURRENCES` occurrences, each with about `CONTEXT_CHARS` characters on each side.
    Return minus infinity if the passage contains no answer, because an extractive reader cannot find it there.
    """
    best = -math.inf
    for start, end in find_answer_spans(text, answers)[:MAX_OCCURRENCES]:
        first = text.rfind(" ", 0, max(0, start - CONTEXT_CHARS)) + 1
        last = text.find(" ", min(len(text), end + CONTEXT_CHARS))
        context = text[first : last if last >= 0 else len(text)]
        best = max(best, score_span(question, context, start - first, end - first))
    return best
