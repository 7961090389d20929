"""Themes with their cited summaries, and the graph of their entities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rag_core.answering.cited_sentences import CitedText
from rag_core.errors import UnknownTheme
from rag_core.reading.key_sentences import is_cross_reference
from rag_core.research.themes.communities import join_names, place_entities
from rag_core.research.themes.entity_graphs import EntityGraphs
from rag_core.runtime.stores import Stores
from rag_core.text.normalize import normalize
from rag_core.types.answers import Answer, AnswerState
from rag_core.types.chunks import ChunkRow
from rag_core.types.retrieval import Gate
from rag_core.types.themes import (
    EntityLink,
    LinkedEntity,
    PlacedEntity,
    StatementSource,
    StoredTheme,
    Theme,
    ThemeDrawing,
    ThemeEntity,
)

# Name of the gate's score of a summary: the share of cited statements, which is always 1.
_SCORE = "supported"
# Most statements that are quoted, and number of statements that are read for each quoted one, because repetitions are
# left out.
_MAX_QUOTES = 8
_MAX_READ = 5


class Themes:
    """Reads the themes of the last complete build, without text of documents that searches no longer find.

    Parameters
    ----------
    stores : Stores
    graphs : EntityGraphs
    """

    def __init__(self, stores: Stores, graphs: EntityGraphs) -> None:
        self._stores = stores
        self._graphs = graphs

    def stored(self, documents: Sequence[str] | None = None) -> list[StoredTheme]:
        """Return the themes as they are stored; with ``documents``, without content of other documents."""
        found = self._stores.themes.themes(self._graphs.build_id)
        if documents is None:
            return found
        versions = set(self._stores.documents.visible_versions(documents))
        return [one for one in (_restrict_theme(theme, versions) for theme in found) if one.statements]

    def list(self) -> Sequence[Theme]:
        """Return all themes, those with the most statements first."""
        stored = self.stored()
        cited = [source.chunk_id for one in stored for source in one.statements[: one.cited]]
        rows = self._stores.documents.visible_chunks(sorted(set(cited)))
        return [theme for theme in (_build_theme(one, rows) for one in stored) if theme is not None]

    def get(self, name: str) -> Theme:
        """Return a theme by its id, by its number in the list from 1, or by a part of its title.

        Raises
        ------
        UnknownTheme
        """
        themes = self.list()
        if name.isdigit() and 0 < int(name) <= len(themes):
            return themes[int(name) - 1]
        wanted = name.casefold()
        found = [one for one in themes if one.theme_id == name or wanted in one.title.casefold()]
        if not found:
            raise UnknownTheme(
                f"No theme is named {name[:120]!r}. The list of themes shows their numbers and titles; the command "
                "themes list prints it."
            )
        return found[0]

    def draw(self, theme: Theme, most: int = 16) -> ThemeDrawing:
        """Return a drawing of the links between the first ``most`` entities of a theme, without unlinked entities."""
        entities = {one.key: one for one in theme.entities[:most]}
        links = tuple(self.links(list(entities)))
        places = place_entities(links)
        return ThemeDrawing(tuple(PlacedEntity(entities[key], *place) for key, place in places.items()), links)

    def quote(self, key: str) -> Answer | None:
        """Return statements that mention the entity with a key, with citations; ``None`` if no such statement is found.

        Definitions come first, then sentences from each document in turn, then rows of tables.
        """
        graph = self._graphs.load()
        order = {"definition": 0, "sentence": 1, "row": 2}
        turns: Counter[tuple[str, str]] = Counter()
        ranked = []
        entity = next(iter(graph.find([key])), None)
        if entity is None:
            return None
        for position in graph.by_entity[entity]:
            statement = graph.statements[position]
            turn = statement.kind, statement.source.version_id
            ranked.append((order.get(statement.kind, 1), turns[turn], position))
            turns[turn] += 1
        sources = [graph.statements[position].source for _, _, position in sorted(ranked)[: _MAX_READ * _MAX_QUOTES]]
        rows = self._stores.documents.visible_chunks([one.chunk_id for one in sources])
        # The reports of two years repeat sentences, with other quotation marks.
        spans = {normalize(row.text[start:end]): (row, start, end) for row, start, end in load_spans(sources, rows)}
        informative = [key for key, (row, start, end) in spans.items() if not is_cross_reference(row.text[start:end])]
        text = CitedText()
        for words in (informative or list(spans))[:_MAX_QUOTES]:
            text.begin_paragraph()
            text.add(*spans[words])
        return _build_cited_answer(graph.name(entity), text, "extractive") if text.citations else None

    def links(self, keys: Sequence[str]) -> Sequence[EntityLink]:
        """Return the links between the entities with these keys; links with more statements come first."""
        return list(self._graphs.load().links_among(keys))

    def neighbours(self, key: str, most: int = 20) -> Sequence[tuple[LinkedEntity, int]]:
        """Return the ``most`` entities that share the most statements with an entity, and the numbers of statements."""
        graph = self._graphs.load()
        return [
            (graph.describe(one), count)
            for entity in graph.find([key])
            for one, count in graph.neighbours(entity).most_common(most)
        ]


def load_spans(sources: Iterable[StatementSource], rows: Mapping[int, ChunkRow]) -> Iterator[tuple[ChunkRow, int, int]]:
    """Yield the row and the offsets of each statement whose chunk is in ``rows``."""
    return ((rows[one.chunk_id], one.start, one.end) for one in sources if one.chunk_id in rows)


def collect_entities(theme: StoredTheme) -> tuple[LinkedEntity, ...]:
    """Return the entities of a theme in their order, each once for all documents, with the sum of its mentions."""
    found: dict[str, list[ThemeEntity]] = {}
    for one in theme.entities:
        found.setdefault(one.key, []).append(one)
    entities = []
    for key, versions in found.items():
        # Use the name in the document with the most mentions.
        most = max(versions, key=lambda one: one.mentions)
        mentions = sum(one.mentions for one in versions)
        entities.append(LinkedEntity(key, most.name, most.kind, mentions, len(versions)))
    return tuple(entities)


def build_theme_title(theme: StoredTheme) -> str:
    """Return the title of a theme: the names of its first entities, as `join_names` selects them."""
    return join_names([one.name for one in collect_entities(theme)])


def _restrict_theme(theme: StoredTheme, versions: set[str]) -> StoredTheme:
    """Return a theme without the entities and statements of other versions, and without a model's summary."""
    statements = tuple(one for one in theme.statements if one.version_id in versions)
    cited = sum(one.version_id in versions for one in theme.statements[: theme.cited])
    entities = tuple(one for one in theme.entities if one.version_id in versions)
    return StoredTheme(theme.theme_id, theme.digest, theme.generator, (), cited, entities, statements)


def _build_theme(stored: StoredTheme, rows: Mapping[int, ChunkRow]) -> Theme | None:
    """Return a theme with its summary; ``None`` if none of its cited statements is in the library any more."""
    cited = stored.statements[: stored.cited]
    text = CitedText()
    generator = "extractive"
    if stored.summary and all(one.chunk_id in rows for one in cited):
        generator = stored.generator
        for sentence in stored.summary:
            spans = {cited[place].chunk_id: cited[place] for place in sentence.sources}
            text.add_claim(sentence.text, load_spans(spans.values(), rows))
    else:
        for span in load_spans(cited, rows):
            text.add(*span)
    title = build_theme_title(stored)
    if not text.citations or not title:
        return None
    summary = _build_cited_answer(title, text, generator)
    documents = len({one.version_id for one in stored.entities})
    return Theme(stored.theme_id, title, collect_entities(stored), documents, summary)


def _build_cited_answer(title: str, text: CitedText, generator: str) -> Answer:
    return Answer(
        question=title,
        state=AnswerState.ANSWERED,
        text=text.text,
        citations=tuple(text.citations),
        passages=tuple(text.passages),
        gate=Gate(_SCORE, 1.0, 0.0, True),
        generator=generator,
        timings_ms={},
        statements=tuple(text.statements),
    )
