"""A proof within limits, with the plans found by asking the model meanwhile.

The search for a proof knows a first plan only when it has the best. So where a limit ends it, the heuristics that serve a model
that can only be asked look for a plan as well, within the same limits: an answer that gave up is never worse than theirs. They run
once the proof has failed within a share of the time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from p2c._blackbox.search import ConfirmedSearch, walked
from p2c._blackbox.walk import Walk, Walker
from p2c._engines.policy import explained
from p2c._plan.nearest import Distinct
from p2c._plan.outcome import Ended, Found, GaveUp, Infeasible
from p2c._plan.search.best_first import Limits
from p2c._spec.spec import Minimize

if TYPE_CHECKING:
    from p2c._blackbox.decider import Decider
    from p2c._blackbox.judge import Judge
    from p2c._engines.policy import Policy
    from p2c._plan.compiled.space import Space
    from p2c._plan.outcome import Plan
    from p2c._rules.theory import Theory
    from p2c._spec.row import State

FIRST = 0.15
"""Share of the time for most proofs before the model is asked for plans."""
ENOUGH = 0.4
"""Share of the remaining time after which a search with a plan stops.

The proof has the rest.
"""
SEARCHING = 0.9
"""Share of the time for searching; the model confirms the answer in the rest."""
GRACE = 0.1
"""Share of the time for asking the model if the proof has used all of it."""


class Proved(NamedTuple):
    """The plans of a proof and, after a limit, the best plan found by asking."""

    plans: list[Plan]
    ended: Ended | None


@dataclass(eq=False)
class LimitedProof:
    """A question about one person to a parsed model, with the limits of the answer."""

    decider: Decider
    theory: Theory
    space: Space
    judge: Judge
    state: State
    k: int
    policy: Policy
    distinct: Distinct
    limits: Limits

    def run(self, *, explain: bool = True) -> Proved:
        """Return the proved plans, cheapest first.

        An answer without a plan says what blocks the person if `explain` is true.
        """
        limits = self.limits.for_share(SEARCHING)
        first = limits.for_share(FIRST)
        candidates: list[Found] = []
        plans = self._proved(first, None)
        if isinstance(plans[-1], GaveUp):
            candidates = self._asked(plans, limits)
            if not first.is_spent:
                known = plans[0] if isinstance(plans[0], Found) else None
                plans = self._proved(limits, known)
        last = plans[-1]
        if isinstance(last, Infeasible) and explain:
            plans = [explained(self.space, self.state, last, limits)]
        if not isinstance(last, GaveUp):
            return Proved(plans, None)
        ended = Ended.TIME if limits.is_over else Ended.NODES
        return Proved([*plans[:-1], *self._better(last, plans[:-1], candidates)], ended)

    def _proved(self, limits: Limits, first: Plan | None) -> list[Plan]:
        """Return the plans of the proof; after a limit, the last one is `GaveUp`."""
        plan = first or self.policy.plan(self.space, self.state, limits)
        if self.k == 1 or not isinstance(plan, Found):
            return [plan]
        plans = self.policy.nearest(
            self.space, self.state, self.k, self.distinct, first=plan, limits=limits
        )
        return list(islice(plans, self.k))

    def _asked(self, plans: list[Plan], limits: Limits) -> list[Found]:
        """Return plans that the model accepts, found by asking it in the remaining time."""
        if limits.is_over and self.policy.time_limit:
            # A step of the proof took more than its share and all the rest.
            limits = Limits.within(GRACE * self.policy.time_limit)
        if limits.is_over:
            return []
        walker = Walker(self.theory, self.state)
        search = ConfirmedSearch(
            walker,
            self.judge,
            *self.decider.trial_values(self.theory),
            wanted=self.k,
            limits=limits,
            enough=limits.for_share(ENOUGH),
        )
        known = [each.best for each in plans if isinstance(each, GaveUp) and each.best]
        walks = search.run(walk for each in known for walk in walked(walker, each))
        # What confirms the answers is asked besides.
        self.judge.budget += self.judge.asked
        return [walker.found(walk) for walk in walks if walk.before is not None]

    def _better(self, last: GaveUp, before: list[Plan], candidates: list[Found]) -> list[GaveUp]:
        """Return `GaveUp` once with each of the best plans, or once without a plan."""
        ends = [each.end for each in before]
        plans = [last.best] if last.best and self._accepted(last.best) else []
        plans += [each for each in candidates if each.end not in ends]
        plans.sort(key=self._rank)
        distinct: list[Found] = []
        for each in plans:
            if all(each.end != other.end for other in distinct):
                distinct.append(replace(each, question=last.question))
        most = self.k - len(before) if self.distinct is Distinct.POINTS else 1
        return [replace(last, best=each) for each in distinct[:most]] or [replace(last, best=None)]

    def _accepted(self, plan: Found) -> bool:
        return all(answer.accepted for _, answer in self.judge.answers([Walk(plan.end)]))

    def _rank(self, plan: Found) -> tuple[float, float]:
        actions = len(plan.actions)
        if self.theory.minimize is Minimize.ACTIONS:
            return actions, plan.cost
        return plan.cost, actions
