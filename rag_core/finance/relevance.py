"""Compare the company and period of figures with those of a question."""

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

# Words for quarters. The figures of a whole year do not answer a question about a quarter.
_QUARTER = re.compile(rf"\b(?:{QUARTER}|[1-4]Q(?:\d\d)?)\b|\b(?:quarter|three months|13 weeks)", re.IGNORECASE)


def is_other_entity_or_period(question: str, passage: str, title: str, document: str | None) -> bool:
    """Return whether figures belong, or may belong, to another company or period than those of the question.

    Company and period must be explicit, because balance sheets are alike. The result is true unless

    - the passage or its title contains each name and figure of the question,
    - the passage or its title names a quarter, if the question does, and
    - the name or title of the document contains a word of the question.

    Parameters
    ----------
    question : str
        The question without measures such as "current ratio".
    passage, title : str
        Text and title of the passage with the figures.
    document : str or None
        Name and title of the document; ``None`` if only one document is searched.
    """
    question_text, passage_text, title_text = annotate(question), annotate(passage), annotate(title)
    # The first word of a question is a name as well, unless it is a question word such as "What".
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
