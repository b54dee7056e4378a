"""The answer of a model: proved by the search where the model was read, found by asking where not, confirmed either way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from p2c._blackbox.borders import find_borders
from p2c._blackbox.judge import Judge, Ruling
from p2c._blackbox.limited import LimitedProof
from p2c._blackbox.search import ConfirmedSearch, walked
from p2c._blackbox.walk import Walk, Walker
from p2c._plan.check.validate import check_plan
from p2c._plan.nearest import Distinct
from p2c._plan.outcome import Already, Found, GaveUp, Infeasible, ModelEvidence
from p2c._rules.evaluate import goal_holds
from p2c._rules.theory import ACCEPTED, Call
from p2c.errors import EngineError, P2CError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

    from p2c._blackbox.decider import Decider
    from p2c._blackbox.judge import Ask
    from p2c._engines.policy import Policy
    from p2c._plan.check.validate import Verdict
    from p2c._plan.compiled.space import Space
    from p2c._plan.outcome import Ended, Plan
    from p2c._plan.search.best_first import Limits
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Value
    from p2c._spec.row import State

GUIDES = 4
"""How many plans of the rules the search starts from."""
GUIDED = 0.5
"""The share of the time that goes to them at the most."""


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
    ) -> list[Plan]:
        """Return up to k confirmed plans to distinct ends, cheapest first; one that is not, where there is none."""
        limits = policy.limits
        if self.decider.is_read:
            proof = self.proof(row, state, k, policy, distinct=distinct, limits=limits)
            answers = self._proved(proof) if self.proves else None
            if answers is not None:
                return answers
        return self._asked(Judge(self.asker(row), self.decider.budget), state, k, policy, limits)

    @property
    def proves(self) -> bool:
        """Tell whether plans are proved against the model.

        It must be parsed, and its values few enough to follow.
        """
        return self.decider.is_read and not self.space().has_too_many_places

    def proof(
        self,
        row: Mapping[str, Any] | pd.Series,
        state: State,
        k: int,
        policy: Policy,
        *,
        distinct: Distinct,
        limits: Limits,
    ) -> LimitedProof:
        """Return the proof for one person within limits that have begun."""
        judge = Judge(self.asker(row), max(self.decider.budget, k))
        return LimitedProof(
            self.decider, self.theory, self.space(), judge, state, k, policy, distinct, limits
        )

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

    def _proved(self, proof: LimitedProof) -> list[Plan] | None:
        """Return plans proved against the model; None where the model, asked about an end, says otherwise."""
        plans, ended = proof.run()
        return self._verified(plans, proof.judge, ended)

    def tradeoffs(self, row: Mapping[str, Any] | pd.Series, plans: list[Plan]) -> list[Plan]:
        """Return proved plans with the evidence of the parsed model.

        Raises:
            P2CError: The model, asked about an end, says otherwise.
        """
        judge = Judge(self.asker(row), max(self.decider.budget, len(plans)))
        confirmed = self._verified(plans, judge)
        if confirmed is None:
            raise P2CError("the model and its parsed form differ on an end of these plans")
        return confirmed

    def _verified(
        self, plans: list[Plan], judge: Judge, ended: Ended | None = None
    ) -> list[Plan] | None:
        """Return plans with evidence; None where the model says no to an end."""
        ends = [Walk(each.end) for each in plans if each.end is not None]
        if self.decider.scored:
            judge.answers([*ends, *(Walk(state) for plan in plans for state in _states(plan))])
        if not all(answer.accepted for _, answer in judge.answers(ends)):
            return None
        return [
            _with_evidence(plan, _evidence(judge, plan, proved=True))
            if not isinstance(plan, GaveUp)
            else _with_evidence(plan, _evidence(judge, plan, ended=ended))
            for plan in plans
        ]

    def _asked(
        self, judge: Judge, state: State, k: int, policy: Policy, limits: Limits
    ) -> list[Plan]:
        """Return plans of a model that is only asked, the rules in its place leading the way."""
        if self.theory.spending:
            raise EngineError(f"not available for a black-box model with {self.theory.spending}")
        walker = Walker(self.theory, state)
        guides = self._guides(state, k, policy, limits)
        seeds = [path for guide in guides for path in walked(walker, guide)]
        plans = _confirmed(guides[:k], judge) if self.decider.exact else None
        proved, ended = plans is not None, None
        if plans is None:
            trials, fine = self.decider.trial_values(self.theory)
            search = ConfirmedSearch(walker, judge, trials, fine, wanted=k, limits=limits)
            plans = [self._plan(walker, walk) for walk in search.run(seeds)]
            ended = search.ended
            judge.budget += judge.asked
        plans = plans or [(GaveUp(walker.question, 0.0), "")]
        if self.decider.scored:
            judge.answers(Walk(state) for plan, _ in plans for state in _states(plan))
        first = guides[0] if guides else GaveUp(walker.question, 0.0)
        guide = _with_evidence(first, _evidence(judge, first))
        return [
            _with_evidence(
                plan,
                replace(
                    _evidence(judge, plan, replayed, proved=proved, ended=ended),
                    guide=guide,
                    borders=find_borders(judge, plan),
                ),
            )
            for plan, replayed in plans
        ]

    def _guides(self, state: State, k: int, policy: Policy, limits: Limits) -> list[Plan]:
        """Return the plans of the rules: the one answer where there is no path or nothing to do."""
        space = self.guide()
        if space is None:
            return []
        if self.decider.exact:
            return policy.ends(space, state, k, Distinct.POINTS, limits)
        count, within = max(k, GUIDES), limits.for_share(GUIDED)
        plans = policy.nearest(space, state, count, Distinct.CELLS, limits=within)
        found = list(islice(plans, count))
        return found or [Infeasible(Walker(self.theory, state).question)]

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
        end = plan.end
        return check_plan(self.theory, plan.to_dict(), goal=lambda state: state == end)


def _states(plan: Plan) -> list[Mapping[str, Value]]:
    """Return the person as they are, and where each step leads."""
    return [plan.question.initial, *(step.state for step in plan.steps)]


def _scores(judge: Judge, plan: Plan) -> tuple[tuple[float, float], ...]:
    """Return what the model gives the person and where each step leads, each with what it must reach."""
    rulings = (judge.known.get(tuple(state.values())) for state in _states(plan))
    return tuple(each.told for each in rulings if each is not None and each.told is not None)


def _evidence(
    judge: Judge,
    plan: Plan,
    replayed: str = "",
    *,
    proved: bool = False,
    ended: Ended | None = None,
) -> ModelEvidence:
    last = judge.known.get(tuple(_states(plan)[-1].values()))
    score, threshold = (None, None) if last is None or last.told is None else last.told
    return ModelEvidence(
        judge.said(plan.end or {}),
        judge.asked,
        proved,
        score,
        threshold,
        replayed,
        ended=ended,
        scores=_scores(judge, plan),
        calls=judge.calls,
    )


def _with_evidence(plan: Plan, evidence: ModelEvidence) -> Plan:
    return replace(plan, question=replace(plan.question, evidence=evidence))


def _confirmed(guides: list[Plan], judge: Judge) -> list[tuple[Plan, str]] | None:
    """Return the plans of a model's own rules where the model confirms them; None where it does not."""
    if not guides:
        return None
    plans = [(guide, "") for guide in guides]
    if isinstance(guides[0], Infeasible):
        return plans
    ends = [Walk(plan.end) for plan in guides if plan.end is not None]
    judged = judge.answers(ends)
    agreed = len(judged) == len(guides) and all(answer.accepted for _, answer in judged)
    return plans if agreed else None
