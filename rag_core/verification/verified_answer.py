"""An answer with its citations, and the verdict on each of its statements."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.types import REFUSAL, Citation, Claim


@dataclass(frozen=True, slots=True)
class VerifiedAnswer:
    """The text of an answer with its final markers, their quotes, and the verdict on each statement.

    ``short`` is the short answer in the statements of a language model; empty if none is probable enough. ``refused``
    is true if the text only says that the documents do not contain the answer. ``quotes_start`` is the offset of the
    excerpts that follow a language model's text. ``unchecked`` is true if the text is in another language than its
    sources. ``more`` contains the citations of further excerpts, which the text leaves out.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    statements: tuple[Claim, ...] = ()
    short: str = ""
    refused: bool = False
    quotes_start: int | None = None
    unchecked: bool = False
    more: tuple[Citation, ...] = ()


REFUSED = VerifiedAnswer(REFUSAL, refused=True)
