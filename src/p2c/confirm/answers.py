"""The answer of a model: proved by the search where the model was read, found by asking where not, confirmed either way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from p2c.confirm.judge import Judge, Ruling
from p2c.confirm.result import VerifiedPlan, find_borders
from p2c.confirm.search import ConfirmedSearch
from p2c.confirm.walk import Walk, Walker
from p2c.plan.check.validate import check_plan
from p2c.plan.nearest import Distinct
from p2c.plan.outcome import Already, Found, GaveUp, Infeasible, Testimony
from p2c.rules.evaluate import goal_holds
from p2c.rules.theory import ACCEPTED, Call

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

    from p2c.confirm.decider import Decider
    from p2c.confirm.judge import Ask
    from p2c.domain.feature import Value
    from p2c.domain.row import State
    from p2c.engines.policy import Policy
    from p2c.plan.check.validate import Verdict
    from p2c.plan.compiled.space import Space
    from p2c.plan.outcome import Plan
    from p2c.rules.theory import Theory

GUIDES = 4
"""How many plans of the rules the search starts from."""


@dataclass(frozen=True, eq=False)
class ConfirmedPlanner:
    """A problem in which a model decides: `space` compiles it, `guide` compiles the rules that stand in for the model."""

    decider: Decider
    theory: Theory
    space: Callable[[], Space]
    guide: Callable[[], Space | None]

    def nearest(
        self,
        row: Mapping[str, Any] | pd.Series,
        state: State,
        k: int,
        policy: Policy,
        distinct: Distinct = Distinct.POINTS,
    ) -> list[VerifiedPlan]:
        """Return up to k confirmed plans to distinct ends, cheapest first; one that is not, where there is none."""
        budget = max(self.decider.budget, k) if self.decider.is_read else self.decider.budget
        judge = Judge(self.asker(row), budget)
        if self.decider.is_read and not self.space().has_too_many_places:
            answers = self._proved(judge, state, k, policy, distinct)
            if answers is not None:
                return answers
        return self._asked(Judge(self.asker(row), self.decider.budget), state, k, policy)

    def asker(self, row: Mapping[str, Any] | pd.Series) -> Ask:
        """Return what tells of states whether they meet the goal, by one question to the model for all of them."""
        ask, theory = self.decider.asker(row), self.theory
        wanted = theory.wants_yes
        if theory.goal == (Call(ACCEPTED),):
            return ask

        def met(states: Sequence[Mapping[str, Value]]) -> list[Ruling]:
            return [
                Ruling(
                    goal_holds(theory, state, {ACCEPTED: each.accepted}),
                    each.score if wanted else None,
                    each.told,
                )
                for state, each in zip(states, ask(states), strict=True)
            ]

        return met

    def _proved(
        self, judge: Judge, state: State, k: int, policy: Policy, distinct: Distinct
    ) -> list[VerifiedPlan] | None:
        """Return plans proved against the model; None where the model, asked about an end, says otherwise."""
        space = self.space()
        plans = list(islice(policy.nearest(space, state, k, distinct), k))
        plans = plans or [policy.explained_plan(space, state)]
        ends = [Walk(each.counterfactual) for each in plans if isinstance(each, Found | Already)]
        if self.decider.scored:
            judge.answers([*ends, *(Walk(state) for plan in plans for state in _states(plan))])
        if not all(answer.accepted for _, answer in judge.answers(ends)):
            return None
        return [
            _verified(judge, plan, _testimony(judge, plan, proved=not isinstance(plan, GaveUp)))
            for plan in plans
        ]

    def _asked(self, judge: Judge, state: State, k: int, policy: Policy) -> list[VerifiedPlan]:
        """Return plans of a model that is only asked, the rules in its place leading the way."""
        walker = Walker(self.theory, state)
        guides = self._guides(state, k, policy)
        seeds = [path for guide in guides for path in _walked(walker, guide)]
        plans = _confirmed(guides[:k], judge) if self.decider.exact else None
        proved = plans is not None
        if plans is None:
            trials, fine = self.decider.trial_values(self.theory)
            search = ConfirmedSearch(walker, judge, trials, fine, wanted=k)
            plans = [self._plan(walker, walk) for walk in search.run(seeds)]
        plans = plans or [(GaveUp(walker.question, 0.0), "")]
        if self.decider.scored:
            judge.answers(Walk(state) for plan, _ in plans for state in _states(plan))
        first = guides[0] if guides else GaveUp(walker.question, 0.0)
        guide = _with_testimony(first, _testimony(judge, first))
        return [
            replace(
                _verified(judge, plan, _testimony(judge, plan, replayed, proved=proved)),
                guide=guide,
                guide_accepted=judge.said(guide.counterfactual or {}),
                borders=find_borders(judge, plan),
            )
            for plan, replayed in plans
        ]

    def _guides(self, state: State, k: int, policy: Policy) -> list[Plan]:
        """Return the plans of the rules: the one answer where there is no path or nothing to do."""
        space = self.guide()
        if space is None:
            return []
        exact = self.decider.exact
        count = k if exact else max(k, GUIDES)
        plans = policy.nearest(space, state, count, Distinct.POINTS if exact else Distinct.CELLS)
        found = list(islice(plans, count))
        if found or not exact:
            return found or [Infeasible(Walker(self.theory, state).question)]
        return [policy.explained_plan(space, state)]

    def _plan(self, walker: Walker, walk: Walk) -> tuple[Plan, str]:
        """Return a confirmed walk as a plan, and what came of replaying it."""
        if walk.before is None:
            return Already(walker.question), ""
        plan = walker.found(walk)
        verdict = self.replayed(plan)
        assert verdict, f"a confirmed plan breaks the contract: {verdict}"
        return plan, str(verdict)

    def replayed(self, plan: Found | Already) -> Verdict:
        """Replay a plan with its end, which the model has accepted, in the place of the goal."""
        end = plan.counterfactual
        return check_plan(self.theory, plan.to_dict(), goal=lambda state: state == end)


def _states(plan: Plan) -> list[Mapping[str, Value]]:
    """Return the person as they are, and where each step leads."""
    return [plan.question.initial, *(step.state for step in plan.steps)]


def _scores(judge: Judge, plan: Plan) -> tuple[tuple[float, float], ...]:
    """Return what the model gives the person and where each step leads, each with what it must reach."""
    rulings = (judge.known.get(tuple(state.values())) for state in _states(plan))
    return tuple(each.told for each in rulings if each is not None and each.told is not None)


def _testimony(judge: Judge, plan: Plan, replayed: str = "", *, proved: bool = False) -> Testimony:
    said = judge.said(plan.counterfactual or {})
    last = judge.known.get(tuple(_states(plan)[-1].values()))
    return Testimony(said, judge.asked, proved, None if last is None else last.told, replayed)


def _verified(judge: Judge, plan: Plan, told: Testimony) -> VerifiedPlan:
    """Return a plan with what the model had to do with it; it is its own guide."""
    known = _with_testimony(plan, told)
    return VerifiedPlan(
        known,
        isinstance(plan, Found | Already),
        judge.asked,
        judge.calls,
        known,
        told.accepted,
        proved=told.proved,
        scores=_scores(judge, plan),
    )


def _with_testimony(plan: Plan, testimony: Testimony) -> Plan:
    return replace(plan, question=replace(plan.question, testimony=testimony))


def _confirmed(guides: list[Plan], judge: Judge) -> list[tuple[Plan, str]] | None:
    """Return the plans of a model's own rules where the model confirms them; None where it does not."""
    if not guides:
        return None
    plans = [(guide, "") for guide in guides]
    if isinstance(guides[0], Infeasible):
        return plans
    ends = [Walk(plan.counterfactual) for plan in guides if plan.counterfactual is not None]
    judged = judge.answers(ends)
    agreed = len(judged) == len(guides) and all(answer.accepted for _, answer in judged)
    return plans if agreed else None


def _walked(walker: Walker, guide: Plan) -> list[Walk]:
    """Return the plan of the rules as a walk, where its actions alone lead to its end."""
    if not isinstance(guide, Found):
        return []
    ends = walker.follow((each.feature, each.end) for each in guide.direct_actions)
    return [walk for walk in ends if walk.state == guide.counterfactual]
