"""One set of direct actions, in every order: A* over exact states.

What the set costs is known before its order, effects on its own features aside; so the order decides between paths by
their length and their sequence, and whether the set leads to the goal at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c._plan.boxes.axis import Axis
    from p2c._plan.boxes.person import Person, State
    from p2c._spec.feature import Value


class Act(NamedTuple):
    """An action of a path: direct, or an effect."""

    feature: int
    start: Value
    end: Value
    direct: bool
    assumed: bool = False
    because: tuple[str, ...] = ()


class Key(NamedTuple):
    """The contract's order of paths; of a search node, a bound on its paths.

    Attributes:
        first: The cost, or the number of direct actions where that comes first.
        second: The other of the two.
        length: The number of direct actions and effects.
        way: The sum of weighted distances.
        sequence: The actions, each as the feature's place and the value's place in its domain.
        kinds: For each action, whether it is an effect.
    """

    first: int
    second: int
    length: int
    way: int
    sequence: tuple[tuple[int, int], ...] = ()
    kinds: tuple[bool, ...] = ()


class Node(NamedTuple):
    """A state on a path: targets done of each axis, and how far each went."""

    state: State
    done: tuple[int, ...]
    spent: tuple[int, ...]
    held: frozenset[int]
    """Features that no effect may change until the step ends."""


class Arrival(NamedTuple):
    """A path to a goal state."""

    key: Key
    state: State
    acts: tuple[Act, ...]


@dataclass(frozen=True)
class Orders:
    """The orders of one set of actions.

    Attributes:
        person: Who acts.
        chosen: The axes of the set, each with its position.
        lasting: Whether features that break their law at the start must keep what they are set to within a step.
    """

    person: Person
    chosen: tuple[tuple[Axis, int], ...]
    lasting: bool = False
    passed: set[Node] = field(default_factory=set, repr=False, compare=False)
    """The nodes that were followed."""

    def start(self) -> tuple[Key, Node, tuple[Act, ...]]:
        """Return the first node with its key."""
        none = (0,) * len(self.chosen)
        node = Node(self.person.initial, none, none, frozenset())
        return self.key(node, ()), node, ()

    def key(self, node: Node, acts: tuple[Act, ...]) -> Key:
        """Return a bound on the paths that go on from a node."""
        person = self.person
        shares, way, direct, left = [], 0, 0, 0
        for (axis, position), done, spent in zip(self.chosen, node.done, node.spent, strict=True):
            weight = person.weights[axis.place]
            share, far, count = axis.share(position)
            if axis.free:
                far = spent
                share = count if share else self._share(spent)
            shares.append(weight * share)
            way += weight * far
            direct += count
            left += count - done
        cost = int(person.theory.norm.total(shares))
        first, second = (direct, cost) if person.counts_first else (cost, direct)
        return Key(
            first,
            second,
            len(acts) + left,
            way,
            tuple((act.feature, self._place(act)) for act in acts),
            tuple(not act.direct for act in acts),
        )

    def _share(self, spent: int) -> int:
        norm = self.person.theory.norm
        return spent**norm.power if norm.by_distance else 0

    def _place(self, act: Act) -> int:
        assert act.end is not None
        place = self.person.features[act.feature].place(act.end)
        assert place is not None
        return place

    def follow(self, node: Node, acts: tuple[Act, ...]) -> Iterator[tuple[Node, tuple[Act, ...]]]:
        """Yield the nodes that one action leads to."""
        person, state = self.person, node.state
        verdict = person.judge(state)
        if verdict.final:
            return
        for effect in verdict.effects:
            feature = person.index[effect.feature]
            if effect.barred or feature in node.held:
                continue
            after = person.after(state, feature, effect.value)
            texts = person.texts(effect.because)
            act = Act(feature, state[feature], effect.value, False, effect.assumed, texts)
            yield node._replace(state=after, held=self._held(node.held, after)), (*acts, act)
        if verdict.effects and not verdict.consistent:
            return
        for number, (axis, position) in enumerate(self.chosen):
            trail, done = axis.trail(position), node.done[number]
            if done == len(trail):
                continue
            place, value = axis.place, axis.value(trail[done])
            if not person.may_set(state, place, value):
                continue
            if axis.free and axis.trails and value in self._values_left(acts, place):
                continue
            far = person.length(place, state[place], value)
            after = person.after(state, place, value)
            held = node.held | ({place} & person.excused if self.lasting else frozenset())
            spent = _with(node.spent, number, node.spent[number] + far)
            following = Node(after, _with(node.done, number, done + 1), spent, frozenset())
            act = Act(place, state[place], value, True)
            yield following._replace(held=self._held(held, after)), (*acts, act)

    def is_arrival(self, node: Node) -> bool:
        """Tell whether a path ends here with all actions done."""
        done = all(
            count == len(axis.trail(position))
            for (axis, position), count in zip(self.chosen, node.done, strict=True)
        )
        return done and self.person.judge(node.state).final

    def _held(self, held: frozenset[int], state: State) -> frozenset[int]:
        if not held or self.person.judge(state).consistent:
            return frozenset()
        return held

    def _values_left(self, acts: tuple[Act, ...], place: int) -> list[Value]:
        return [act.start for act in acts if act.direct and act.feature == place]


def _with(items: tuple[int, ...], place: int, item: int) -> tuple[int, ...]:
    return (*items[:place], item, *items[place + 1 :])
