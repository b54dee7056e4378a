"""The causal graph of a problem as SVG: what follows from what, and what the decision reads.

A feature that a person may change is a solid box, one that only follows is a dashed pill, one that is fixed is a box
with a bar at its side. Arrows with a solid line are causes, those with a dotted line lead to the decision.

Causes stand left of their effects, with few crossings, after Sugiyama. Nodes that lie on a common cycle share a layer. An arrow
over several layers gets a place in each between, so that it leads around the nodes there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING

from p2c._explain.letter import spoken
from p2c._explain.phrases import phrases_of
from p2c._explain.sentences import filled, label_words
from p2c._markup import clean, element
from p2c._report.canvas import HEAD, LINE, Canvas, arrow, legend, legend_width, wrap
from p2c._spec.feature import Action

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p2c._explain.phrases import Phrases
    from p2c._markup import Markup
    from p2c._rules.theory import Theory


SIZE = 14.0
WIDTH = 148.0
GAP_X = 72.0
GAP_Y = 18.0
MARGIN = 16.0
PADDING = 10.0
GOAL = ""
"""The node of the decision; no feature has an empty name."""
KEYS = ("free", "effect", "fixed", "cause", "reads")
"""The entries of the legend."""
Edge = tuple[str, str]
SWEEPS = 6


def graph_svg(theory: Theory, *, theme: str = "auto", language: str = "en") -> str:
    """Draw what follows from what in a problem, and what its decision reads."""
    return _Graph(spoken(theory, language), phrases_of(language), Canvas(theme)).draw()


def graph_told(theory: Theory, *, language: str = "en") -> str:
    """Say what follows from what in a problem."""
    return _Graph(spoken(theory, language), phrases_of(language), Canvas()).told


@dataclass(frozen=True)
class _Graph:
    """The places of a graph's nodes, and their drawing."""

    theory: Theory
    phrases: Phrases
    canvas: Canvas

    @cached_property
    def edges(self) -> list[Edge]:
        causes = [
            (f.name, name)
            for name, parents in self.theory.parents.items()
            for f in self.theory.features
            if f.name in parents
        ]
        read = self.theory.reads(self.theory.goal)
        return [*causes, *((f.name, GOAL) for f in self.theory.features if f.name in read)]

    @cached_property
    def layered(self) -> Layered:
        touched = {node for edge in self.edges for node in edge}
        nodes = [f.name for f in self.theory.features if f.name in touched]
        return lay_out_graph([*nodes, GOAL], self.edges)

    def text(self, node: str) -> str:
        if node == GOAL:
            return self.phrases.graph["decision"]
        return clean(label_words(self.theory.feature[node]))

    def lines(self, node: str) -> tuple[str, ...]:
        return wrap(self.text(node), WIDTH - 2 * PADDING, SIZE)

    def height(self, node: str | None) -> float:
        if node is None:
            return 10.0
        rows = len(self.lines(node)) * SIZE * LINE
        return rows + (0 if node == GOAL else (SIZE - 2) * LINE) + 1.2 * PADDING

    @cached_property
    def columns(self) -> list[float]:
        """The height of each layer."""
        return [
            sum(map(self.height, layer)) + GAP_Y * (len(layer) - 1) for layer in self.layered.layers
        ]

    @cached_property
    def legend_top(self) -> float:
        return MARGIN + max(self.columns) + GAP_Y

    @cached_property
    def size(self) -> tuple[float, float]:
        count = len(self.layered.layers)
        wide = 2 * MARGIN + count * WIDTH + (count - 1) * GAP_X
        words = legend_width((self.phrases.graph[key] for key in KEYS), SIZE)
        return max(wide, 2 * MARGIN + words), self.legend_top + 34 + MARGIN / 2

    @cached_property
    def boxes(self) -> dict[tuple[int, int], tuple[float, float, float]]:
        """The left, the top and the height of each place."""
        found = {}
        tallest = max(self.columns)
        for column, layer in enumerate(self.layered.layers):
            top = MARGIN + (tallest - self.columns[column]) / 2
            for row, node in enumerate(layer):
                height = self.height(node)
                found[column, row] = (MARGIN + column * (WIDTH + GAP_X), top, height)
                top += height + GAP_Y
        return found

    @cached_property
    def told(self) -> str:
        words = self.phrases.graph
        told = [
            filled(
                words["decision_told" if end == GOAL else "told"],
                cause=self.text(start),
                effect=self.text(end),
            )
            for start, end in self.edges
        ]
        return " ".join(f"{each[:1].upper()}{each[1:]}" for each in told) or words["nothing"]

    def draw(self) -> str:
        shapes = [shape for edge in self.edges for shape in self._arrow(edge)]
        for column, layer in enumerate(self.layered.layers):
            for row, node in enumerate(layer):
                if node is not None:
                    shapes.append(self._node(node, self.boxes[column, row]))
        shapes += self._legend()
        return self.canvas.drawing(
            self.size,
            shapes,
            title=self.phrases.graph["title"],
            told=self.told,
            language=self.phrases.language,
        )

    def _node(self, node: str, box: tuple[float, float, float]) -> Markup:
        left, top, height = box
        lines = self.lines(node)
        middle = (left + WIDTH / 2, top + height / 2)
        title = element("title", None, self.text(node))
        if node == GOAL:
            return element(
                "g",
                None,
                title,
                self.canvas.box(
                    (left, top), (WIDTH, height), fill="goal", stroke="goal-text", radius=4
                ),
                self.canvas.words(lines, middle, size=SIZE, fill="goal-text", weight=600),
            )
        action = self.theory.feature[node].action
        lower = top + height - PADDING * 0.6 - (SIZE - 2) * LINE / 2
        upper = (middle[0], top + PADDING * 0.6 + len(lines) * SIZE * LINE / 2)
        return element(
            "g",
            None,
            title,
            *self._shape(action, (left, top), (WIDTH, height)),
            self.canvas.words(lines, upper, size=SIZE, weight=600),
            self.canvas.words(
                [self.phrases.graph[action.value]], (middle[0], lower), size=SIZE - 2, fill="muted"
            ),
        )

    def _shape(
        self, action: Action, place: tuple[float, float], size: tuple[float, float]
    ) -> list[Markup]:
        if action is Action.EFFECT:
            radius = min(size[1] / 2, 20)
            return [
                self.canvas.box(
                    place, size, fill="effect", stroke="effect-line", radius=radius, dashed=True
                )
            ]
        if action is Action.FIXED:
            bar = self.canvas.box(place, (6, size[1]), fill="muted")
            return [self.canvas.box(place, size, fill="ground", stroke="muted"), bar]
        return [self.canvas.box(place, size, fill="ground", stroke="direct", radius=4)]

    def _arrow(self, edge: Edge) -> list[Markup]:
        route = self.layered.routes[edge]
        first, last = self.boxes[route[0]], self.boxes[route[-1]]
        start = (first[0] + WIDTH, first[1] + first[2] / 2)
        colour = "goal-text" if edge[1] == GOAL else "effect-line"
        if route[0][0] == route[-1][0]:
            return self._loop(start, (last[0] + WIDTH, last[1] + last[2] / 2), colour)
        end = (last[0], last[1] + last[2] / 2)
        points = [start]
        for place in route[1:-1]:
            left, top, height = self.boxes[place]
            points += [(left, top + height / 2), (left + WIDTH, top + height / 2)]
        points.append((end[0] - HEAD, end[1]))
        commands = f"M{start[0]:.1f} {start[1]:.1f}"
        for (x, y), (to_x, to_y) in pairwise(points):
            bend = (x + to_x) / 2
            commands += f"C{bend:.1f} {y:.1f} {bend:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"
        return arrow(self.canvas, commands, end, colour=colour, dotted=edge[1] == GOAL)

    def _loop(
        self, start: tuple[float, float], end: tuple[float, float], colour: str
    ) -> list[Markup]:
        """Draw an arrow between two nodes of a cycle, which stand in one layer."""
        bend = start[0] + GAP_X / 2
        commands = (
            f"M{start[0]:.1f} {start[1]:.1f}"
            f"C{bend:.1f} {start[1]:.1f} {bend:.1f} {end[1]:.1f} {end[0] + HEAD:.1f} {end[1]:.1f}"
        )
        return arrow(self.canvas, commands, end, (-1, 0), colour=colour)

    def _legend(self) -> list[Markup]:
        entries = [(partial(self._sample, key), self.phrases.graph[key]) for key in KEYS]
        return legend(self.canvas, entries, (MARGIN, self.legend_top + 17), SIZE)

    def _sample(self, key: str, x: float, y: float) -> list[Markup]:
        if key not in ("cause", "reads"):
            return self._shape(Action(key), (x, y - 9), (32, 18))
        reads = key == "reads"
        line, colour = f"M{x:.1f} {y:.1f}H{x + 25:.1f}", "goal-text" if reads else "effect-line"
        return arrow(self.canvas, line, (x + 32, y), colour=colour, dotted=reads)


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
    reached: set[str] = set()
    waiting = [node]
    while waiting:
        here = waiting.pop()
        fresh = [end for start, end in edges if start == here and end not in reached]
        reached.update(fresh)
        waiting += fresh
    return reached


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
