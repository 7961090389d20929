"""Read the pages of passages: find answers, and load texts, tables, headings and dates."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from rag_core.finance.measures import find_statement_pages
from rag_core.gate.calibration import load_calibration
from rag_core.llm.prompt_tables import write_tables
from rag_core.reading.answer_finding import FoundAnswer, find_answers
from rag_core.reading.similarity import PageSimilarity, skip_comparison
from rag_core.reading.title_names import read_with_forms
from rag_core.retrieval.chunk_data import load_passage_tokens
from rag_core.retrieval.passages import build_passage
from rag_core.runtime.models import LocalModels
from rag_core.runtime.stores import Stores
from rag_core.text.calendar_dates import find_dates
from rag_core.text.struck import may_lack_struck, remove_struck
from rag_core.types.answers import Answer, Citation
from rag_core.types.chunks import PAGE_BREAK
from rag_core.types.documents import Heading, PageKey
from rag_core.types.retrieval import Passage, Reading
from rag_core.types.searches import SearchOutcome
from rag_core.types.tables import Span, Table

# Number of characters at the beginning of a document in which its date is looked for.
_TOP = 1000


class PageReader:
    """Reads passages and their pages: finds answers with the answerability model, and loads texts, tables and headings.

    Parameters
    ----------
    stores : Stores
    models : LocalModels
    """

    def __init__(self, stores: Stores, models: LocalModels) -> None:
        self._stores = stores
        self._models = models

    def find_answers(self, question: str, passages: Sequence[Passage]) -> list[FoundAnswer]:
        """Return the answers in passages and their pages, best first."""
        texts, tables = self._load_contents(passages)
        readable = {key: remove_struck(text) for key, text in texts.items()}
        found = find_answers(question, passages, readable, tables, self._models.answerability_model(), skip_comparison)
        return [one for one in found if one.text]

    def compare_answers(
        self, question: str, passages: Sequence[Passage], outcome: SearchOutcome, enough: int | None
    ) -> tuple[list[FoundAnswer], dict[PageKey, str]]:
        """Return the answers in passages and their pages, best first, and the texts of the pages.

        Besides the reading model, the comparison of the token vectors of question and pages decides which answers are
        best. The texts contain struck words, but no answer is in them. If a page was deleted during the search, its
        text consists of its passages, with blanks before and between them. See `find_answers` for ``enough``.
        """
        texts, tables = self._load_contents(passages)
        compare = self._create_similarity(outcome, passages).compare
        readable = {key: remove_struck(text) for key, text in texts.items()}
        read = read_with_forms(self._models.answerability_model(), outcome.ranked.forms)
        found = find_answers(question, passages, readable, tables, read, compare, outcome.ranked.dates, enough)
        return found, _join_passages([one for one in passages if one.page_key not in texts]) | texts

    def find_answers_inside(self, question: str, passage: Passage) -> list[FoundAnswer]:
        """Return the answers in a passage, best first, without reading the rest of its page."""
        _, tables = self._load_contents([passage])
        return find_answers(question, [passage], {}, tables, self._models.answerability_model(), skip_comparison)

    def _create_similarity(self, outcome: SearchOutcome, passages: Sequence[Passage]) -> PageSimilarity:
        """Return the comparison of the question with the pages of passages, by the token vectors of their chunks."""
        questions = {one.page_key: outcome.ranked.get_question(int(one.chunk_id)) for one in reversed(passages)}
        rows = [
            row
            for version_id, page in questions
            for row in self._stores.documents.chunk_rows(version_id, page)
            if row.page_index == page
        ]
        known = outcome.ranked.vectors
        vectors = {**known, **self._stores.embeddings.read_tokens([row.id for row in rows if row.id not in known])}
        tokens = load_passage_tokens(rows, vectors, outcome.ranked.embedder)
        chunks = [((row.version_id, row.page_index), row.start, tokens[row.id]) for row in rows if row.id in tokens]
        calibration = load_calibration(outcome.ranked.embedder.identity)
        return PageSimilarity(questions, chunks, calibration.similarity_slope, calibration.similarity_intercept)

    def _load_contents(self, passages: Sequence[Passage]) -> tuple[dict[PageKey, str], dict[PageKey, Sequence[Table]]]:
        """Return the texts and the tables of the pages on which passages begin, by page."""
        contents = self._stores.documents.page_contents(sorted({one.page_key for one in passages}))
        texts = {key: text for key, (text, _) in contents.items()}
        return texts, {key: tables for key, (_, tables) in contents.items()}

    def read(self, pairs: Sequence[tuple[str, str]]) -> Iterator[Reading]:
        """Yield the reading of each pair of a question and a text by the answerability model."""
        return self._models.answerability_model()(pairs)

    def read_pages(self, version_id: str, pages: Sequence[int]) -> dict[int, tuple[str, Sequence[Table]]]:
        """Return the text, without struck words, and the tables of pages of a document, by the index of the page."""
        contents = self._stores.documents.page_contents([(version_id, page) for page in pages])
        return {page: (remove_struck(text), tables) for (_, page), (text, tables) in contents.items()}

    def read_headings(self, page: PageKey) -> Sequence[Heading]:
        """Return the headings of a page of a version."""
        known = self._stores.documents.page_headings(page[0])
        return next((one.headings or () for one in known if one.page_index == page[1]), ())

    def write_tables(self, passages: Sequence[Passage]) -> list[Passage]:
        """Return copies of passages for a prompt, with tables in Markdown; see `prompt_tables.write_tables`."""
        pages = {(one.version_id, page) for one in passages for page in (one.page_index, one.page_index_end)}
        return write_tables(passages, self._stores.documents.tables(sorted(pages)))

    def write_pages(self, pages: Sequence[Passage], skipped: Mapping[PageKey, Sequence[Span]]) -> list[Passage]:
        """Return copies of whole pages for a prompt, with tables in Markdown.

        ``skipped`` are the spans of headers and footers, which the copies lack.
        """
        return write_tables(pages, self._stores.documents.tables([one.page_key for one in pages]), skipped)

    def find_document_date(self, version_id: str) -> str:
        """Return the first date with a year at the top of a document, as written; empty if there is none."""
        contents = self._stores.documents.page_texts([(version_id, 0)])
        dates = (
            one
            for text, _ in contents.values()
            for one in find_dates(remove_struck(text)[:_TOP])
            if one.readings[0].year
        )
        return next((one.text for one in dates), "")

    def restore_struck(self, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """Return passages with their struck words, which are in the texts of pages but not in the texts of chunks."""
        lacking = [one for one in passages if may_lack_struck(one.text)]
        keys = {(one.version_id, page) for one in lacking for page in one.page_indices}
        texts = {key: text for key, (text, _) in self._stores.documents.page_texts(keys).items()} if keys else {}
        return tuple(_restore_struck(one, texts) for one in passages)

    def restore_struck_in_answer(self, answer: Answer) -> Answer:
        """Return an answer whose passages and quotes contain the struck words of their pages."""
        quotes = [*answer.citations, *answer.more]
        keys = {(one.version_id, one.page_index) for one in quotes if may_lack_struck(one.quote)}
        texts = {key: text for key, (text, _) in self._stores.documents.page_texts(keys).items()} if keys else {}

        def quote(one: Citation) -> Citation:
            text = texts.get((one.version_id, one.page_index), "")[one.start : one.end]
            return replace(one, quote=text) if len(text) == len(one.quote) else one

        citations, more = (tuple(map(quote, some)) for some in (answer.citations, answer.more))
        return replace(answer, passages=self.restore_struck(answer.passages), citations=citations, more=more)

    def find_statement_pages(self, version_id: str, titles: Collection[str]) -> list[int]:
        """Return the indices of the pages with financial statements; see `measures.find_statement_pages`."""
        pages = self._stores.documents.page_headings(version_id)
        headings = {one.page_index: one.headings or () for one in pages}
        return find_statement_pages(self._stores.documents.texts_of_version(version_id), headings, titles)

    def add_passage_at(self, outcome: SearchOutcome, best: Passage, start: int) -> SearchOutcome:
        """Return an outcome in which a passage contains an offset of a page.

        ``best`` is a passage on the page, and ``start`` the offset in the text of the page. If no passage of the
        outcome contains the offset, the chunk that contains it becomes the last passage, with the scores of ``best``.
        If there is no such chunk, the outcome does not change.
        """
        passages = outcome.result.passages
        on_page = [one for one in passages if one.page_key == best.page_key]
        if any(one.start <= start < one.start + len(one.first_page_text) for one in on_page):
            return outcome
        rows = self._stores.documents.chunk_rows(best.version_id, best.page_index)
        on_page_rows = (row for row in rows if row.page_index == best.page_index)
        row = next((row for row in on_page_rows if row.start <= start < row.start + len(row.text)), None)
        if row is None or any(one.chunk_id == str(row.id) for one in passages):
            return outcome
        added = replace(build_passage(len(passages) + 1, row, {}), scores=best.scores)
        tokens = load_passage_tokens([row], self._stores.embeddings.read_tokens([row.id]), outcome.ranked.embedder)
        result = replace(outcome.result, passages=(*passages, added))
        return replace(outcome, result=result, tokens={**outcome.tokens, **tokens})


def _restore_struck(passage: Passage, page_texts: Mapping[PageKey, str]) -> Passage:
    """Return a passage with the text of its pages at its offsets; unchanged if that text has another length."""
    first, last = (
        page_texts.get((passage.version_id, page), "") for page in (passage.page_index, passage.page_index_end)
    )
    text = first[passage.start : passage.end]
    if passage.page_index_end != passage.page_index:
        text = f"{first[passage.start : passage.start + len(passage.first_page_text)]}{PAGE_BREAK}"
        text += last[passage.end - (len(passage.text) - len(text)) : passage.end]
    return replace(passage, text=text) if len(text) == len(passage.text) else passage


def _join_passages(passages: Sequence[Passage]) -> dict[PageKey, str]:
    """Return the texts of pages as far as passages contain them, with blanks in place of other text."""
    texts: dict[PageKey, str] = {}
    for one in sorted(passages, key=lambda one: one.start + len(one.first_page_text)):
        before = texts.get(one.page_key, "")[: one.start]
        texts[one.page_key] = before.ljust(one.start) + one.first_page_text
    return texts
