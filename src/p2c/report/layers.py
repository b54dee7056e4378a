"""Places for the nodes of a small directed graph: causes left of their effects, few crossings, after Sugiyama.

Nodes that lie on a common cycle share a layer. An arrow over several layers gets a place in each between, so that it
leads around the nodes there.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Edge = tuple[str, str]
SWEEPS = 6


@dataclass(frozen=True, slots=True)
class Layered:
    """The nodes of each layer in order; None stands for an arrow that passes. `routes` are the places of each arrow."""

    layers: tuple[tuple[str | None, ...], ...]
    routes: Mapping[Edge, tuple[tuple[int, int], ...]]


def lay_out_graph(nodes: Sequence[str], edges: Sequence[Edge]) -> Layered:
    """Return layers and routes of a graph."""
    depth = _depths(nodes, edges)
    layers: list[list[object]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for node in nodes:
        layers[depth[node]].append(node)
    chains = {edge: _chain(edge, depth) for edge in edges}
    for edge, chain in chains.items():
        for place in chain[1:-1]:
            layers[depth[edge[0]] + chain.index(place)].append(place)
    links = [pair for chain in chains.values() for pair in pairwise(chain)]
    _untangle(layers, links)
    where = {
        node: (column, row) for column, layer in enumerate(layers) for row, node in enumerate(layer)
    }
    return Layered(
        tuple(tuple(n if isinstance(n, str) else None for n in layer) for layer in layers),
        {edge: tuple(where[each] for each in chain) for edge, chain in chains.items()},
    )


def _depths(nodes: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """Return the layer of each node: one past its deepest cause, its own cycle not counted."""
    reached = {node: _reached(node, edges) for node in nodes}
    depth = dict.fromkeys(nodes, 0)
    for _ in nodes:
        for start, end in edges:
            level = depth[start] + (start not in reached[end])
            depth[end] = max(depth[end], level)
    return depth


def _reached(node: str, edges: Sequence[Edge]) -> set[str]:
    found: set[str] = set()
    waiting = [node]
    while waiting:
        here = waiting.pop()
        fresh = [end for start, end in edges if start == here and end not in found]
        found.update(fresh)
        waiting += fresh
    return found


def _chain(edge: Edge, depth: Mapping[str, int]) -> list[object]:
    """Return the nodes of an arrow's way, those between being the arrow itself with a layer."""
    start, end = edge
    between = range(depth[start] + 1, depth[end])
    return [start, *((edge, layer) for layer in between), end]


def _untangle(layers: list[list[object]], links: list[tuple[object, object]]) -> None:
    """Sort each layer by where its neighbours stand on average, forth and back a few times."""
    for sweep in range(SWEEPS):
        forth = sweep % 2 == 0
        order = range(1, len(layers)) if forth else range(len(layers) - 2, -1, -1)
        for column in order:
            beside = layers[column - 1 if forth else column + 1]
            rows = {node: row / max(len(beside) - 1, 1) for row, node in enumerate(beside)}
            middle: dict[object, float] = {}
            for row, node in enumerate(layers[column]):
                near = [
                    rows[other]
                    for start, end in links
                    for other in ([start] if end == node else [end] if start == node else [])
                    if other in rows
                ]
                usual = row / max(len(layers[column]) - 1, 1)
                middle[node] = sum(near) / len(near) if near else usual
            layers[column].sort(key=middle.__getitem__)
