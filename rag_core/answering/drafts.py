"""The text of a language model, and the quotes that follow or replace it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rag_core.answering.trace import AnswerTrace
from rag_core.verification.verifier import VerifiedAnswer

NOTHING_FOUND = "Nothing in this answer was found in the sources."
CLOSEST_BELOW = "The closest sentences are quoted below it."
QUOTES_BELOW = "Quotes from the documents follow the text."
QUOTED_INSTEAD = "Quoted from the documents instead."


@dataclass(frozen=True, slots=True)
class Draft:
    """A language model's answer.

    ``problem`` describes a failure, after which quotes follow or replace the answer; empty if there was none.
    """

    answer: VerifiedAnswer
    problem: str = ""

    @property
    def nothing_found(self) -> bool:
        """Whether the answer has statements and the sources cover none of them."""
        statements = self.answer.statements
        return bool(statements) and all(one.mark == "not_found" for one in statements)


def join_quotes(draft: Draft, quotes: VerifiedAnswer, trace: AnswerTrace) -> VerifiedAnswer:
    """Return the draft with the quotes after it; add the reason for the quotes to the notices."""
    written = draft.answer
    if draft.problem:
        place = QUOTES_BELOW if written.text else QUOTED_INSTEAD
        trace.notices.append(draft.problem if quotes.refused else f"{draft.problem} {place}")
    elif draft.nothing_found:
        trace.notices.append(NOTHING_FOUND if quotes.refused else f"{NOTHING_FOUND} {CLOSEST_BELOW}")
    if not written.text:
        return quotes
    if quotes.refused:
        return written
    start = len(written.text) + 2
    statements = [replace(one, start=one.start + start, end=one.end + start) for one in quotes.statements]
    return replace(
        written,
        text=f"{written.text}\n\n{quotes.text}",
        citations=(*written.citations, *quotes.citations),
        statements=(*written.statements, *statements),
        quotes_start=start,
    )
