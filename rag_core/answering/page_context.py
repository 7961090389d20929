"""Select the pages that a capable language model reads for a question, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

from rag_core.answering.page_reading import PageReader
from rag_core.llm.context_budget import count_tokens
from rag_core.llm.page_prompt import format_source
from rag_core.retrieval.near_duplicates import fold_near_duplicates
from rag_core.retrieval.passages import build_passage
from rag_core.runtime.stores import Stores
from rag_core.types.chunks import ChunkRow
from rag_core.types.documents import PageKey
from rag_core.types.retrieval import Passage
from rag_core.types.searches import SearchOutcome

# Maximum number of pages that are considered; about as many fit into a budget of 200,000 tokens.
MAX_PAGES = 300
# Number of best pages that come before the pages of financial statements and the other pages of a short document.
FIRST_PAGES = 3
# Maximum share of the budget for a document that is sent whole.
WHOLE_SHARE = 0.5
# Assumed minimum number of tokens of a chunk, so that a document with very many chunks is excluded without reading it.
_MIN_TOKENS = 25
# The selection ends after this number of pages of which neither the page nor the best chunk fits.
_MAX_MISSES = 3
# Number of pages that are loaded at a time.
_BATCH = 8
# The scores of chunks: by the name of the score, then by chunk id.
Scores = Mapping[str, Mapping[int, float]]


@dataclass(frozen=True, slots=True)
class PageContext:
    """The sources in the prompt of a capable model.

    Attributes
    ----------
    sources : tuple of Passage
        Whole pages, and chunks of pages that do not fit, ordered by document and page; the document of the best source
        comes first. The ranks of the sources are their numbers in the prompt.
    prompt_sources : tuple of Passage
        The sources as they are in the prompt: with tables in Markdown, and without headers and footers.
    partial : frozenset of int
        Ranks of the sources that are only a part of their page.
    tokens : int
        Tokens of the sources in the prompt.
    order : tuple of int
        The ranks of the sources in the order in which they were selected, best first.
    """

    sources: tuple[Passage, ...]
    prompt_sources: tuple[Passage, ...]
    partial: frozenset[int]
    tokens: int
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Source:
    """A page or a chunk, as it is on the page and as it is in the prompt."""

    passage: Passage
    prompt_passage: Passage
    is_part: bool


class PageSelector:
    """Selects the pages of a prompt.

    Parameters
    ----------
    stores : Stores
    reader : PageReader
    """

    def __init__(self, stores: Stores, reader: PageReader) -> None:
        self._documents = stores.documents
        self._figures = stores.figures
        self._reader = reader

    def select(self, outcomes: Sequence[SearchOutcome], budget: int, *, opened: Sequence[PageKey] = ()) -> PageContext:
        """Return the pages that fit into the budget, in this order; if a page does not fit, return its best chunk.

        1. The pages that the model has opened.
        2. The pages of the first chunks: the best chunk of each search, the second of each search, and so on.
        3. The pages of the financial statements that the question needs, in the document with the best chunk.
        4. The other pages of the document with the best chunk, if the document is short.
        5. The pages of all other chunks.

        Near duplicates of a page are left out, and the page names them.

        Parameters
        ----------
        outcomes : sequence of SearchOutcome
            The outcome of the search for the question, and those of further searches.
        budget : int
            Maximum number of tokens of the sources.
        opened : sequence of PageKey
            The pages that the model has opened.
        """
        best = _find_best_chunks(outcomes)
        order = dict.fromkeys([*self._add_pages(opened, best), *self._list_pages(outcomes[0], best, budget)])
        keys = list(islice(order, MAX_PAGES))
        chosen: list[_Source] = []
        known: dict[int, ChunkRow] = {}
        scores = outcomes[0].ranked.ranking.scores
        spent = misses = 0
        for first in range(0, len(keys), _BATCH):
            batch = keys[first : first + _BATCH]
            contents = self._documents.page_texts(batch)
            rows = [_build_row(best[key], contents[key][0]) for key in batch if key in contents]
            known, pages = _fold_pages(rows, known, scores)
            pages = self._add_descriptions(pages)
            skipped = {key: spans for key, (_, spans) in contents.items()}
            for page, prompt_page in zip(pages, self._reader.write_pages(pages, skipped), strict=True):
                for source in self._list_sizes(page, prompt_page, best, scores):
                    cost = count_tokens(format_source(source.prompt_passage, is_part=source.is_part))
                    if spent + cost <= budget:
                        spent += cost
                        chosen.append(source)
                        break
                else:
                    misses += 1
                    if misses == _MAX_MISSES:
                        return _build_context(chosen, spent)
        return _build_context(chosen, spent)

    def _list_pages(self, outcome: SearchOutcome, best: dict[PageKey, ChunkRow], budget: int) -> Iterator[PageKey]:
        """Yield the pages of the items 2 to 5 of `select`, in this order; a page may occur several times.

        If the question names places, only ranked pages follow, because the search was limited to the places.
        """
        ranked = list(best)
        yield from ranked[:FIRST_PAGES]
        if ranked and outcome.places is None:
            version_id = ranked[0][0]
            plan = outcome.ranked.lookup.plan if outcome.ranked.lookup else None
            if plan is not None:
                pages = self._reader.find_statement_pages(version_id, plan.sections)
                yield from self._add_pages([(version_id, page) for page in pages], best)
            yield from self._add_pages(self._list_whole(version_id, budget), best)
        yield from ranked[FIRST_PAGES:]

    def _list_whole(self, version_id: str, budget: int) -> list[PageKey]:
        """Return all pages of a document that takes at most `WHOLE_SHARE` of the budget; otherwise no pages."""
        version = self._documents.version(version_id)
        most = int(WHOLE_SHARE * budget)
        if version is None or version.chunks * _MIN_TOKENS > most:
            return []
        texts = self._documents.texts_of_version(version_id)
        is_short = count_tokens("\n".join(texts.values())) <= most
        return [(version_id, page) for page in sorted(texts)] if is_short else []

    def _add_pages(self, pages: Sequence[PageKey], best: dict[PageKey, ChunkRow]) -> list[PageKey]:
        """Return the pages that have chunks; add those that ``best`` lacks to ``best``, with their first chunk."""
        for version_id in dict.fromkeys(version for version, page in pages if (version, page) not in best):
            for row in self._documents.chunk_rows(version_id):
                if (key := (row.version_id, row.page_index)) in pages:
                    best.setdefault(key, row)
        return [page for page in pages if page in best]

    def _add_descriptions(self, pages: Sequence[Passage]) -> list[Passage]:
        """Return pages with a model's descriptions of their figures."""
        found = self._figures.find([one.page_key for one in pages])
        return [
            replace(
                page,
                descriptions=tuple(
                    replace(one, caption=" ".join(page.text[one.start : one.end].split()))
                    for one in found.get(page.page_key, ())
                ),
            )
            for page in pages
        ]

    def _list_sizes(
        self, page: Passage, prompt_page: Passage, best: Mapping[PageKey, ChunkRow], scores: Scores
    ) -> Iterator[_Source]:
        """Yield the two sizes in which a page can be sent: the whole page, and the best chunk on it."""
        yield _Source(page, prompt_page, is_part=False)
        passage = build_passage(0, best[page.page_key], scores)
        inside = (one for one in page.descriptions if passage.start <= one.start < passage.start + len(passage.text))
        passage = replace(passage, descriptions=tuple(inside))
        yield _Source(passage, self._reader.write_tables([passage])[0], is_part=True)


def _find_best_chunks(outcomes: Sequence[SearchOutcome]) -> dict[PageKey, ChunkRow]:
    """Return the best chunk that begins on each page, by page, ordered by the ranks of the chunks.

    Chunks with the same rank in several searches are in the order of the searches.
    """
    rankings = [
        [int(one.chunk_id) for one in outcome.passages if one.chunk_id] + list(outcome.ranked.ranking.order)
        for outcome in outcomes
    ]
    rows = {chunk_id: row for outcome in outcomes for chunk_id, row in outcome.ranked.rows.items()}
    best: dict[PageKey, ChunkRow] = {}
    for chunk_id in (one for ranks in zip_longest(*rankings) for one in ranks):
        if (row := rows.get(chunk_id)) is not None:
            best.setdefault((row.version_id, row.page_index), row)
    return best


def _build_row(chunk: ChunkRow, text: str) -> ChunkRow:
    """Return a row with the whole text of the page on which a chunk begins."""
    return chunk._replace(start=0, page_index_end=chunk.page_index, end=len(text), text=text)


def _build_context(chosen: Sequence[_Source], tokens: int) -> PageContext:
    documents = {one: place for place, one in enumerate(dict.fromkeys(one.passage.version_id for one in chosen))}
    ordered = sorted(chosen, key=lambda one: (documents[one.passage.version_id], one.passage.page_index))
    ranks = {one.passage.page_key: rank for rank, one in enumerate(ordered, 1)}
    return PageContext(
        tuple(replace(one.passage, rank=rank) for rank, one in enumerate(ordered, 1)),
        tuple(replace(one.prompt_passage, rank=rank) for rank, one in enumerate(ordered, 1)),
        frozenset(rank for rank, one in enumerate(ordered, 1) if one.is_part),
        tokens,
        tuple(ranks[one.passage.page_key] for one in chosen),
    )


def _fold_pages(
    rows: Sequence[ChunkRow], known: Mapping[int, ChunkRow], scores: Scores
) -> tuple[dict[int, ChunkRow], list[Passage]]:
    """Return the distinct pages by the ids of their rows, and the new pages among them as passages.

    ``known`` are the distinct pages of earlier batches. A passage names its near duplicates.
    """
    pages = {**known, **{row.id: row for row in rows}}
    folded = fold_near_duplicates(list(pages.values()), len(pages))
    kept = {one: [pages[repeat] for repeat in repeats] for one, repeats in folded.items()}
    built = [build_passage(0, pages[one], scores, repeats) for one, repeats in kept.items() if one not in known]
    return {one: pages[one] for one in kept}, built
