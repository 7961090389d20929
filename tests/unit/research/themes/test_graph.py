"""The graph of entities and its communities."""

from __future__ import annotations

from rag_core.research.themes.communities import (
    find_communities,
    join_names,
    place_entities,
    select_statements,
    spread_statements,
)
from rag_core.research.themes.entities import extract_entities
from rag_core.research.themes.graph import EntityGraph
from rag_core.types.themes import DocumentEntities, Entity, Statement
from tests.support.themed import PEOPLE, RISKS, build_rows


def two_groups(version_id: str = "v1") -> dict[str, DocumentEntities]:
    """Return a document in which a, b, c and d, e, f are mentioned together, and c and d once."""
    entities = tuple(Entity(one, one.upper(), "name", 6) for one in "abcdef")
    groups = [(0, 1, 2), (3, 4, 5)] * 3 + [(2, 3)]
    statements = tuple(Statement(number, 0, 9, "sentence", group) for number, group in enumerate(groups))
    return {version_id: DocumentEntities(entities, statements)}


def test_entities_that_are_mentioned_together_form_communities() -> None:
    graph = EntityGraph(two_groups())
    found = find_communities(graph)
    assert sorted(sorted(graph.keys[one] for one in community) for community in found) == [list("abc"), list("def")]
    assert [len(select_statements(graph, one)) for one in found] == [3, 3]
    assert find_communities(graph) == found
    assert find_communities(EntityGraph({})) == []


def test_the_same_entity_of_two_documents_is_one_node() -> None:
    graph = EntityGraph(two_groups("v1") | two_groups("v2"))
    assert graph.keys == list("abcdef")
    described = graph.describe(0)
    assert (described.name, described.mentions, described.documents) == ("A", 12, 2)
    assert graph.links[0, 1] == 6


def test_statements_come_from_each_document_in_turn() -> None:
    graph = EntityGraph(two_groups("v1") | two_groups("v2"))
    community = find_communities(graph)[0]
    chosen = [graph.statements[one].source.version_id for one in spread_statements(graph, community, 4)]
    assert sorted(chosen) == ["v1", "v1", "v2", "v2"]


def test_entities_of_a_question() -> None:
    rows = build_rows(RISKS.format("Harrow"), PEOPLE.format("Harrow"))
    graph = EntityGraph({"v1": extract_entities(rows, {})})

    def find(question: str, *, names_only: bool = False) -> list[str]:
        return [graph.name(one) for one in graph.find_in_question(question, names_only=names_only)]

    assert find("Who is Ida Brandt?") == ["Ida Brandt"]
    assert find("What do supply chain delays cost?") == ["supply chain delays"]
    assert find("What do supply chain delays cost?", names_only=True) == []
    assert find("What is it about?") == []


def test_neighbours_and_places_of_entities() -> None:
    graph = EntityGraph(two_groups())
    assert graph.neighbours(2) == {0: 3, 1: 3, 3: 1}
    links = list(graph.links_among("abc"))
    assert [(one.source, one.target, one.statements) for one in links] == [("a", "b", 3), ("a", "c", 3), ("b", "c", 3)]
    places = place_entities(links)
    assert places.keys() == set("abc")
    assert all(-1 <= value <= 1 for place in places.values() for value in place)
    assert place_entities([]) == {}


def test_title_joins_names_that_share_no_word() -> None:
    assert join_names(["interest rates", "interest rate swaps", "hedges", "LIBOR"]) == "Interest rates, hedges, LIBOR"
