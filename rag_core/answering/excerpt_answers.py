"""Write answers that consist of excerpts of pages; they replace or follow a language model's text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_core.answering.answer_text import AnswerBuilder
from rag_core.answering.page_reading import PageReader
from rag_core.answering.passage_selection import select_passages
from rag_core.answering.sources import SOURCES
from rag_core.answering.sources.candidates import Candidate
from rag_core.answering.sources.selection import SHOWN, Selection, select
from rag_core.gate.features import ON_TOPIC
from rag_core.reading.excerpts import WHOLE_PAGES
from rag_core.text.identifiers import contains_identifier, find_asked_identifiers
from rag_core.text.struck import remove_struck
from rag_core.types.answers import CLOSEST_PASSAGES, Citation
from rag_core.types.retrieval import Gate, Passage
from rag_core.types.searches import SearchOutcome
from rag_core.types.tables import Table, TableRow
from rag_core.verification.verified_answer import REFUSED, VerifiedAnswer

# A passage is close to the question if it is on the topic with at least this probability.
MIN_TOPIC_OF_CLOSEST = 0.3
INTRODUCTION = "These passages may answer your question."


@dataclass(frozen=True, slots=True)
class ExcerptAnswer:
    """An answer that consists of excerpts.

    Attributes
    ----------
    answer : VerifiedAnswer
    passages : tuple of Passage
        The passages that were found, and others that the answer cites.
    gate : Gate
        The decision whether to answer, after the pages were read.
    """

    answer: VerifiedAnswer
    passages: tuple[Passage, ...]
    gate: Gate


def answer_with_excerpts(outcome: SearchOutcome, gate: Gate, reader: PageReader) -> ExcerptAnswer:
    """Return the excerpts that may answer a question, or a refusal that names the closest passages.

    A question about a code that none of the chunks that were found contains is refused.
    """
    read = select_passages(outcome, outcome.passages)[:WHOLE_PAGES]
    answers, page_texts = reader.compare_answers(outcome.result.question, read, outcome)
    readable = {key: remove_struck(text) for key, text in page_texts.items()}
    candidates = [candidate for source in SOURCES for candidate in source.propose(answers, readable)]
    selection = select(candidates, gate, readable)
    if _asks_for_unknown_code(outcome):
        selection = replace(selection, gate=replace(selection.gate, answerable=False))
    if not selection.gate.answerable:
        return ExcerptAnswer(_refuse(selection), outcome.result.passages, selection.gate)
    found = _add_passages(outcome, selection, reader)
    cited = [_cite(one, found, page_texts[one.page]) for one in selection.excerpts]
    answer = AnswerBuilder(INTRODUCTION)
    for candidate, citations in zip(selection.excerpts[:SHOWN], cited, strict=False):
        answer.text += "\n\n"
        if candidate.table is None:
            answer.add_statement(" ".join(citations[0].quote.split()), *citations)
        else:
            answer.text += _write_rows(candidate.table, candidate.rows) + "\n\n"
            answer.cite(*citations)
    more = tuple(citation for citations in cited[SHOWN:] for citation in citations)
    return ExcerptAnswer(replace(answer.build(), more=more), found, selection.gate)


def _asks_for_unknown_code(outcome: SearchOutcome) -> bool:
    """Return whether a question names codes, and none of the chunks that were found contains one of them."""
    codes = find_asked_identifiers(outcome.result.question)
    chunks = outcome.ranked.rows.values()
    return bool(codes) and not any(contains_identifier(chunk.text, codes) for chunk in chunks)


def _write_rows(table: Table, rows: Sequence[TableRow]) -> str:
    """Return rows of a table below its header, in Markdown without blanks around the cells."""
    width = len(table.columns)
    lines = [[table.column_header(column) for column in range(width)], ["---"] * width]
    for row in rows:
        texts = [""] * width
        for cell in row.cells:
            texts[cell.column] = cell.text
        lines.append([table.row_label(row) or texts[0], *texts[1:]])
    return "\n".join(
        f"|{'|'.join(' '.join(one.split()).replace('|', chr(92) + '|') for one in line)}|" for line in lines
    )


def _add_passages(outcome: SearchOutcome, selection: Selection, reader: PageReader) -> tuple[Passage, ...]:
    """Return the passages that were found, and those that contain the beginning of an excerpt.

    If no chunk contains it, such as in a line that every page repeats, the best passage of its page is added.
    """
    for one in selection.excerpts:
        outcome = reader.add_passage(outcome, one.passage, one.quotes[0].start)
        found = outcome.result.passages
        if all(passage.page_key != one.page for passage in found):
            found = (*found, replace(one.passage, rank=len(found) + 1))
            outcome = replace(outcome, result=replace(outcome.result, passages=found))
    return outcome.result.passages


def _cite(candidate: Candidate, passages: Sequence[Passage], page_text: str) -> list[Citation]:
    """Return the citations of an excerpt, all with the number of the passage that contains most of its first quote."""
    first = candidate.quotes[0]

    def measure_overlap(passage: Passage) -> int:
        end = passage.start + len(passage.first_page_text)
        return min(end, first.end) - max(passage.start, first.start)

    passage = max((one for one in passages if one.page_key == candidate.page), key=measure_overlap)
    return [
        replace(
            Citation.of(passage, 0, 0),
            quote=page_text[one.start : one.end],
            start=one.start,
            end=one.end,
            marks=one.marks,
        )
        for one in candidate.quotes
    ]


def _refuse(selection: Selection) -> VerifiedAnswer:
    """Return a refusal that names the pages of the closest passages, if one of them is on the topic."""
    closest = [one.passage for one in selection.excerpts[:SHOWN]]
    if not any((one.scores.get(ON_TOPIC) or 0.0) >= MIN_TOPIC_OF_CLOSEST for one in closest):
        return REFUSED
    pages = dict.fromkeys(f"{one.document}, page {one.page_label}" for one in closest)
    return VerifiedAnswer(CLOSEST_PASSAGES.format(pages="; ".join(pages)), refused=True)
