"""Write answers that consist of excerpts of pages, without a language model or after its text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rag_core.answering.answer_builder import AnswerBuilder, cite_span
from rag_core.answering.page_reading import PageReader
from rag_core.answering.passage_selection import select_passages
from rag_core.answering.set_answers import add_other_rows, describe_table, find_stems_to_quote, introduce_excerpts
from rag_core.answering.sources import SOURCES
from rag_core.answering.sources.candidates import Candidate, Quote
from rag_core.answering.sources.excerpts import find_line
from rag_core.answering.sources.selection import SHOWN, Selection, select
from rag_core.gate.features import ON_TOPIC
from rag_core.gate.presuppositions import describe_other_years
from rag_core.reading.excerpts import WHOLE_PAGES
from rag_core.text.identifiers import contains_identifier, find_asked_identifiers
from rag_core.text.place_requests import find_asked_kind
from rag_core.text.sections import PageText, find_section_name
from rag_core.text.struck import find_struck, remove_struck
from rag_core.text.words import find_content_stems
from rag_core.types.answers import CLOSEST_PASSAGES, Citation
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.documents import PageKey
from rag_core.types.places import Place, PlaceKind
from rag_core.types.retrieval import Gate, Passage
from rag_core.types.searches import SearchOutcome
from rag_core.types.tables import Table, TableRow
from rag_core.verification.verified_answer import REFUSED, VerifiedAnswer

# A refusal names the closest passages if one of them is on the topic with at least this probability.
MIN_TOPIC_OF_CLOSEST = 0.3
# Minimum probability with which an excerpt after the first has marked words; less probable marks are mostly wrong.
MIN_MARKED_BESIDE = 0.9


@dataclass(frozen=True, slots=True)
class ExcerptAnswer:
    """An answer that consists of excerpts.

    Attributes
    ----------
    answer : VerifiedAnswer
        The excerpts, or a refusal.
    passages : tuple of Passage
        The passages that the search found, and then others that the answer cites.
    gate : Gate
        The decision whether to answer, after the pages were read.
    other_years : str
        A notice if the first excerpt names other years than the question; see `describe_other_years`.
    """

    answer: VerifiedAnswer
    passages: tuple[Passage, ...]
    gate: Gate
    other_years: str = ""


def answer_with_excerpts(outcome: SearchOutcome, gate: Gate, reader: PageReader) -> ExcerptAnswer:
    """Return the excerpts that may answer a question, or a refusal that names the closest passages.

    ``gate`` is the decision before the pages are read. Some questions do not depend on this decision:

    - refused in any case: a question about a code, such as a part number, that no chunk of the ranking contains, and a
      question that only struck words answer;
    - answered in any case: a question for which a candidate contains the stems of `find_stems_to_quote`.
    """
    read = select_passages(outcome, outcome.passages)[:WHOLE_PAGES]
    # If the question names a place or asks for one, the right excerpt may not be among the best, so all are read.
    asked_kind = find_asked_kind(outcome.result.question)
    enough = None if outcome.places or asked_kind else SHOWN
    answers, page_texts = reader.compare_answers(outcome.result.question, read, outcome, enough)
    readable = {key: remove_struck(text) for key, text in page_texts.items()}
    candidates = [candidate for source in SOURCES for candidate in source.propose(answers, readable)]
    if outcome.places:
        candidates = [kept for one in candidates for place in outcome.places.places if (kept := _clip(one, place))]
    selection = select(candidates, gate, readable)
    struck = [words for text in page_texts.values() for words in find_struck(text)]
    quotes = [_quote(one, readable) for one in selection.excerpts] if struck else []
    if _asks_for_unknown_code(outcome) or _is_answered_by_struck(struck, quotes, outcome.result.question):
        selection = replace(selection, gate=replace(selection.gate, answerable=False))
    elif required := find_stems_to_quote(outcome, candidates, has_model=False):
        texts = [f"{describe_table(one)}\n{_quote(one, readable)}" for one in candidates]
        related = [one for one, text in zip(candidates, texts, strict=True) if required <= find_content_stems(text)]
        if related and not (selection.gate.answerable and selection.excerpts[0] in related):
            selection = select(related, gate, readable)
            selection = replace(selection, gate=selection.gate.overrule())
    if not selection.gate.answerable:
        return ExcerptAnswer(_refuse(selection), outcome.result.passages, selection.gate)
    selection = replace(selection, excerpts=tuple(add_other_rows(outcome, one) for one in selection.excerpts))
    above = [_find_unit_above(one, reader) for one in selection.excerpts]
    found = _add_passages(outcome, selection, [place for place in above if place], reader)
    other_years = _describe_other_years(outcome.result.question, selection.excerpts[0], readable)
    cited = [
        _cite(one, found, page_texts[one.page], is_marked=not other_years and _is_marked(one, selection))
        for one in selection.excerpts
    ]
    best, shown = selection.excerpts[0], min(len(selection.excerpts), SHOWN)
    answer = AnswerBuilder(introduce_excerpts(outcome, shown, best, _quote(best, page_texts)))
    for candidate, citations, place in zip(selection.excerpts[:SHOWN], cited, above, strict=False):
        answer.text += "\n\n"
        if asked_kind and (name := _find_place_name(asked_kind, candidate, page_texts[candidate.page], reader)):
            answer.text += f"{name}: "
        if candidate.unit:
            answer.text += candidate.unit
            if place and (citation := cite_span(place[0].page_key, place[1].start, place[1].end, found)):
                answer.cite(citation)
            answer.text += "\n\n"
        if candidate.table is None:
            # In the citations, the header of a mail follows the sentences of the mail. On the page, it precedes them.
            quotes = [" ".join(citation.quote.split()) for citation in reversed(citations)]
            answer.add_statement(" … ".join(quotes), *citations)
        else:
            answer.text += write_rows(candidate.table, candidate.rows) + "\n\n"
            answer.cite(*citations)
    more = tuple(citation for citations in cited[SHOWN:] for citation in citations)
    return ExcerptAnswer(replace(answer.build(), more=more), found, selection.gate, other_years)


def _describe_other_years(question: str, best: Candidate, page_texts: Mapping[PageKey, str]) -> str:
    headers = best.table.headers if best.table else ()
    above = [*(best.table.caption if best.table else ()), *(cell.text for row in headers for cell in row.cells)]
    quote = "\n".join([*above, _quote(best, page_texts)])
    return describe_other_years(question, quote, f"{page_texts[best.page]}\n{quote}", best.passage.full_title)


def _quote(candidate: Candidate, page_texts: Mapping[PageKey, str]) -> str:
    """Return the quoted text of a candidate."""
    return " ".join(page_texts[candidate.page][one.start : one.end] for one in candidate.quotes)


def _clip(candidate: Candidate, place: Place) -> Candidate | None:
    """Return the part of a candidate that is inside a place; ``None`` if no sentence or row of it is inside."""
    version_id, page = candidate.page
    first, last = place.spans.get(page, (0, 0))

    def clip(quotes: Iterable[Quote]) -> tuple[Quote, ...]:
        return tuple(
            Quote(
                max(one.start, first),
                min(one.end, last),
                tuple((start, end) for start, end in one.marks if first <= start and end <= last),
            )
            for one in quotes
            if place.overlaps(version_id, page, one.start, one.end)
        )

    if not candidate.rows:
        sentences = clip(candidate.quotes[:1])
        return replace(candidate, quotes=(*sentences, *clip(candidate.quotes[1:]))) if sentences else None
    unit, own = candidate.quotes[: -len(candidate.rows)], candidate.quotes[-len(candidate.rows) :]
    kept = [(clip([quote]), row) for quote, row in zip(own, candidate.rows, strict=True)]
    rows = tuple(row for quotes, row in kept if quotes)
    quotes = (*clip(unit), *(quote for quotes, _ in kept for quote in quotes))
    return replace(candidate, quotes=quotes, rows=rows) if rows else None


def _find_place_name(kind: PlaceKind, candidate: Candidate, page_text: str, reader: PageReader) -> str:
    """Return the name of the page or the section with an excerpt, whichever ``kind`` asks for; empty without a name."""
    if kind == "page":
        return f"Page {candidate.passage.page_label}"
    first = candidate.quotes[0]
    place = first.marks[0][0] if first.marks else first.start
    content = PageText(page_text, headings=reader.read_headings(candidate.page))
    return find_section_name(content, place, kind) or candidate.passage.heading.split(HEADING_SEPARATOR)[-1]


def _asks_for_unknown_code(outcome: SearchOutcome) -> bool:
    """Return whether a question names codes, and no chunk of the ranking contains any of them."""
    codes = find_asked_identifiers(outcome.result.question)
    chunks = outcome.ranked.rows.values()
    return bool(codes) and not any(contains_identifier(chunk.text, codes) for chunk in chunks)


def _is_answered_by_struck(struck: Sequence[str], quotes: Sequence[str], question: str) -> bool:
    """Return whether struck words answer a question.

    A struck text must contain all of the question's words or all but one, at least two words, and more than any quote.
    """
    asked = find_content_stems(question)
    most, others = (max((len(asked & find_content_stems(one)) for one in some), default=0) for some in (struck, quotes))
    return most > max(1, others, len(asked) - 2)


def write_rows(table: Table, rows: Sequence[TableRow]) -> str:
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


def _find_unit_above(candidate: Candidate, reader: PageReader) -> tuple[Passage, Quote] | None:
    """Return where the first page of a candidate's table states the unit: a passage with this page, and the quote.

    Return ``None`` if the page of the candidate itself states the unit, or if the unit was not found.
    """
    table = candidate.table
    if not candidate.unit or len(candidate.quotes) > len(candidate.rows) or table is None or table.first_page is None:
        return None
    version, page = candidate.passage.version_id, table.first_page
    text, _ = reader.read_pages(version, [page]).get(page, ("", ()))
    place = find_line(text, candidate.unit, len(text))
    return (replace(candidate.passage, page_index=page, page_index_end=page), place) if place else None


def _add_passages(
    outcome: SearchOutcome, selection: Selection, units: Sequence[tuple[Passage, Quote]], reader: PageReader
) -> tuple[Passage, ...]:
    """Return the passages of the search, followed by those that contain the beginning of an excerpt or of a unit.

    If no chunk contains the beginning of an excerpt, the best passage of its page is added. For example, a line that
    every page repeats is in no chunk.
    """
    for page, place in units:
        outcome = reader.add_passage_at(outcome, page, place.start)
    for one in selection.excerpts:
        outcome = reader.add_passage_at(outcome, one.passage, one.start)
        found = outcome.result.passages
        if all(passage.page_key != one.page for passage in found):
            found = (*found, replace(one.passage, rank=len(found) + 1))
            outcome = replace(outcome, result=replace(outcome.result, passages=found))
    return outcome.result.passages


def _is_marked(candidate: Candidate, selection: Selection) -> bool:
    """Return whether to mark the words that the reading model found in an excerpt.

    If the document lacks a name or the year of the question, the words are about someone or something else and are not
    marked. In an excerpt after the first, words are marked only if they are almost certain.
    """
    is_first = candidate is selection.excerpts[0]
    return not candidate.passage.lacks_name and (is_first or candidate.probability >= MIN_MARKED_BESIDE)


def _cite(candidate: Candidate, passages: Sequence[Passage], page_text: str, *, is_marked: bool) -> list[Citation]:
    """Return a citation for each quote of an excerpt, all with the number of one passage.

    The passage is the one that contains most of the excerpt's sentences, or of its first row.
    """
    first = next(one for one in candidate.quotes if one.start == candidate.start)

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
            marks=one.marks if is_marked else (),
        )
        for one in candidate.quotes
    ]


def _refuse(selection: Selection) -> VerifiedAnswer:
    """Return a refusal that names the pages of the closest passages, if one of them is on the topic."""
    closest = [one.passage for one in selection.excerpts[:SHOWN]]
    if not any((one.scores.get(ON_TOPIC) or 0.0) >= MIN_TOPIC_OF_CLOSEST for one in closest):
        return REFUSED
    pages = dict.fromkeys(one.page_name for one in closest)
    return VerifiedAnswer(CLOSEST_PASSAGES.format(pages="; ".join(pages)), refused=True)
