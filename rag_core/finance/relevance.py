"""Whether figures are of the company and the period that a question asks for."""

from __future__ import annotations

import re

from rag_core.text.figures import missing_figures, squash_letters
from rag_core.text.names import FEWEST_LETTERS, annotate, is_asking, mentions_name, strip_possessive

# A year's figures are no quarter's.
_QUARTER = re.compile(r"\bq[1-4]\b|\b(?:quarter|three months|13 weeks)", re.IGNORECASE)


def is_other_entity_or_period(question: str, passage: str, title: str, document: str | None) -> bool:
    """Whether figures are, or may be, of another company or time than a question asks for.

    One balance sheet looks like another: what an ordinary sentence may leave open has to be said here.
    Each name and figure of the question must stand in the passage or its title, and one of its words in
    the document's name or title.

    Parameters
    ----------
    question : str
        Without the measures that it asks for.
    passage, title : str
    document : str or None
        Its name and title; ``None`` where it is the only one asked of.
    """
    asked, said, about = annotate(question), annotate(passage), annotate(title)
    # A document's name often runs words together: AMERICANEXPRESS_2022.pdf.
    named = squash_letters(title)
    # The first word too: what begins a question otherwise is known.
    names = [word for word in asked.names if not is_asking(word)]
    if any(strip_possessive(word) not in named and not mentions_name(word, said, about) for word in names):
        return True
    whole = annotate(f"{title} {passage}")
    if any(missing_figures(asked, whole)) or (_QUARTER.search(question) and not _QUARTER.search(whole.text)):
        return True
    own = [strip_possessive(word) for word in asked.words if not is_asking(word)]
    return document is not None and not any(
        len(word) >= FEWEST_LETTERS and word in squash_letters(document) for word in own
    )
