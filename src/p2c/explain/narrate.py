"""A plan in words: what to do, what then happens by itself, what it takes, or why there is no way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from p2c.domain.spec import Minimize
from p2c.explain.caveats import caveats, proved_by
from p2c.explain.laws import only_where
from p2c.explain.phrases import ENGLISH
from p2c.explain.sentences import filled, label_words, number_words, value_words
from p2c.markup import clean
from p2c.plan.outcome import Already, DirectAction, Found, GaveUp, Infeasible

if TYPE_CHECKING:
    from p2c.domain.feature import Value
    from p2c.explain.phrases import Phrases
    from p2c.plan.outcome import Action, CausalAction, Plan
    from p2c.rules.theory import Theory


@dataclass(frozen=True, slots=True)
class Act:
    """One action in words; an effect keeps the rules behind it for readers who want them, or says what let go of the value."""

    text: str
    direct: bool
    because: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Story:
    """A plan in words: sentences before the steps, the steps, sentences after them."""

    opening: tuple[str, ...]
    steps: tuple[tuple[Act, ...], ...]
    closing: tuple[str, ...]


def narrate(theory: Theory, plan: Plan, *, phrases: Phrases = ENGLISH) -> Story:
    """Tell a plan."""
    teller = _Teller(theory, phrases)
    excused = teller.exceptions(plan)
    match plan:
        case Found():
            story = teller.found(plan)
        case Already():
            story = Story((teller.sentence(phrases.already),), (), ())
        case Infeasible():
            story = Story(teller.infeasible(plan), (), ())
        case GaveUp():
            story = teller.gave_up(plan)
    proved = plan.status == "infeasible" or (isinstance(plan, Found) and plan.optimal)
    rests = caveats(theory, plan.question.initial, phrases, rules=not proved)
    return replace(story, opening=(*excused, *story.opening), closing=(*story.closing, *rests))


def rounded(cost: float, *, digits: int = 6) -> float:
    """Return a cost with as many digits as people want to read."""
    return float(f"{cost:.{digits}g}")


class _Teller:
    """Puts plans into one language."""

    def __init__(self, theory: Theory, phrases: Phrases) -> None:
        self.theory = theory
        self.phrases = phrases
        self.by = proved_by(theory, phrases)

    def sentence(self, clause: str) -> str:
        plain = clean(clause)
        return plain[:1].upper() + plain[1:] + self.phrases.full_stop

    def exceptions(self, plan: Plan) -> tuple[str, ...]:
        question = plan.question
        return tuple(
            self.sentence(
                self.phrases.excused_value.format(
                    label=label_words(self.theory.feature[each["feature"]]),
                    value=self.value(each["feature"], question.initial[each["feature"]]),
                )
                if "feature" in each
                else self.phrases.excused_constraint
            )
            for each in question.exceptions
        )

    def found(self, plan: Found) -> Story:
        effort = self.phrases.effort.format(
            cost=number_words(rounded(plan.cost), self.phrases), norm=plan.question.norm.upper()
        )
        closing = [self.sentence(effort)]
        if plan.optimal:
            fewest = self.theory.minimize is Minimize.ACTIONS
            words = self.phrases.proved_fewest if fewest else self.phrases.proved_least
            closing.append(self.sentence(filled(words, by=self.by)))
        return Story((), self.steps(plan), tuple(closing))

    def steps(self, plan: Found) -> tuple[tuple[Act, ...], ...]:
        return tuple(tuple(self.act(action) for action in step.actions) for step in plan.steps)

    def act(self, action: Action) -> Act:
        feature = self.theory.feature[action.feature]
        frame = self.phrases.act if isinstance(action, DirectAction) else self.phrases.effect
        clause = frame.format(
            label=label_words(feature),
            start=self.value(action.feature, action.start),
            end=self.value(action.feature, action.end),
        )
        if isinstance(action, DirectAction):
            return Act(self.sentence(clause), direct=True)
        if action.assumed:
            clause = f"{clause} ({self.phrases.assumed})"
        reasons = action.because or (self.law(action),)
        return Act(self.sentence(clause), direct=False, because=reasons)

    def law(self, action: CausalAction) -> str:
        law = self.theory.feature[action.feature].law.value
        reason = only_where(self.theory, action.feature, action.start, self.phrases)
        return f"{reason} ({law})"

    def value(self, name: str, value: Value) -> str:
        if value is None:
            return self.phrases.unknown
        return value_words(self.theory.feature[name], value, self.phrases)

    def infeasible(self, plan: Infeasible) -> tuple[str, ...]:
        opening = self.sentence(filled(self.phrases.no_way, by=self.by))
        if not plan.blockers:
            words = self.phrases.no_lift if plan.explained else self.phrases.not_explained
            return opening, self.sentence(words)
        restrictions = self.phrases.conjunction.join(
            self.phrases.restrictions[each.restriction].format(
                label=label_words(self.theory.feature[each.feature])
            )
            for each in plan.blockers
        )
        return opening, self.sentence(self.phrases.lift.format(restrictions=restrictions))

    def gave_up(self, plan: GaveUp) -> Story:
        bound = number_words(rounded(plan.bound), self.phrases)
        opening = self.sentence(self.phrases.gave_up.format(bound=bound))
        if plan.best is None:
            return Story((opening, self.sentence(self.phrases.nothing_found)), (), ())
        best = self.found(plan.best)
        following = self.sentence(self.phrases.best_so_far)
        return Story((opening, following), best.steps, best.closing[:1])
