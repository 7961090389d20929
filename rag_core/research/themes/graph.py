"""The graph of entities over several documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from rag_core.research.themes.entities import build_entity_key, is_entity_name
from rag_core.text.grammar import split_tokens
from rag_core.types.themes import DocumentEntities, Entity, EntityKind, EntityLink, LinkedEntity, StatementSource

# Most words of an entity that is looked for in a question.
_MAX_NAME_WORDS = 6


class GraphStatement(NamedTuple):
    """A statement: its place in a document, its kind, and the positions of its entities in `EntityGraph.keys`."""

    source: StatementSource
    kind: str
    entities: tuple[int, ...]


class EntityGraph:
    """Entities of several documents. Two entities are linked if a statement mentions both.

    Parameters
    ----------
    documents : mapping of str to DocumentEntities
        The entities of documents by version id.

    Attributes
    ----------
    keys : list of str
        The key of each entity. Methods refer to entities by their positions in this list.
    statements : list of GraphStatement
    """

    def __init__(self, documents: Mapping[str, DocumentEntities]) -> None:
        self.keys: list[str] = []
        self.statements: list[GraphStatement] = []
        self._positions: dict[str, int] = {}
        self._names: list[Counter[str]] = []
        self._kinds: list[EntityKind] = []
        # For each entity, in the order of `keys`: the entity in each version that mentions this entity, by version id.
        self.mentions: list[dict[str, Entity]] = []
        for version_id in sorted(documents):
            self._add_document(version_id, documents[version_id])

    def _add_document(self, version_id: str, document: DocumentEntities) -> None:
        places = []
        for one in document.entities:
            place = self._positions.setdefault(one.key, len(self.keys))
            if place == len(self.keys):
                self.keys.append(one.key)
                self._names.append(Counter())
                self._kinds.append(one.kind)
                self.mentions.append({})
            self._names[place][one.name] += one.mentions
            self.mentions[place][version_id] = one
            places.append(place)
        for statement in document.statements:
            source = StatementSource(version_id, *statement[:3])
            entities = tuple(sorted(places[one] for one in statement.entities))
            self.statements.append(GraphStatement(source, statement.kind, entities))

    @cached_property
    def by_entity(self) -> list[list[int]]:
        """The positions of the statements that mention each entity."""
        found: list[list[int]] = [[] for _ in self.keys]
        for position, statement in enumerate(self.statements):
            for one in statement.entities:
                found[one].append(position)
        return found

    @cached_property
    def links(self) -> Counter[tuple[int, int]]:
        """The number of statements that mention both entities of a pair."""
        return Counter(pair for one in self.statements for pair in combinations(one.entities, 2))

    def name(self, entity: int) -> str:
        """Return the most frequent form of an entity."""
        return self._names[entity].most_common(1)[0][0]

    def describe(self, entity: int) -> LinkedEntity:
        """Return an entity with the numbers of its mentions and of the versions that mention it."""
        mentions = self.mentions[entity]
        count = sum(one.mentions for one in mentions.values())
        return LinkedEntity(self.keys[entity], self.name(entity), self._kinds[entity], count, len(mentions))

    def find(self, keys: Collection[str]) -> list[int]:
        """Return the positions of the entities with these keys that the graph contains."""
        return [self._positions[key] for key in keys if key in self._positions]

    def find_in_question(self, question: str, *, names_only: bool = False) -> list[int]:
        """Return the positions of the entities that a question mentions, in order.

        Of entities that begin at the same word, only the longest counts; the search goes on after its last word. With
        ``names_only``, return only entities that are names and do not begin with a lower-case letter in the question.
        """
        tokens = split_tokens(question)
        found: list[int] = []
        first = 0
        while first < len(tokens):
            length = 1
            for number in range(min(_MAX_NAME_WORDS, len(tokens) - first), 0, -1):
                text = question[tokens[first].start : tokens[first + number - 1].stem_end]
                place = self._positions.get(build_entity_key(text))
                alone = number == 1 and (tokens[first].is_function_word or not is_entity_name(text))
                if place is not None and not alone and not tokens[first].is_function_word:
                    if not names_only or (self._kinds[place] == "name" and not text[0].islower()):
                        found.append(place)
                    length = number
                    break
            first += length
        return list(dict.fromkeys(found))

    def neighbours(self, entity: int) -> Counter[int]:
        """Return the entities that are linked to an entity, with the number of statements that mention both."""
        found: Counter[int] = Counter()
        for position in self.by_entity[entity]:
            found.update(one for one in self.statements[position].entities if one != entity)
        return found

    def links_among(self, keys: Collection[str]) -> Iterator[EntityLink]:
        """Yield the links between the entities with these keys; links with more statements come first."""
        places = set(self.find(keys))
        inside: Counter[tuple[int, int]] = Counter()
        for position in {position for one in places for position in self.by_entity[one]}:
            inside.update(combinations([one for one in self.statements[position].entities if one in places], 2))
        for (one, other), count in inside.most_common():
            yield EntityLink(self.keys[one], self.keys[other], count)
