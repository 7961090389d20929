"""Entities of documents, the statements that mention them, and the themes that they form."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from rag_core.types.answers import Answer

EntityKind = Literal["name", "term"]
StatementKind = Literal["sentence", "definition", "row"]
# What a language model does when themes are built. ``none``: nothing. ``summaries``: write the summaries. ``entities``:
# write the summaries and find the entities.
ModelUse = Literal["none", "summaries", "entities"]
NOT_BUILT = "No themes have been built. Build them on the Themes page, or with the command themes build."


class Entity(NamedTuple):
    """A name, or a term of several words, that a document mentions.

    Mentions with the same ``key`` belong to the same entity. ``name`` is its most frequent form in the document, and
    ``mentions`` the number of mentions there.
    """

    key: str
    name: str
    kind: EntityKind
    mentions: int


class Statement(NamedTuple):
    """A sentence or table row that mentions entities; ``start`` and ``end`` are offsets in the text of its chunk.

    ``entities`` contains the distinct positions of the entities in `DocumentEntities.entities`, ascending.
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
    """The position of a statement in the library: a span of a chunk's text."""

    version_id: str
    chunk_id: int
    start: int
    end: int


class ThemeEntity(NamedTuple):
    """An entity of a theme, and the number of its mentions in one version of a document."""

    version_id: str
    key: str
    name: str
    kind: EntityKind
    mentions: int


class SummarySentence(NamedTuple):
    """A sentence of a language model about a theme.

    ``sources`` are the positions in `StoredTheme.statements` of the statements that support the sentence.
    """

    text: str
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StoredTheme:
    """A theme as it is stored.

    Attributes
    ----------
    digest : str
        Hash of the cited statements and of the generator. A rebuild keeps a summary whose digest is the same.
    generator : str
        ``extractive``, or the name of the model that wrote the summary.
    summary : tuple of SummarySentence
        The sentences of a language model; empty for an extractive summary, which consists of the cited statements.
    cited : int
        The summary is based on the first ``cited`` of ``statements``.
    entities : tuple of ThemeEntity
    statements : tuple of StatementSource
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
    """An entity with the number of its mentions, and of the documents that mention it."""

    key: str
    name: str
    kind: EntityKind
    mentions: int
    documents: int


@dataclass(frozen=True, slots=True)
class EntityLink:
    """Two entities, and the number of statements that mention both."""

    source: str
    target: str
    statements: int


@dataclass(frozen=True, slots=True)
class PlacedEntity:
    """An entity with its coordinates in a drawing of the graph; ``x`` and ``y`` are from -1 to 1."""

    entity: LinkedEntity
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class ThemeDrawing:
    """A drawing of a theme: its entities with their coordinates, and the links between them."""

    entities: tuple[PlacedEntity, ...]
    links: tuple[EntityLink, ...]


@dataclass(frozen=True, slots=True)
class Theme:
    """A group of entities that are mentioned together, with a cited summary.

    Attributes
    ----------
    title : str
        The names of the first entities.
    entities : tuple of LinkedEntity
        The entities, most mentions first.
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
    """The last build of the themes, and the changes of the library since then.

    Attributes
    ----------
    built_at : datetime or None
        ``None`` if themes were never built.
    documents : int
        Number of documents of the last build.
    seconds : float
        Duration of the last build.
    model_use : ModelUse
    added : int
        Number of searchable documents that the build did not contain.
    removed : int
        Number of document versions of the build that are no longer searchable.
    """

    built_at: datetime | None
    documents: int
    seconds: float
    model_use: ModelUse
    added: int
    removed: int

    @property
    def is_current(self) -> bool:
        """Whether themes were built and the library has not changed since."""
        return self.built_at is not None and not self.added and not self.removed
