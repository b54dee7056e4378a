"""Why a model refuses: a smallest set of the person's values that forces it, whatever the others are within their domains.

To change a feature that is not in such a set never helps alone. Every way to a yes that leaves some values as they are
names others of which the set must hold one, so the smallest set that holds one of each is tried next, until no way is
left (the duality of reasons and corrections; implicit hitting sets). Causes, constraints and who may change what do not
count here: it is the model alone that is asked about.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from p2c.domain.cost import Norm
from p2c.domain.feature import Action
from p2c.domain.spec import Minimize
from p2c.plan.compiled.person import place_person
from p2c.plan.compiled.space import Space
from p2c.plan.compiled.transitions import Transitions
from p2c.plan.outcome import Already, Found, GaveUp
from p2c.plan.planner import search_plan
from p2c.plan.search.best_first import LimitReached, Limits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p2c.domain.feature import Value
    from p2c.plan.outcome import Plan
    from p2c.rules.theory import Theory


def forcing_set(
    theory: Theory,
    state: Mapping[str, Value],
    limits: Limits | None = None,
    *,
    always: Sequence[str] = (),
    never: Sequence[str] = (),
) -> tuple[str, ...] | None:
    """Return a smallest set of features whose values force the refusal; None where there is none, or no time.

    Those that are `always` held force it as well, and are not in the set; nor are those that it may `never` hold.
    """
    space = Space(_by_itself(theory))
    names = [feature.name for feature in theory.features]
    corrections: list[frozenset[str]] = []
    try:
        while True:
            held = _smallest(corrections, names)
            plan = _plan(space, state, (*held, *always), limits or Limits())
            if isinstance(plan, Already | GaveUp):
                return None
            if not isinstance(plan, Found):
                return held
            end = plan.counterfactual
            other = frozenset(name for name in names if end[name] != state[name])
            if other <= frozenset(never):
                return None
            corrections.append(other - frozenset(never))
    except LimitReached:
        return None


def forced_without(
    theory: Theory, state: Mapping[str, Value], held: Sequence[str], limits: Limits | None = None
) -> Mapping[str, Value] | None:
    """Return an accepted state with some values held, with the fewest others changed; None where there is none, or no time."""
    try:
        plan = _plan(Space(_by_itself(theory)), state, held, limits or Limits())
    except LimitReached:
        return None
    return plan.counterfactual if isinstance(plan, Found) else None


def _plan(space: Space, state: Mapping[str, Value], held: Sequence[str], limits: Limits) -> Plan:
    fixed = [replace(e, action=Action.FIXED) for e in space.theory.features if e.name in held]
    transitions = Transitions(place_person(space.with_features(fixed), state))
    return search_plan(transitions, limits)


def _by_itself(theory: Theory) -> Theory:
    """Return a theory in which everybody may change everything, and nothing follows from anything."""
    features = [
        replace(each, action=Action.FREE, moves=None, governed=False, weight=1)
        for each in theory.features
    ]
    return replace(
        theory,
        features=tuple(features),
        causes=(),
        constraints=(),
        norm=Norm.L0,
        minimize=Minimize.COST,
    )


def _smallest(needed: list[frozenset[str]], names: list[str]) -> tuple[str, ...]:
    """Return the first smallest set of features that holds one of each of some sets."""
    some = [name for name in names if any(name in each for each in needed)]
    for size in range(len(some) + 1):
        for chosen in combinations(some, size):
            if all(each.intersection(chosen) for each in needed):
                return chosen
    raise AssertionError("all features together hold one of each")
