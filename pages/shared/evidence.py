"""The evidence of an answer: passages, citations and highlights."""

from __future__ import annotations

from pages.shared.translation import _, translate_message
from rag_core.types.answer_markup import remove_formatting
from rag_core.types.answers import MARKER, Answer, AnswerState, Citation
from rag_core.types.retrieval import Passage

# If a model got more passages than this for an answer, only some of them are listed below it, each in an expander.
FEW = 5
# Number of pages that are listed first below a refusal without citations.
_CLOSEST = 3


def name_sources(answer: Answer) -> dict[int, str]:
    """Return a source such as ``report.pdf, page 57`` for each ``n`` that can occur in the answer as ``[n]``."""
    names = {
        passage.rank: _("{document}, page {page}", document=passage.document, page=passage.page_label)
        for passage in answer.passages
    }
    return names | {one.marker: f"{one.document}, {name_place(answer, one)}" for one in answer.citations}


def name_place(answer: Answer, citation: Citation) -> str:
    """Return the place of a citation: the cells of a sheet, such as ``Sales!C14``, or else a page (``page 57``)."""
    return answer.find_cells(citation.marker) or _("page {page}", page=citation.page_label)


def format_for_copy(answer: Answer) -> str:
    """Return an answer with its cited sources as plain text; an empty string for a refusal."""
    if answer.state is AnswerState.ABSTAINED:
        return ""
    text = answer.marked_text
    if answer.consists_of_excerpts:
        introduction, gap, excerpts = text.partition("\n\n")
        text = translate_message(introduction) + gap + excerpts
    listed = "\n".join(f"[{rank}] {name}" for rank, name in name_sources(answer).items() if f"[{rank}]" in answer.text)
    return "\n\n".join(
        part for part in ("" if answer.opens_with_short else answer.short, remove_formatting(text), listed) if part
    )


def find_linked_sources(answer: Answer) -> dict[int, str]:
    """Return the entries of `name_sources` that the answer cites or that a marked statement was compared with."""
    compared = {one.compared_rank for one in answer.statements if one.mark}
    names = name_sources(answer)
    return {rank: name for rank, name in names.items() if f"[{rank}]" in answer.text or rank in compared}


def find_citations(answer: Answer, passage: Passage) -> list[Citation]:
    """Return the citations of an answer, and of its further excerpts, that quote the passage."""
    return [one for one in (*answer.citations, *answer.more) if one.chunk_id == passage.chunk_id]


def find_passage(answer: Answer, marker: int) -> Passage | None:
    """Return the passage that ``[marker]`` refers to, if there is one."""
    chunks = [one.chunk_id for one in answer.citations if one.marker == marker]
    for passage in answer.passages:
        if passage.chunk_id in chunks or (not chunks and passage.rank == marker):
            return passage
    return None


def has_many_passages(answer: Answer) -> bool:
    """Return whether a model got too many passages to list those that the answer does not cite."""
    return answer.generator != "extractive" and len(answer.passages) > FEW


def consists_of_pages(answer: Answer) -> bool:
    """Return whether a model got whole pages in the order of the documents, instead of the best passages of a search.

    Pages that do not fit are replaced by some of their chunks. The gate has not scored such pages.
    """
    # The passages of a summary have no scores. The passages of a search have a score of the gate.
    scores = [one.scores for one in answer.passages]
    if answer.generator == "extractive" or not any(scores) or any("answerable" in one for one in scores):
        return False
    places = [(one.version_id, one.page_index) for one in answer.passages]
    documents = {version_id: place for place, version_id in enumerate(dict.fromkeys(one for one, _ in places))}
    are_whole = 2 * sum(one.start == 0 for one in answer.passages) > len(places)
    is_sorted = places == sorted(set(places), key=lambda place: (documents[place[0]], place[1]))
    return are_whole and is_sorted


def list_cited_passages(answer: Answer) -> list[Passage]:
    """Return the passages that an answer cites, in the order of the first citation."""
    markers = [*map(int, MARKER.findall(answer.text)), *(one.marker for one in answer.citations)]
    found = (find_passage(answer, marker) for marker in dict.fromkeys(markers))
    return list({one.rank: one for one in found if one}.values())


def list_first_passages(answer: Answer) -> list[Passage]:
    """Return the passages to list first: those that the answer cites, or the closest ones of a refusal."""
    cited = list_cited_passages(answer)
    if cited or answer.state is AnswerState.ANSWERED:
        return cited
    ranked = sorted(answer.passages, key=lambda one: -(one.scores.get("rerank") or 0.0))
    return answer.find_closest_passages() or ranked[:_CLOSEST]


def find_highlights(answer: Answer, passage: Passage, page_index: int) -> list[tuple[int, int]]:
    """Return the ``(start, end)`` offsets to highlight on a page.

    - If the answer cites the passage: the cited cells and quotes on the page.
    - If not, and the passages of the answer are whole pages: nothing.
    - Otherwise: the text of the passage on this page, if it is the first or the last page of the passage.
    """
    cited = find_citations(answer, passage)
    if cited:
        return [span for one in cited if one.page_index == page_index for span in answer.find_cited_spans(one)]
    if consists_of_pages(answer):
        return []
    if page_index == passage.page_index:
        return [(passage.start, passage.start + len(passage.first_page_text))]
    if page_index == passage.page_index_end:
        return [(0, passage.end)]
    return []


def find_quotes(answer: Answer, passage: Passage) -> list[tuple[int, int]]:
    """Return the ``(start, end)`` offsets, in the passage's text, of the cited cells and quotes on its first page."""
    return [
        (start - passage.start, end - passage.start)
        for one in find_citations(answer, passage)
        if one.page_index == passage.page_index
        for start, end in answer.find_cited_spans(one)
        if start >= passage.start
    ]


def format_quotes(answer: Answer, passage: Passage) -> str:
    """Return the quotes from a passage as plain text, a line for each, with the document and the page or cells.

    If the answer does not quote the passage, return the passage's text on its first page; an empty text if the
    passages are whole pages.
    """
    quotes = [(one.quote, one.cells or _("p. {page}", page=one.page_label)) for one in find_citations(answer, passage)]
    if not quotes and not consists_of_pages(answer):
        quotes = [(passage.first_page_text, _("p. {page}", page=passage.page_label))]
    return "\n".join(f"“{' '.join(quote.split())}” ({passage.document}, {place})" for quote, place in quotes)
