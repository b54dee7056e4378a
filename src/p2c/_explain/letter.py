"""A plan as a letter to the person: why the answer is no, what to do, what then follows, what it counts on, what it takes.

A letter is a frozen value of sentences; text, Markdown, HTML and the page of the workbench are each made from it by one
renderer. It speaks in facts about the person alone: no rule, no variable and no name that is not meant for people.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from p2c._explain.model_reasons import caveats
from p2c._explain.phrases import ENGLISH, phrases_of
from p2c._explain.rules import only_where
from p2c._explain.sentences import filled
from p2c._explain.teller import Item, Teller
from p2c._plan.outcome import Already, DirectAction, Found, GaveUp, Infeasible, TakenAction
from p2c._spec.feature import in_language
from p2c._spec.spec import Minimize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c._explain.phrases import Phrases
    from p2c._plan.outcome import Action, Plan, Question
    from p2c._rules.theory import Theory


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a letter: `kind` is why, steps, blocked, opened, assumed, not_enough, effort or search."""

    kind: str
    heading: str
    lead: str
    items: tuple[Item, ...] = ()
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Letter:
    """All that a person is told of a plan."""

    language: str
    status: str
    title: str
    verdict: str
    sections: tuple[Section, ...]


def write_letter(
    theory: Theory, plan: Plan, *, language: str = "en", cheapest: bool = True
) -> Letter:
    """Tell a plan to the person it is for; `cheapest` is false for a plan that others come before."""
    teller = teller_in(theory, language)
    phrases = teller.phrases
    title = phrases.title if plan.steps else phrases.title_answer
    sections = _Writer(teller, plan, cheapest=cheapest).sections()
    return Letter(language, plan.status, title, _verdict(plan, phrases), tuple(sections))


def _verdict(plan: Plan, phrases: Phrases) -> str:
    """Return the answer in a sentence; "for now" is said only to those who may have a way."""
    match plan:
        case Already():
            return phrases.verdict_yes
        case Infeasible():
            return phrases.verdict_no_way
        case Found() | GaveUp():
            return phrases.verdict_no


def teller_in(theory: Theory, language: str) -> Teller:
    """Return what tells about a problem in a language."""
    return Teller(spoken(theory, language), phrases_of(language))


def spoken(theory: Theory, language: str) -> Theory:
    """Return a theory whose features go by their words of a language, where the problem gives any."""
    known = phrases_of(language).language
    return replace(theory, features=tuple(in_language(f, known) for f in theory.features))


class _Writer:
    """Puts a letter together."""

    def __init__(self, teller: Teller, plan: Plan, *, cheapest: bool) -> None:
        self.teller = teller
        self.phrases = teller.phrases
        self.plan = plan
        self.cheapest = cheapest

    def sections(self) -> Iterator[Section]:
        yield self._why()
        match self.plan:
            case Found() as plan:
                yield from self._way(plan)
                yield self._effort(plan)
            case Already():
                yield self._section("steps", self.phrases.nothing_to_do)
                yield from self._assumed(None)
            case Infeasible() as plan:
                yield from self._blocked(plan)
                yield from self._assumed(None)
            case GaveUp() as plan:
                yield from self._stopped(plan)

    def _section(
        self, kind: str, lead: str, items: tuple[Item, ...] = (), *, ordered: bool = False
    ) -> Section:
        return Section(kind, self.phrases.headings[kind], lead, items, ordered)

    def _why(self) -> Section:
        lead, items = self.teller.reasons(self.plan.question.initial)
        told = self.plan.question.evidence
        if told is None or told.exact or self.teller.theory.model is not None:
            return self._section("why", lead, items)
        if self.teller.says_yes(self.plan.question.initial) != (self.plan.status == "already"):
            return self._section("why", self.phrases.model_unexplained)
        return self._section("why", lead, (*items, Item(self.phrases.model_reasons)))

    def _way(self, plan: Found) -> Iterator[Section]:
        yield self._steps("steps", plan)
        yield from self._not_enough(plan)
        yield from self._assumed(plan)

    def _steps(self, kind: str, plan: Found, lead: str = "") -> Section:
        items = self.teller.steps(plan)
        usual = self.phrases.one_step if len(items) == 1 else self.phrases.several_steps
        return self._section(kind, lead or usual, items, ordered=True)

    def _not_enough(self, plan: Found) -> Iterator[Section]:
        told = plan.question.evidence
        # What would not be enough for the rules might be enough for a model that they only stand for.
        items = self.teller.without_steps(plan) if told is None or told.exact else ()
        if items:
            yield self._section("not_enough", "", items)

    def _assumed(self, plan: Found | None) -> Iterator[Section]:
        items = self.teller.assumptions(self.plan.question, plan)
        if items:
            yield self._section("assumed", "", items)

    def _effort(self, plan: Found) -> Section:
        effort, taken = self.teller.effort(plan)
        told = plan.question.evidence
        # What the rules prove is nothing to somebody whom the model refuses.
        refused = told is not None and told.accepted is False
        proofs = () if refused else self.teller.proofs(plan, cheapest=self.cheapest)
        return self._section("effort", effort, (*taken, *proofs, *self.teller.confirmed(plan)))

    def _blocked(self, plan: Infeasible) -> Iterator[Section]:
        if not plan.blockers or plan.opened is None:
            reason = self.phrases.rules_block if plan.explained else self.phrases.not_found_out
            yield self._section("blocked", self.teller.proved(reason))
            return
        lead = self.teller.proved(self.phrases.blocked)
        yield self._section("blocked", lead, self.teller.blockers(plan.blockers))
        several = len(plan.blockers) > 1
        lead = self.phrases.opens_several if several else self.phrases.opens_one
        yield self._steps("opened", plan.opened, lead)

    def _stopped(self, plan: GaveUp) -> Iterator[Section]:
        if plan.best is not None:
            yield from self._way(plan.best)
            yield self._effort(plan.best)
        else:
            yield from self._assumed(None)
        items = self.teller.stopped(found=plan.best is not None)
        told = plan.question.evidence
        if told is not None:
            items += (self.teller.asked(told.queries),)
        yield self._section("search", self.teller.bound(plan), items)


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
