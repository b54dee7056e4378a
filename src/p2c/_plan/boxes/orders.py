"""One set of direct actions, in every order: A* over exact states.

What the set costs is known before its order, effects on its own features aside; so the order decides between paths by
their length and their sequence, and whether the set leads to the goal at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.boxes.axis import NamedAxis
from p2c._rules.meaning import changes_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from p2c._plan.boxes.axis import Axis
    from p2c._plan.boxes.person import Person, State
    from p2c._rules.meaning import Change
    from p2c._spec.feature import Value


class Act(NamedTuple):
    """An action of a path: direct, or an effect.

    A named action has a place after all features, and changes.
    """

    feature: int
    start: Value
    end: Value
    direct: bool
    assumed: bool = False
    because: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()


class Key(NamedTuple):
    """The contract's order of paths; of a search node, a bound on its paths.

    Attributes:
        objectives: The values of the objectives in their order; of a search node, each is a bound on its own.
        direct: The number of direct actions, all repetitions of a named one counted as one.
        length: The number of direct actions and effects.
        repeats: The number of repetitions of named actions.
        way: The sum of weighted distances.
        sequence: The actions, each as the feature's place and the value's place in its domain.
        kinds: For each action, whether it is an effect.
    """

    objectives: tuple[int | Fraction, ...]
    direct: int
    length: int
    repeats: int
    way: int | Fraction
    sequence: tuple[tuple[int, int], ...] = ()
    kinds: tuple[bool, ...] = ()


class Node(NamedTuple):
    """A state on a path: actions done of each axis, and how far each went."""

    state: State
    done: tuple[int, ...]
    spent: tuple[int, ...]
    held: frozenset[int]
    """Features that no effect may change until the step ends."""
    left: frozenset[tuple[int, Value]] = frozenset()
    """The values that direct actions have left, where later actions depend on them."""


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
    chosen: tuple[tuple[Axis | NamedAxis, int], ...]
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
        shares: list[int | Fraction] = []
        way: int | Fraction = 0
        direct = repeats = 0
        totals = list(person.totals(node.state))
        for (axis, position), done, spent in zip(self.chosen, node.done, node.spent, strict=True):
            weight = person.weights[axis.place]
            share, far, count = axis.share(position)
            if axis.free:
                far = spent
                share = count if share else self._share(spent)
            shares.append(weight * share)
            way += weight * far
            direct += count
            repeats += axis.repeats(position)
            if totals:
                totals = [a + b for a, b in zip(totals, axis.rest(position, done), strict=True)]
        cost = person.total(shares, tuple(totals))
        return Key(
            person.objectives(cost, direct, totals),
            direct,
            direct + sum(not act.direct for act in acts),
            repeats,
            way,
            tuple((act.feature, self._place(act)) for act in acts),
            tuple(not act.direct for act in acts),
        )

    def _share(self, spent: int) -> int:
        norm = self.person.theory.norm
        return spent**norm.power if norm.by_distance else 0

    def _place(self, act: Act) -> int:
        if act.feature >= len(self.person.features):
            return 0
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
            following = node._replace(done=_with(node.done, number, done + 1))
            if isinstance(axis, NamedAxis):
                taken = self._take(following, axis)
            else:
                value = axis.value(trail[done])
                far = person.length(axis.place, state[axis.place], value)
                spent = _with(node.spent, number, node.spent[number] + far)
                taken = self._set(following._replace(spent=spent), axis, value)
            if taken is not None and not person.exceeds(person.totals(taken[0].state)):
                yield taken[0], (*acts, taken[1])

    def _set(self, node: Node, axis: Axis, value: Value) -> tuple[Node, Act] | None:
        """Return the node after a direct change of a feature; None if it is barred."""
        person, state, place = self.person, node.state, axis.place
        start = state[place]
        if not person.may_set(state, place, value) or self._is_barred(node, place, value):
            return None
        after = person.after(state, place, value, person.used(place, start, value))
        left = node.left
        if place in self._tracked:
            left |= {(place, start)}
        return self._landed(node, after, {place}, left), Act(place, start, value, True)

    def _take(self, node: Node, axis: NamedAxis) -> tuple[Node, Act] | None:
        """Return the node after a named action; None if it does not exist there."""
        person, state, action = self.person, node.state, axis.action
        changes = changes_of(person.theory, action, person.named(state))
        if changes is None:
            return None
        left = node.left
        ends = [(person.index[each.feature], each.end) for each in changes]
        if action.repeat == 1:
            if any(self._is_barred(node, place, end) for place, end in ends):
                return None
            left |= {(place, state[place]) for place, _ in ends}
        after = person.changed(state, ends, axis.rest(0, 0))
        act = Act(axis.place, None, None, True, changes=changes)
        return self._landed(node, after, {place for place, _ in ends}, left), act

    def _landed(
        self, node: Node, state: State, places: set[int], left: frozenset[tuple[int, Value]]
    ) -> Node:
        held = node.held | (places & self.person.excused if self.lasting else frozenset())
        return node._replace(state=state, held=self._held(held, state), left=left)

    def _is_barred(self, node: Node, place: int, value: Value) -> bool:
        """Tell whether earlier direct changes of a feature bar another one."""
        if self.person.features[place].moves is not None:
            return (place, value) in node.left
        return any(each == place for each, _ in node.left)

    @cached_property
    def _tracked(self) -> frozenset[int]:
        """Return the features whose left values decide on later actions."""
        own = (axis for axis, _ in self.chosen if not isinstance(axis, NamedAxis))
        trails = {axis.place for axis in own if axis.free and axis.trails}
        once = (a for a, _ in self.chosen if isinstance(a, NamedAxis) and a.action.repeat == 1)
        return frozenset(trails | {self.person.index[n] for a in once for n in a.action.lists})

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


def _with(items: tuple[int, ...], place: int, item: int) -> tuple[int, ...]:
    return (*items[:place], item, *items[place + 1 :])
