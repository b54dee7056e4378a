"""The sentences of a letter: reasons, steps with what follows, assumptions, what would not be enough."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from p2c._explain.model_reasons import (
    circumstances,
    facts,
    model_reasons,
    more_words,
    proved_by,
    rules_words,
)
from p2c._explain.rules import loses_its_rule, only_where
from p2c._explain.sentences import (
    as_sentence,
    filled,
    label_words,
    number_words,
    rounded,
    value_words,
)
from p2c._markup import clean
from p2c._plan.check.rehearse import rehearse_without
from p2c._plan.outcome import CausalAction, DirectAction, TakenAction
from p2c._plan.slack import round_target
from p2c._rules.proof import Compared, Decided, Query, why, why_fires
from p2c._rules.theory import ACCEPTED
from p2c._spec.feature import RestrictionKind, exact
from p2c._spec.spec import Minimize

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from p2c._explain.phrases import Phrases
    from p2c._plan.outcome import Blocker, Found, GaveUp, Question
    from p2c._rules.proof import ProofNode
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Feature, Value
    from p2c._spec.resources import NamedAction, Resource

Act = TypeVar("Act", DirectAction, DirectAction | TakenAction)
MOST_REASONS = 20
MOST_OTHERS = 4
"""Maximum number of other categories that are listed as targets."""
SAME = 1e-9
"""How near, relatively, two costs are whose steps are called equally hard; plans themselves are compared exactly."""


@dataclass(frozen=True, slots=True)
class Item:
    """One point of a list, and what is told below it."""

    text: str
    notes: tuple[str, ...] = ()


class Teller:
    """Says things about one problem in one language."""

    def __init__(self, theory: Theory, phrases: Phrases) -> None:
        self.theory = theory
        self.phrases = phrases

    def sentence(self, clause: str) -> str:
        """Make a clause a sentence."""
        return as_sentence(clause, self.phrases)

    def sentences(self, clauses: tuple[str, ...]) -> str:
        """Make clauses that belong together short sentences."""
        rest = [filled(self.phrases.further, clause=clause) for clause in clauses[1:]]
        return " ".join(map(self.sentence, (clauses[0], *rest)))

    def label(self, name: str) -> str:
        """Return what a feature is called."""
        return label_words(self.theory.feature[name])

    def value(self, name: str, value: Value) -> str:
        """Return what a value is called."""
        return value_words(self.theory.feature[name], value, self.phrases)

    def reasons(self, state: Mapping[str, Value]) -> tuple[str, tuple[Item, ...]]:
        """Return why the answer is what it is in a state: what leads in, and the points."""
        root = why(self.theory, state).root
        nodes = root.children if isinstance(root.claim, Query) else (root,)
        told = model_reasons(self.theory, state) if _rests_on_model(nodes) else None
        points = [point for node in nodes for point in _points(node)]
        if told is not None and not (root.holds and points):
            lead, *values = told.sentences(self.phrases)
            return lead.text, tuple(Item(each.text) for each in values)
        items = [Item(self.sentences(facts(self.theory, each, self.phrases))) for each in points]
        shown = tuple(dict.fromkeys(items))
        if len(shown) > MOST_REASONS:
            more = self.sentence(more_words(len(shown) - MOST_REASONS, self.phrases))
            shown = (*shown[:MOST_REASONS], Item(more))
        if root.holds:
            return self.phrases.yes_because, shown
        return self._lead(nodes, len(shown)), shown

    def says_yes(self, state: Mapping[str, Value]) -> bool:
        """Tell whether the rules meet the goal in a state."""
        return why(self.theory, state).root.holds

    def _lead(self, nodes: tuple[ProofNode, ...], count: int) -> str:
        refusals = all(isinstance(n.claim, Decided) and n.claim.call.negated for n in nodes)
        if refusals and len(nodes) == 1:
            return self.phrases.one_reason if count == 1 else self.phrases.several_reasons
        if count > 1 and len(nodes) == 1 and isinstance(nodes[0].claim, Decided):
            return filled(self.phrases.several_ways, count=str(count))
        return self.phrases.missing_for_yes

    def steps(self, plan: Found) -> tuple[Item, ...]:
        """Return what to do, in order, each with what then follows by itself."""
        items: list[Item] = []
        state = dict(plan.question.initial)
        room = _room(plan)
        for action in (each for step in plan.steps for each in step.actions):
            if isinstance(action, TakenAction):
                items.append(Item(self.sentence(self.taken(action))))
                state.update({each.feature: each.end for each in action.changes})
                continue
            if isinstance(action, DirectAction):
                items.append(Item(self._deed(action, room.get(id(action)))))
            else:
                note = self._effect(action, state)
                if not items:
                    items.append(Item(self.sentence(self.phrases.wait)))
                items[-1] = Item(items[-1].text, (*items[-1].notes, note))
            state[action.feature] = action.end
        return tuple(items)

    def taken(self, action: TakenAction) -> str:
        """Return a named action with its repetitions, as a clause."""
        labels = {each.name: self._own_label(each) for each in self.theory.named_actions}
        label = labels.get(action.action, action.action)
        if action.count == 1:
            return label
        return filled(self.phrases.repeated, action=label, count=self.number(action.count))

    def amounts(self, plan: Found) -> str:
        """Return the amounts of resources that a plan uses, as a sentence; may be empty."""
        used = plan.uses
        parts = []
        for each in self.theory.resources:
            if each.name in used:
                amount, label = rounded(used[each.name]), self._own_label(each)
                unit = self.phrases.units_of_one.get(label, label) if amount == 1 else label
                words = {"value": number_words(amount, self.phrases), "unit": unit}
                parts.append(filled(self.phrases.with_unit, **words))
        return filled(self.phrases.takes_amounts, amounts=self._listed(parts)) if parts else ""

    def _own_label(self, part: Resource | NamedAction) -> str:
        return dict(part.labels).get(self.phrases.language) or part.label

    def _listed(self, parts: list[str]) -> str:
        """Join words by commas and a last "and"."""
        if len(parts) == 1:
            return parts[0]
        return self.phrases.rules["and"].join((", ".join(parts[:-1]), parts[-1]))

    def _deed(self, action: DirectAction, room: Mapping[str, Any] | None) -> str:
        """Describe a change, with the other values that reach the goal as well."""
        feature = self.theory.feature[action.feature]
        action = suggested(action, room)
        if action.start is None or action.end is None:
            usual = self.phrases.set_value
        elif _is_named(feature):
            usual = self.phrases.change_value
        else:
            rises = feature.order(action.end) > feature.order(action.start)
            usual = self.phrases.raise_value if rises else self.phrases.lower_value
        if feature.advice or room is None:
            return self._change(feature.advice or usual, action)
        if "values" in room:
            return " ".join([self._change(usual, action), *self._others(action, room["values"])])
        return self._change(usual, action, self._target_frame(action, room))

    def _change(
        self, frame: str, action: DirectAction | CausalAction, target: str = "{value}"
    ) -> str:
        words = {
            "label": self.label(action.feature),
            "start": self.value(action.feature, action.start),
            "end": filled(target, value=self.value(action.feature, action.end)),
        }
        return self.sentence(filled(frame, **words))

    def _others(self, action: DirectAction, values: Sequence[Value]) -> Iterator[str]:
        """Yield the sentence about a few other values that reach the goal."""
        others = [self.value(action.feature, each) for each in values if each != action.end]
        if 0 < len(others) <= MOST_OTHERS:
            yield self.sentence(
                filled(self.phrases.others_do, values=self.phrases.disjunction.join(others))
            )

    def _target_frame(self, action: DirectAction, room: Mapping[str, Any]) -> str:
        """Return how exactly a number has to be met, as a frame around it."""
        feature, end = self.theory.feature[action.feature], action.end
        if _is_named(feature) or end is None or isinstance(end, str):
            return "{value}"
        rises = action.start is None or feature.order(end) > feature.order(action.start)
        far = room["max" if rises else "min"]
        if far == end:
            return "{value}"
        if far == feature.domain.value(feature.domain.size - 1 if rises else 0):
            return self.phrases.or_more if rises else self.phrases.or_less
        last = round_target(feature, 2 * far - end, far, (min(far, end), max(far, end)))
        frame = self.phrases.at_most if rises else self.phrases.at_least
        return filled(frame, far=self.value(action.feature, last))

    def _effect(self, action: CausalAction, state: Mapping[str, Value]) -> str:
        named = _is_named(self.theory.feature[action.feature])
        frame = self.phrases.follows_named if named else self.phrases.follows
        frame = self.phrases.follows_unknown if action.start is None else frame
        own = self.theory.feature[action.feature]
        if own.equation is not None:
            return self._change(self._computed_frame(own, action), action)
        known = self.theory.clause_of
        proofs = [
            why_fires(self.theory, known[text], state) for text in action.because if text in known
        ]
        if proofs and not loses_its_rule(self.theory, action.feature, action.start, state):
            first, *rest = circumstances(self.theory, proofs, self.phrases)
            causes = (filled(self.phrases.because, reason=first), *rest)
        else:
            reason = only_where(self.theory, action.feature, action.start, self.phrases)
            causes = (filled(self.phrases.because, reason=reason),)
        return f"{self._change(frame, action)} {self.sentences(causes)}"

    def _computed_frame(self, feature: Feature, action: CausalAction) -> str:
        """Return the frame that says how a computed value changes."""
        if action.start is None or action.end is None:
            frame = self.phrases.follows_unknown
        elif feature.order(action.end) > feature.order(action.start):
            frame = self.phrases.computed_rises
        else:
            frame = self.phrases.computed_falls
        return frame

    def without_steps(self, plan: Found) -> tuple[Item, ...]:
        """Return what stays when one thing to do is left out; nothing where there is only one."""
        actions = plan.actions
        if len(actions) < 2:
            return ()
        numbered = enumerate(actions, start=self._first_number(plan))
        return tuple(
            Item(text) for number, each in numbered for text in self._without(plan, each, number)
        )

    def _without(
        self, plan: Found, action: DirectAction | TakenAction, number: int
    ) -> Iterator[str]:
        rehearsal = rehearse_without(self.theory, plan, action)
        if rehearsal.stuck:
            yield filled(self.phrases.without_step_stuck, number=str(number))
        elif not rehearsal.goal:
            # Why a model would still refuse takes as long to find out as the plan did.
            _, reasons = ("", ()) if self.theory.model else self.reasons(rehearsal.state)
            start = filled(self.phrases.without_step, number=str(number))
            yield " ".join([start, *(each.text for each in reasons)])

    def assumptions(self, question: Question, plan: Found | None) -> tuple[Item, ...]:
        """Return what an answer counts on: the person's odd or missing values, luck, and that all else stays."""
        told = list(self._given(question))
        if plan is not None:
            told += self._luck(plan)
            told += [self.phrases.rest_stays, self.phrases.rules_stay]
        return tuple(Item(each) for each in told)

    def _given(self, question: Question) -> Iterator[str]:
        for each in question.exceptions:
            name = each.get("feature")
            if name is None:
                yield self.phrases.odd_constraint
                continue
            value = self.value(name, question.initial[name])
            yield clean(filled(self.phrases.odd_value, label=self.label(name), value=value))
        for name in self.theory.missing(question.initial):
            yield clean(filled(self.phrases.unknown_value, label=self.label(name)))
        by, told = rules_words(self.theory, self.phrases), question.evidence
        # Where the model itself has confirmed an answer, the rules in its place do not give it.
        if by and not (told is not None and told.accepted):
            yield filled(self.phrases.given_by, by=by)

    def _luck(self, plan: Found) -> Iterator[str]:
        effects = [a for s in plan.steps for a in s.actions if isinstance(a, CausalAction)]
        for each in effects:
            if each.assumed:
                words = {
                    "label": self.label(each.feature),
                    "end": self.value(each.feature, each.end),
                }
                yield clean(filled(self.phrases.counts_on, **words))
        if effects:
            yield self.phrases.effects_follow

    def effort(self, plan: Found) -> tuple[str, tuple[Item, ...]]:
        """Describe the number of actions of a plan and the effort of each one.

        The hardest is named only where the problem states what every one of them costs: default costs follow the ranges.
        """
        actions = plan.actions
        if not actions:
            return self.sentence(self.phrases.wait), ()
        amounts = self.amounts(plan)
        if len(actions) == 1:
            return f"{self.phrases.one_own_step} {amounts}".rstrip(), ()
        told = filled(self.phrases.own_steps, count=self.number(len(actions)))
        told = f"{told} {amounts}".rstrip()
        room = _room(plan)
        numbered = list(enumerate(actions, start=self._first_number(plan)))
        items = tuple(
            Item(self._takes(n, suggested(each, room.get(id(each))))) for n, each in numbered
        )
        own = (each.feature for each in actions if isinstance(each, DirectAction))
        if not all(self.theory.feature[name].states_cost for name in own):
            return told, items
        most = max(each.cost for each in actions)
        top = [str(n) for n, each in numbered if math.isclose(each.cost, most, rel_tol=SAME)]
        return f"{told} {self._hardest(top, len(actions))}", items

    def _hardest(self, top: list[str], count: int) -> str:
        """Say which steps are the hardest, by their numbers; none where all of so many are."""
        if len(top) == count:
            return self.phrases.equally_hard
        if len(top) == 1:
            return filled(self.phrases.hardest, number=top[0])
        return filled(self.phrases.hardest_several, numbers=self._listed(top))

    def _takes(self, number: int, action: DirectAction | TakenAction) -> str:
        if isinstance(action, TakenAction):
            taken = {"number": str(number), "action": self.taken(action)}
            return clean(filled(self.phrases.takes_named, **taken))
        feature = self.theory.feature[action.feature]
        phrases = self.phrases
        words = {"number": str(number), "label": self.label(action.feature)}
        if action.start is None or action.end is None:
            return clean(filled(phrases.takes_value, **words))
        if _is_named(feature) or isinstance(action.start, str) or isinstance(action.end, str):
            return clean(filled(phrases.takes_change, **words))
        far = exact(action.end) - exact(action.start)
        size = abs(int(far) if far.denominator == 1 else rounded(float(far)))
        frame = phrases.takes_more if far > 0 else phrases.takes_less
        amount = value_words(replace(feature, names=()), size, phrases)
        return clean(filled(frame, amount=amount, **words))

    def _first_number(self, plan: Found) -> int:
        """Return the number of the first thing to do: the second where something has to happen by itself before it."""
        return 2 if isinstance(plan.steps[0].actions[0], CausalAction) else 1

    def bound(self, plan: GaveUp) -> str:
        """Describe the limit of a search and the known lower bound of the effort.

        The bound is given as a share of the effort of the best plan.
        """
        evidence = plan.question.evidence
        stopped = [self.phrases.stopped]
        if evidence is not None and evidence.ended is not None:
            stopped = [getattr(self.phrases, f"ended_{evidence.ended.value}")]
        share = math.floor(100 * plan.bound / plan.best.cost) if plan.best and plan.best.cost else 0
        if share >= 1:
            written = filled(self.phrases.percent, share=str(min(share, 100)))
            stopped.append(filled(self.phrases.stopped_share, share=written))
        return " ".join(stopped)

    def number(self, number: float) -> str:
        """Write a number for people."""
        return number_words(rounded(number), self.phrases)

    def proofs(self, plan: Found, *, cheapest: bool) -> tuple[Item, ...]:
        """Say what was proved of a plan."""
        if not plan.optimal:
            return ()
        if not cheapest:
            return (Item(self.proved(self.phrases.least_to_here)),)
        fewest = self.theory.minimize is Minimize.ACTIONS
        frame = self.phrases.fewest_steps if fewest else self.phrases.least_effort
        return (Item(self.proved(frame)),)

    def proved(self, frame: str) -> str:
        """Say what was proved, and by which rules where they were learned."""
        return filled(frame, by=proved_by(self.theory, self.phrases))

    def confirmed(self, plan: Found) -> tuple[Item, ...]:
        """Say what the model has to do with a plan, where one decides."""
        evidence, phrases = plan.question.evidence, self.phrases
        if evidence is None:
            return ()
        if evidence.accepted is None:
            return (Item(phrases.model_not_asked),)
        yes = phrases.model_confirms if evidence.wanted else phrases.model_meets
        answer = yes if evidence.accepted else phrases.model_refuses
        proof = () if plan.optimal else (Item(phrases.model_not_proved),)
        return (Item(answer), *proof, self.asked(evidence.queries))

    def asked(self, count: int) -> Item:
        """Say how often a model was asked."""
        if count == 1:
            return Item(self.phrases.model_asked_once)
        return Item(filled(self.phrases.model_asked, count=self.number(count)))

    def blockers(self, blockers: tuple[Blocker, ...]) -> tuple[Item, ...]:
        """Say what stands in the way."""
        return tuple(Item(self.sentence(self.restriction(each))) for each in blockers)

    def restriction(self, blocker: Blocker, *, of_many: bool = False) -> str:
        """Return what a restriction says of the person or of anybody, as a clause; one without words of its own like moves."""
        frames = self.phrases.restrictions_of_many if of_many else self.phrases.restrictions
        frame = frames.get(blocker.restriction, frames[RestrictionKind.MOVES.value])
        limits = {each.name: self._own_label(each) for each in self.theory.resources}
        name = blocker.feature
        label = self.label(name) if name in self.theory.feature else limits.get(name, name)
        return filled(frame, label=label)

    def stopped(self, *, found: bool) -> tuple[Item, ...]:
        """Say what a search that gave up leaves open."""
        return (Item(self.phrases.stopped_with if found else self.phrases.stopped_without),)


def _room(plan: Found) -> dict[int, Mapping[str, Any]]:
    """Return the slack of each last action on a feature, by its identity."""
    last = {each.feature: each for each in plan.actions if isinstance(each, DirectAction)}
    slack = plan.slack or {}
    return {id(each): slack[name] for name, each in last.items() if name in slack}


def suggested(action: Act, room: Mapping[str, Any] | None) -> Act:
    """Return an action with its target as people say it."""
    if room is None or not isinstance(action, DirectAction):
        return action
    return replace(action, end=room.get("suggested", action.end))


def _is_named(feature: Feature) -> bool:
    """Tell whether the values go by names rather than by numbers."""
    return feature.is_listed or bool(feature.names)


def _rests_on_model(nodes: tuple[ProofNode, ...]) -> bool:
    """Tell whether claims that fail come down to what a model says."""
    return any(
        isinstance(leaf.claim, Decided) and leaf.claim.call.decision == ACCEPTED
        for node in nodes
        for leaf in node.leaves()
    )


def _points(node: ProofNode) -> list[tuple[ProofNode, ...]]:
    """Return the separate points that a claim of the goal rests on: each rule of its decision, or the claim itself."""
    match node.claim:
        case Decided(call) if call.negated:
            rules = node.children[0].children
        case Decided():
            rules = node.children
        case Compared() | _:
            return [(node,)]
    return [rule.children or (rule,) for rule in rules]
