"""Comparison of the company and period of figures with those of a question."""

from __future__ import annotations

import re

from rag_core.text.annotated import find_missing_figures
from rag_core.text.dates import QUARTER
from rag_core.text.names import (
    MIN_SYMBOL_CHARS,
    annotate,
    contains_document_name,
    contains_name_form,
    is_question_word,
    strip_possessive,
)

# Words for quarterly periods. The figures of a whole year do not answer a question about a quarter.
_QUARTER = re.compile(rf"\b(?:{QUARTER}|[1-4]Q(?:\d\d)?)\b|\b(?:quarter|three months|13 weeks)", re.IGNORECASE)


def is_other_entity_or_period(question: str, passage: str, title: str, document: str | None) -> bool:
    """Return whether figures belong, or may belong, to another company or period than the question asks for.

    Balance sheets look alike, so the company and period must be explicit. The passage or its title must contain each
    name and figure of the question, and the document's name or title must contain at least one word of the question.

    Parameters
    ----------
    question : str
        The question without the measures.
    passage, title : str
    document : str or None
        The document's name and title; ``None`` if only one document is searched.
    """
    question_text, passage_text, title_text = annotate(question), annotate(passage), annotate(title)
    # The capitalized first word of a question counts as a name, unless it is a question word such as "What".
    names = [word for word in question_text.names if not is_question_word(word)]
    if any(not contains_name_form(word, passage_text, title_text) for word in names):
        return True
    whole = annotate(f"{title} {passage}")
    if any(find_missing_figures(question_text, whole)) or (
        _QUARTER.search(question) and not _QUARTER.search(whole.text)
    ):
        return True
    question_words = [strip_possessive(word) for word in question_text.words if not is_question_word(word)]
    return document is not None and not any(
        len(word) >= MIN_SYMBOL_CHARS and contains_document_name(document, word) for word in question_words
    )
