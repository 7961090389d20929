"""Entities of documents, the statements that mention them, and the themes that they form."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from rag_core.types.answers import Answer

EntityKind = Literal["name", "term"]
StatementKind = Literal["sentence", "definition", "row", "relation"]
# What a language model does when themes are built: nothing, write the summaries, or also find the entities.
ModelUse = Literal["none", "summaries", "entities"]
NOT_BUILT = "No themes have been built. Build them on the Themes page, or with the command themes build."


class Entity(NamedTuple):
    """Something that a document mentions: a name, or a term of several words.

    Two mentions are the same entity if their ``key`` is the same. ``name`` is the most frequent form in the document.
    """

    key: str
    name: str
    kind: EntityKind
    mentions: int


class Statement(NamedTuple):
    """A sentence or a row of a table that mentions entities: ``start`` and ``end`` are offsets in the chunk's text.

    ``entities`` contains positions in `DocumentEntities.entities`, ascending and without repetitions.
    """

    chunk_id: int
    start: int
    end: int
    kind: StatementKind
    entities: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DocumentEntities:
    """The entities of a version of a document, and the statements that mention them, in the order of the document."""

    entities: tuple[Entity, ...]
    statements: tuple[Statement, ...]


class StatementSource(NamedTuple):
    """The place of a statement in the library: a span of a chunk's text."""

    version_id: str
    chunk_id: int
    start: int
    end: int


class ThemeEntity(NamedTuple):
    """An entity of a theme in one version of a document."""

    version_id: str
    key: str
    name: str
    kind: EntityKind
    mentions: int


class SummarySentence(NamedTuple):
    """A sentence that a language model wrote for a theme, with the positions of the statements that support it."""

    text: str
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StoredTheme:
    """A theme as it is stored.

    Attributes
    ----------
    digest : str
        Identifies the cited statements and who wrote the summary; a summary with the same digest need not be written
        again.
    summary : tuple of SummarySentence
        The sentences of a language model; empty if the first ``cited`` statements are the summary.
    generator : str
        ``extractive``, or the name of the model that wrote the summary.
    cited : int
        Number of statements that the summary is made of; the first ones.
    """

    theme_id: str
    digest: str
    generator: str
    summary: tuple[SummarySentence, ...]
    cited: int
    entities: tuple[ThemeEntity, ...]
    statements: tuple[StatementSource, ...]


@dataclass(frozen=True, slots=True)
class LinkedEntity:
    """An entity with its name, and the numbers of its mentions and of the documents that mention it."""

    key: str
    name: str
    kind: EntityKind
    mentions: int
    documents: int


@dataclass(frozen=True, slots=True)
class EntityLink:
    """Two entities that the same statements mention, with the number of these statements."""

    source: str
    target: str
    statements: int


@dataclass(frozen=True, slots=True)
class PlacedEntity:
    """An entity in a drawing of the graph; ``x`` and ``y`` are from -1 to 1."""

    entity: LinkedEntity
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class ThemeDrawing:
    """Entities of a theme with their places in a drawing, and the links between them."""

    entities: tuple[PlacedEntity, ...]
    links: tuple[EntityLink, ...]


@dataclass(frozen=True, slots=True)
class Theme:
    """A community of entities that are mentioned together, with a cited summary.

    Attributes
    ----------
    title : str
        The names of its first entities.
    entities : tuple of LinkedEntity
        The entities with the most mentions first.
    documents : int
        Number of documents that mention at least one of the entities.
    summary : Answer
        The summary with its citations and passages.
    """

    theme_id: str
    title: str
    entities: tuple[LinkedEntity, ...]
    documents: int
    summary: Answer


@dataclass(frozen=True, slots=True)
class ThemesState:
    """When themes were built, from how many documents, and what has changed since then.

    ``added`` is the number of searchable documents that the themes do not cover, and ``removed`` the number of covered
    versions that searches no longer find. ``seconds`` is the duration of the last build.
    """

    built_at: datetime | None
    documents: int
    seconds: float
    model_use: ModelUse
    added: int
    removed: int

    @property
    def is_current(self) -> bool:
        return self.built_at is not None and not self.added and not self.removed
