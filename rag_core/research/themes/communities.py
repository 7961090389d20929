"""Find communities in the graph of entities, and select the statements that represent each of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from rag_core.research.themes.graph import EntityGraph
from rag_core.types.themes import EntityLink

# Seed of the community detection and of drawings: the same documents always have the same themes.
_SEED = 7
# Fewest statements that mention both entities of a link.
_MIN_LINK = 2
# Numbers of entities above which a community is divided again, and below which it is no theme.
_LARGEST, _SMALLEST = 60, 3
# Largest number of themes, and of statements of a theme.
MAX_THEMES, MAX_STATEMENTS = 150, 60
# Fewest statements of a theme that are sentences. Rows of tables alone are no theme.
_MIN_STATEMENTS = 3
# Number of entities in the title of a theme.
_TITLE_NAMES = 3


def find_communities(graph: EntityGraph) -> list[list[int]]:
    """Return the entities of each community; the communities with the most statements come first.

    Within a community, the entities with the strongest links and the most statements come first.

    The method is that of Blondel et al., "Fast unfolding of communities in large networks", 2008 (Louvain). The weight
    of a link is the number of statements with both entities, divided by the geometric mean of the numbers of
    statements with each (Salton's cosine). Thus an entity that occurs everywhere has weak links, and does not make one
    community of several. Large communities are divided again; small ones are left out.
    """
    import networkx

    network = networkx.Graph()
    sizes = [len(one) for one in graph.by_entity]
    for (one, other), count in sorted(graph.links.items()):
        if count >= _MIN_LINK:
            network.add_edge(one, other, weight=count / math.sqrt(sizes[one] * sizes[other]))
    found: list[list[int]] = []
    left = [sorted(network)] if network else []
    while left:
        members = left.pop()
        part = network.subgraph(members)
        parts = [sorted(one) for one in networkx.community.louvain_communities(part, weight="weight", seed=_SEED)]
        for group in parts:
            if len(group) > _LARGEST and len(parts) > 1:
                left.append(group)
            elif len(group) >= _SMALLEST:
                found.append(_order_entities(group, network.subgraph(group).degree(weight="weight"), sizes))
    ranked = [(sum(graph.statements[at].kind != "row" for at in select_statements(graph, one)), one) for one in found]
    ranked.sort(key=lambda pair: (-pair[0], pair[1]))
    return [one for count, one in ranked if count >= _MIN_STATEMENTS][:MAX_THEMES]


def _order_entities(members: Sequence[int], degrees: Sequence[tuple[int, float]], sizes: Sequence[int]) -> list[int]:
    degree = dict(degrees)
    return sorted(members, key=lambda one: (-degree[one] * math.log1p(sizes[one]), one))


def select_statements(graph: EntityGraph, community: Sequence[int]) -> list[int]:
    """Return the statements that mention at least two entities of a community, in the order of the documents."""
    counts = Counter(position for one in community for position in graph.by_entity[one])
    return sorted(position for position, count in counts.items() if count > 1)


def spread_statements(graph: EntityGraph, community: Sequence[int], most: int = MAX_STATEMENTS) -> list[int]:
    """Return at most ``most`` statements of a community, from each document version in turn.

    Of each version, statements with many entities of the community come first, and rows of tables last.
    """
    weights = {one: 1 / (1 + place) ** 0.5 for place, one in enumerate(community)}
    by_version: dict[str, list[tuple[float, int]]] = {}
    for position in select_statements(graph, community):
        statement = graph.statements[position]
        score = sum(weights.get(one, 0.0) for one in statement.entities) - 2 * (statement.kind == "row")
        by_version.setdefault(statement.source.version_id, []).append((-score, position))
    turns = [sorted(one) for one in by_version.values()]
    ordered = [(rank, *turn[rank]) for turn in turns for rank in range(len(turn))]
    return [position for _, _, position in sorted(ordered)[:most]]


def place_entities(links: Sequence[EntityLink]) -> dict[str, tuple[float, float]]:
    """Return coordinates from -1 to 1 for each entity, by key; linked entities are close to each other."""
    import networkx

    network = networkx.Graph()
    for one in links:
        network.add_edge(one.source, one.target, weight=1 + math.log(one.statements))
    places = networkx.spring_layout(network, k=6 / math.sqrt(max(1, len(network))), iterations=200, seed=_SEED)
    # Entities with a single link are far from all others, which would overlap. Average each coordinate with its rank.
    axes = [_mix_with_ranks({key: float(place[axis]) for key, place in places.items()}) for axis in (0, 1)]
    return {key: (axes[0][key], axes[1][key]) for key in places}


def _mix_with_ranks(values: Mapping[str, float]) -> dict[str, float]:
    """Return, by key, the mean of the value and the rank of the value, both from -1 to 1."""
    ranked = sorted(values, key=lambda key: values[key])
    return {key: (values[key] + 2 * place / max(1, len(ranked) - 1) - 1) / 2 for place, key in enumerate(ranked)}


def build_title(graph: EntityGraph, community: Sequence[int]) -> str:
    """Return the title of a community: the names of its first entities, as `join_names` selects them."""
    return join_names([graph.name(one) for one in community])


def join_names(names: Sequence[str]) -> str:
    """Return at most three names, separated by commas: each is the next one that shares no word with those before."""
    chosen: list[str] = []
    words: set[str] = set()
    for name in names:
        own = {word.casefold() for word in name.split()}
        if not own & words:
            chosen.append(name)
            words |= own
        if len(chosen) == _TITLE_NAMES:
            break
    title = ", ".join(chosen)
    return title[:1].upper() + title[1:]
