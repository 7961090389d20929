"""Format the text of quoted answers: the value in bold, what it belongs to, the quote, and refusals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from rag_core.reading.statement_reading import ReadStatement
from rag_core.text.words import find_content_stems, tokenize
from rag_core.types import Citation, Claim, Passage
from rag_core.types.documents import PageKey
from rag_core.types.searches import SearchOutcome
from rag_core.verification.verifier import REFUSED, VerifiedAnswer

# Most words of the closest statement in a refusal.
MAX_CLOSEST_WORDS = 40


def open_with_value(value: str, labels: Sequence[str] = ()) -> str:
    """Return the beginning of an answer: the value in bold, and what it belongs to.

    >>> open_with_value("$14,694 million", ["net sales", "fiscal 2023"])
    '**$14,694 million** · net sales, fiscal 2023'
    """
    shown = ", ".join(label.rstrip(": ") for label in labels if label)
    return f"**{value}**{shown and f' · {shown}'}"


@dataclass(slots=True)
class AnswerBuilder:
    """Builds an answer from statements with their markers; ``text`` may get other text between them."""

    text: str = ""
    citations: dict[Citation, None] = field(default_factory=dict)
    statements: list[Claim] = field(default_factory=list)

    def add_statement(self, statement: str, *citations: Citation, after: str = "") -> None:
        """Add a supported statement, the text ``after`` it, and the markers of its citations."""
        self.statements.append(Claim(len(self.text), len(self.text) + len(statement), True))
        self.text += statement + after
        if citations:
            self.cite(*citations)

    def cite(self, *citations: Citation) -> None:
        """Add a space and the markers of citations, each marker and each citation once."""
        self.text += " " + "".join(dict.fromkeys(f"[{one.marker}]" for one in citations))
        self.citations.update(dict.fromkeys(citations))

    def build(self, short: str = "") -> VerifiedAnswer:
        return VerifiedAnswer(self.text, tuple(self.citations), tuple(self.statements), short)


def write_quotes(quotes: Sequence[tuple[Citation, bool]], lead: str = "", short: str = "") -> VerifiedAnswer:
    """Return an answer that consists of quotes, with a text before them.

    Parameters
    ----------
    quotes : sequence of (Citation, bool)
        The citations, and whether an ellipsis follows the quote because its list goes on.
    lead, short : str
        The text before the quotes, and the short answer.
    """
    answer = AnswerBuilder(f"{lead}\n\n" if lead and quotes else lead)
    for number, (citation, is_cut) in enumerate(quotes):
        answer.text += " " if number else ""
        answer.add_statement(" ".join(citation.quote.split()), citation, after=" …" if is_cut else "")
    return answer.build(short)


def name_source(outcome: SearchOutcome, citation: Citation) -> str:
    """Return the name of the document of a citation, if several were found and neither question nor quote names it."""
    if len({one.document_id for one in outcome.passages}) < 2:
        return ""
    known = {word.stem for word in tokenize(f"{outcome.result.question} {citation.quote}")}
    name = PurePosixPath(citation.document).stem
    return "" if find_content_stems(name) <= known else citation.document


def write_pieces(pieces: Iterable[tuple[str, Sequence[Citation]]], short: str = "") -> VerifiedAnswer:
    """Return an answer that consists of pieces of text, each followed by its citations.

    The text from one marker to the next is a supported statement.
    """
    answer, statement = AnswerBuilder(), ""
    for piece, cited in pieces:
        statement += piece
        if cited:
            # White space separates a statement from the marker before it.
            stripped = statement.lstrip()
            answer.text += statement.removesuffix(stripped)
            answer.add_statement(stripped, *cited)
            statement = ""
    answer.text += statement
    return answer.build(short)


def cite_span(page: PageKey, start: int, end: int, passages: Sequence[Passage]) -> Citation | None:
    """Return the citation of a span of a page; ``None`` if the start of the span is in no passage.

    A passage that contains the whole span is preferred to one that contains only its start.
    """
    on_page = [one for one in passages if one.page_key == page]
    whole = (one for one in on_page if one.start <= start and end <= one.start + len(one.first_page_text))
    with_start = (one for one in on_page if one.start <= start < one.start + len(one.first_page_text))
    passage = next(whole, None) or next(with_start, None)
    if passage is None:
        return None
    return Citation.of(passage, start - passage.start, min(end - passage.start, len(passage.first_page_text)))


def refuse_with_closest(statement: ReadStatement | None) -> VerifiedAnswer:
    """Return a refusal that quotes the closest statement, if there is one."""
    if statement is None:
        return REFUSED
    words = statement.text.split()
    quote = " ".join(words[:MAX_CLOSEST_WORDS]) + (" …" if len(words) > MAX_CLOSEST_WORDS else "")
    passage = statement.passage
    text = f"Not stated. Closest: “{quote}” ({passage.document}, page {passage.page_label})"
    return VerifiedAnswer(text, refused=True)
