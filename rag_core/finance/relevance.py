"""Comparison of the company and period of figures with those of a question."""

from __future__ import annotations

import re

from rag_core.text.dates import QUARTER
from rag_core.text.figures import missing_figures, squash_letters
from rag_core.text.names import FEWEST_LETTERS, annotate, is_asking, mentions_name, strip_possessive

# Quarterly periods, which the figures of a year do not answer.
_QUARTER = re.compile(rf"\b{QUARTER}\b|\b(?:quarter|three months|13 weeks)", re.IGNORECASE)


def is_other_entity_or_period(question: str, passage: str, title: str, document: str | None) -> bool:
    """Return whether figures belong, or may belong, to another company or period than the question asks for.

    Balance sheets look alike, so company and period must be explicit: the passage or its title must contain each name
    and figure of the question, and the document's name or title at least one word of it.

    Parameters
    ----------
    question : str
        The question without the measures.
    passage, title : str
    document : str or None
        The document's name and title; ``None`` if only one document is searched.
    """
    question_text, passage_text, title_text = annotate(question), annotate(passage), annotate(title)
    # Document names often join words: AMERICANEXPRESS_2022.pdf.
    named = squash_letters(title)
    # The first word counts too, because `is_asking` recognises the other words that begin questions.
    names = [word for word in question_text.names if not is_asking(word)]
    if any(strip_possessive(word) not in named and not mentions_name(word, passage_text, title_text) for word in names):
        return True
    whole = annotate(f"{title} {passage}")
    if any(missing_figures(question_text, whole)) or (_QUARTER.search(question) and not _QUARTER.search(whole.text)):
        return True
    question_words = [strip_possessive(word) for word in question_text.words if not is_asking(word)]
    return document is not None and not any(
        len(word) >= FEWEST_LETTERS and word in squash_letters(document) for word in question_words
    )
