"""A plan in short, for those who know its rules: what to do, what then happens and by which rule, and what was proved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p2c._explain.facts import caveats
from p2c._explain.phrases import ENGLISH
from p2c._explain.rules import only_where
from p2c._explain.sentences import filled
from p2c._explain.teller import Teller
from p2c._plan.outcome import Already, DirectAction, Found, GaveUp, Infeasible, TakenAction
from p2c._spec.spec import Minimize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c._explain.phrases import Phrases
    from p2c._plan.outcome import Action, Plan, Question
    from p2c._rules.theory import Theory


@dataclass(frozen=True, slots=True)
class Act:
    """One action in words; an effect keeps the rules behind it for readers who want them, or says what let go of the value."""

    text: str
    direct: bool
    because: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """A plan in short: sentences before the steps, the steps, sentences after them."""

    opening: tuple[str, ...]
    steps: tuple[tuple[Act, ...], ...]
    closing: tuple[str, ...]


def summarize(theory: Theory, plan: Plan, *, phrases: Phrases = ENGLISH) -> Summary:
    """Tell a plan in short."""
    teller = Teller(theory, phrases)
    told = plan.question.evidence
    proved = plan.status != "already" and plan.optimal
    sure = proved or (told is not None and told.accepted is True)
    confirmed = teller.confirmed(plan) if isinstance(plan, Found) else ()
    opening = (*_exceptions(teller, plan.question), *_opening(teller, plan))
    return Summary(
        tuple(map(teller.sentence, opening)),
        tuple(tuple(_act(teller, each) for each in step.actions) for step in plan.steps),
        (
            *map(teller.sentence, _closing(teller, plan)),
            *(each.text for each in confirmed),
            *caveats(theory, plan.question.initial, phrases, rules=not sure),
        ),
    )


def _exceptions(teller: Teller, question: Question) -> Iterator[str]:
    for each in question.exceptions:
        name = each.get("feature")
        if name is None:
            yield teller.phrases.excused_constraint
        else:
            value = teller.value(name, question.initial[name])
            yield filled(teller.phrases.excused_value, label=teller.label(name), value=value)


def _opening(teller: Teller, plan: Plan) -> Iterator[str]:
    phrases = teller.phrases
    match plan:
        case Already():
            yield phrases.already
        case Infeasible(blockers=blockers):
            yield teller.proved(phrases.no_way)
            if blockers:
                told = phrases.conjunction.join(map(teller.restriction, blockers))
                yield filled(phrases.lift, restrictions=told)
            else:
                yield phrases.no_lift if plan.explained else phrases.not_explained
        case GaveUp(bound=bound, best=best):
            yield filled(phrases.gave_up, bound=teller.number(bound))
            yield phrases.best_so_far if best else phrases.nothing_found
        case Found():
            pass


def _act(teller: Teller, action: Action) -> Act:
    if isinstance(action, TakenAction):
        return Act(teller.sentence(teller.taken(action)), direct=True)
    direct = isinstance(action, DirectAction)
    clause = filled(
        teller.phrases.act if direct else teller.phrases.effect,
        label=teller.label(action.feature),
        start=teller.value(action.feature, action.start),
        end=teller.value(action.feature, action.end),
    )
    if isinstance(action, DirectAction):
        return Act(teller.sentence(clause), direct=True)
    if action.assumed:
        clause = f"{clause} ({teller.phrases.assumed})"
    feature = teller.theory.feature[action.feature]
    if feature.equation is not None:
        equation = f"{feature.name} = {feature.equation.text}"
        return Act(teller.sentence(clause), direct=False, because=(equation,))
    law = feature.law.value
    reason = only_where(teller.theory, action.feature, action.start, teller.phrases)
    because = action.because or (f"{reason} ({law})",)
    return Act(teller.sentence(clause), direct=False, because=because)


def _closing(teller: Teller, plan: Plan) -> Iterator[str]:
    phrases = teller.phrases
    best = plan.best if isinstance(plan, GaveUp) else plan
    amounts = teller.amounts(best) if isinstance(best, Found) else ""
    if amounts:
        yield amounts.removesuffix(phrases.full_stop)
    elif plan.steps and plan.cost is not None:
        norm = plan.question.norm.upper()
        yield filled(phrases.effort, cost=teller.number(plan.cost), norm=norm)
    if isinstance(plan, Found) and plan.optimal:
        fewest = teller.theory.minimize is Minimize.ACTIONS
        yield teller.proved(phrases.proved_fewest if fewest else phrases.proved_least)
