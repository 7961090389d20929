"""Find the answer to a question on the pages of the first passages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from rag_core.answering.passage_context import enlarge_passages
from rag_core.finance.measures import find_statement_pages
from rag_core.llm.prompt_tables import write_tables
from rag_core.reading.answer_finding import FoundAnswer, find_answers
from rag_core.reading.cell_values import remove_unit
from rag_core.reading.excerpts import add_caption
from rag_core.reading.similarity import SpanSimilarity
from rag_core.reading.statement_reading import ReadStatement, read_statements
from rag_core.retrieval.chunk_data import load_passage_tokens
from rag_core.retrieval.passages import build_passage
from rag_core.runtime.models import LocalModels
from rag_core.runtime.stores import Stores
from rag_core.text.words import tokenize
from rag_core.types import ChunkRow, Context, Passage, Reading, Table
from rag_core.types.documents import PageKey
from rag_core.types.searches import SearchOutcome
from rag_core.types.tables import TableRow


class PageReader:
    """Reads passages, and the whole pages of the first ones, with the answerability model.

    Parameters
    ----------
    stores : Stores
    models : LocalModels
    computes_figures : bool
        Whether questions for figures are answered from financial statements.
    context : {"passage", "neighbours", "page"}
        The context size, unless the configuration of the question says otherwise.
    """

    def __init__(
        self, stores: Stores, models: LocalModels, *, computes_figures: bool, context: Context = "passage"
    ) -> None:
        self._context = context
        self.computes_figures = computes_figures
        self._stores = stores
        self._models = models

    def enlarge_passages(self, outcome: SearchOutcome, context: Context | None) -> SearchOutcome:
        """Return the outcome with passages as large as the configuration or the settings say."""
        return enlarge_passages(outcome, context or self._context, self._stores)

    def find_answers(self, question: str, passages: Sequence[Passage]) -> list[FoundAnswer]:
        """Return the answers in passages and their pages, best first."""
        contents = self._load_pages(sorted({one.page_key for one in passages}))
        texts = {key: text for key, (text, _) in contents.items()}
        tables = {key: tables for key, (_, tables) in contents.items()}
        return find_answers(question, passages, texts, tables, self._models.answerability_model())

    def find_answers_inside(self, question: str, passage: Passage) -> list[FoundAnswer]:
        """Return the answers in one passage, best first, without the rest of its page."""
        tables = {key: tables for key, (_, tables) in self._load_pages([passage.page_key]).items()}
        return find_answers(question, [passage], {}, tables, self._models.answerability_model())

    def read(self, question: str, texts: Sequence[str]) -> Iterator[Reading]:
        """Yield the reading of each text by the answerability model."""
        return self._models.answerability_model()(question, texts)

    def read_pages(self, version_id: str, pages: Sequence[int]) -> dict[int, tuple[str, list[Table]]]:
        """Return the texts of pages of a document, and their tables with captions, by the index of the page."""
        contents = self._load_pages([(version_id, page) for page in pages])
        return {page: content for (_, page), content in contents.items()}

    def _load_pages(self, pages: Sequence[PageKey]) -> dict[PageKey, tuple[str, list[Table]]]:
        contents = self._stores.documents.page_contents(pages)
        return {page: (text, [add_caption(one, text) for one in tables]) for page, (text, tables) in contents.items()}

    def write_tables(self, passages: Sequence[Passage]) -> list[Passage]:
        """Return copies of passages with their tables in Markdown, for a prompt; see `prompt_tables.write_tables`."""
        pages = {(one.version_id, page) for one in passages for page in (one.page_index, one.page_index_end)}
        return write_tables(passages, self._stores.documents.tables(sorted(pages)))

    def write_pages(self, pages: Sequence[Passage]) -> list[Passage]:
        """Return copies of whole pages with their tables in Markdown, without headers and footers."""
        keys = [one.page_key for one in pages]
        documents = self._stores.documents
        return write_tables(pages, documents.tables(keys), documents.skipped_spans(keys))

    def find_statement_pages(self, version_id: str, titles: Collection[str]) -> list[int]:
        """Return the pages of a document with financial statements; see `measures.find_statement_pages`."""
        return find_statement_pages(self.read_texts(version_id), titles)

    def read_cover(self, version_id: str) -> str:
        """Return the text of the first two pages of a document."""
        contents = self._stores.documents.page_contents([(version_id, 0), (version_id, 1)])
        return "\n".join(text for text, _ in contents.values())

    def read_texts(self, version_id: str) -> dict[int, str]:
        """Return the texts of all pages of a document, by the index of the page."""
        return self._stores.documents.texts_of_version(version_id)

    def find_rows(self, version_id: str, label: str) -> Iterator[tuple[Table, TableRow]]:
        """Yield the rows of a document with the words of a label, except remarks in brackets, and their tables."""
        wanted = _split_label(label)
        if not wanted:
            return
        # Loading all tables of a long report would take longer than the rest of the answer.
        counts = self._count_words(version_id, wanted)
        pages = [page for page, count in counts.items() if count == len(wanted)]
        for table in (table for tables in self.create_table_loader(version_id)(pages).values() for table in tables):
            yield from ((table, row) for row in table.body if _split_label(row.label) == wanted)

    def find_tables(
        self, version_id: str, words: Collection[str], preferred: Collection[int], max_pages: int
    ) -> dict[int, tuple[Table, ...]]:
        """Return the tables of the pages that contain most of some words, by the index of the page, best page first.

        A page needs at least two of the words and three quarters of them. Of pages with equally many, those in
        ``preferred`` come first. At most ``max_pages`` pages are searched.
        """
        counts = self._count_words(version_id, words)
        enough = [page for page in counts if counts[page] >= max(2, 0.75 * len(words))]
        best = sorted(enough, key=lambda page: (-counts[page], page not in preferred))[:max_pages]
        tables = self.create_table_loader(version_id)(best)
        return {page: tables[page] for page in best if page in tables}

    def _count_words(self, version_id: str, words: Collection[str]) -> dict[int, int]:
        """Return how many of some words in lower case each page of a document contains."""
        texts = {page: text.casefold() for page, text in self.read_texts(version_id).items()}
        return {page: sum(word in text for word in words) for page, text in texts.items()}

    def create_table_loader(self, version_id: str) -> Callable[[Sequence[int]], dict[int, tuple[Table, ...]]]:
        """Return a function that returns the tables of pages of a document, by the index of the page."""

        def load(pages: Sequence[int]) -> dict[int, tuple[Table, ...]]:
            found = self._stores.documents.tables([(version_id, page) for page in pages])
            return {page: tables for (_, page), tables in found.items()}

        return load

    def read_statements(self, outcome: SearchOutcome, answers: Sequence[FoundAnswer]) -> list[ReadStatement]:
        """Return the statements of the excerpts with the best answers, those that answer best first."""
        ranked = outcome.ranked
        similarity = SpanSimilarity(ranked.question, ranked.token_weights, outcome.result.passages, outcome.tokens)
        return read_statements(outcome.result.question, answers, self._models.answerability_model(), similarity.compare)

    def add_passages(self, outcome: SearchOutcome, passage: Passage, start: int) -> SearchOutcome:
        """Return the outcome with the chunk that contains a place on the page of a passage, if no passage does."""
        return self.add_places(outcome, passage, [(passage.page_index, start, start + 1)])

    def add_places(
        self, outcome: SearchOutcome, best: Passage, places: Sequence[tuple[int, int, int]]
    ) -> SearchOutcome:
        """Return the outcome with the chunks that contain places, if no passage contains them.

        The added passages follow the others. They have the scores of ``best``.

        Parameters
        ----------
        outcome : SearchOutcome
        best : Passage
            The best passage of the document that contains the places.
        places : sequence of (int, int, int)
            Page index, and the start and the end of characters in the text of the page.
        """
        passages = list(outcome.result.passages)
        added: list[ChunkRow] = []
        for page, start, end in places:
            on_page = [one for one in passages if one.page_key == (best.version_id, page)]
            if any(one.start <= start and end <= one.start + len(one.first_page_text) for one in on_page):
                continue
            rows = [
                row
                for row in self._stores.documents.chunk_rows(best.version_id, page)
                if row.page_index == page and row.start <= start < row.start + len(row.text)
            ]
            # A chunk that contains the whole place is preferred to one that contains only its start.
            rows.sort(key=lambda row: row.start + len(row.text) < end)
            for row in rows[:1]:
                if all(one.chunk_id != str(row.id) for one in passages):
                    passages.append(replace(build_passage(len(passages) + 1, row, {}), scores=best.scores))
                    added.append(row)
        vectors = self._stores.embeddings.read_tokens([row.id for row in added])
        tokens = load_passage_tokens(added, vectors, outcome.ranked.embedder)
        return replace(
            outcome,
            result=replace(outcome.result, passages=tuple(passages)),
            tokens={**outcome.tokens, **tokens},
        )


def _split_label(label: str) -> list[str]:
    """Return the words of the label of a row in lower case, without a remark in brackets."""
    return [word.text.casefold() for word in tokenize(remove_unit(label))]
