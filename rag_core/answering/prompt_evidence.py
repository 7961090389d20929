"""The evidence in the prompt of a language model: passages, a hint at the answer, and a computed figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_core.answering.page_reading import PageReader
from rag_core.answering.passage_selection import select_passages
from rag_core.llm.prompts import Hint
from rag_core.reading.answer_finding import FoundAnswer
from rag_core.types.answers import Citation
from rag_core.types.retrieval import Passage
from rag_core.types.searches import SearchOutcome
from rag_core.verification.verified_answer import VerifiedAnswer, replace_markers

# Minimum probability of an answer of the reading model that becomes a hint. A wrong hint may mislead a language model.
HINT_PROBABILITY = 0.7


@dataclass(frozen=True, slots=True)
class ComputedFact:
    """A computed figure: a passage with the computation, which a model can cite, and the citations of its operands."""

    passage: Passage
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class PromptEvidence:
    """The evidence in the prompt.

    Attributes
    ----------
    outcome : SearchOutcome
        The passages of its result are those that the model gets.
    prompt_passages : tuple of Passage
        These passages with tables in Markdown, and the computed figure, if there is one.
    hint : Hint or None
        The computed figure, if there is one, or else where the reading model found the answer.
    fact : ComputedFact or None
        The computed figure.
    """

    outcome: SearchOutcome
    prompt_passages: tuple[Passage, ...]
    hint: Hint | None = None
    fact: ComputedFact | None = None

    @property
    def sources(self) -> tuple[Passage, ...]:
        """The passages against which the model's text is checked, with their text as it is on the page."""
        return (*self.outcome.result.passages, *([self.fact.passage] if self.fact else []))


def collect_evidence(outcome: SearchOutcome, reader: PageReader) -> PromptEvidence:
    """Return the evidence for a question."""
    if outcome.computed:
        fact = _create_fact(outcome)
        hint: Hint | None = Hint(fact.passage.rank, fact.passage.text)
        written = [*reader.write_tables(outcome.result.passages), fact.passage]
        return PromptEvidence(outcome, tuple(written), hint, fact)
    found = find_probable_answer(outcome.result.question, select_passages(outcome, outcome.result.passages), reader)
    if found is not None:
        outcome = reader.add_passage_at(outcome, found.passage, found.place.start)
    passages = outcome.result.passages
    return PromptEvidence(outcome, tuple(reader.write_tables(passages)), create_hint(found, passages))


def find_probable_answer(question: str, passages: Sequence[Passage], reader: PageReader) -> FoundAnswer | None:
    """Return the best answer that the reading model finds; ``None`` if its probability is below `HINT_PROBABILITY`."""
    best = next(iter(reader.find_answers(question, passages)), None)
    return best if best is not None and best.probability >= HINT_PROBABILITY else None


def create_hint(answer: FoundAnswer | None, passages: Sequence[Passage]) -> Hint | None:
    """Return a hint with the text around an answer; ``None`` if there is no answer, or if no passage contains it."""
    if answer is None:
        return None
    for passage in passages:
        start = answer.place.start - passage.start
        if passage.page_key == answer.passage.page_key and 0 <= start < len(passage.first_page_text):
            return Hint(passage.rank, answer.excerpt.text)
    return None


def cite_operands(answer: VerifiedAnswer, fact: ComputedFact) -> VerifiedAnswer:
    """Return the answer with its citations of a computed figure replaced by those of the operands."""
    rank = fact.passage.rank
    citations: dict[Citation, None] = {}
    for citation in answer.citations:
        given = fact.citations if citation.marker == rank else (citation,)
        citations.update(dict.fromkeys(replace(one, added=citation.added) for one in given))
    operands = list(dict.fromkeys(one.marker for one in fact.citations))
    return replace(replace_markers(answer, {rank: operands}), citations=tuple(citations))


def _create_fact(outcome: SearchOutcome) -> ComputedFact:
    text = "".join(piece for piece, _ in outcome.computed).strip()
    citations = tuple(dict.fromkeys(one for _, cited in outcome.computed for one in cited))
    passages = outcome.result.passages
    operand = next(one for one in passages if one.rank == citations[0].passage_rank)
    passage = replace(operand, rank=len(passages) + 1, chunk_id="", start=0, end=len(text), text=text, heading="")
    return ComputedFact(passage, citations)
