"""A person's question in PDDL, with causal rules and without (paper, section 5).

With them, the planner has causal actions that cost nothing, and direct actions wait until the state is consistent or nothing
more follows. Without them there is nothing but setting values, the ones included that only effects may change.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from p2c._engines.instance import Instance, Names, first_actions, price_changes
from p2c._export.programs import file_name
from p2c._rules.evaluate import in_head
from p2c._rules.meaning import ConstraintException, FeatureException
from p2c._rules.theory import Call, Test
from p2c._spec.spec import Effects
from p2c.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from p2c._engines.instance import Change, Tariff
    from p2c._plan.compiled.space import Space
    from p2c._rules.theory import Clause, Condition
    from p2c._spec.feature import Value


class Is(NamedTuple):
    """A feature has the value at a place."""

    feature: str
    place: int


@dataclass(frozen=True)
class And:
    """All parts hold; without parts it is true."""

    parts: tuple[Formula, ...] = ()


@dataclass(frozen=True)
class Or:
    """A disjunction; without parts it is false."""

    parts: tuple[Formula, ...] = ()


Formula = Is | And | Or


def both(*given: Formula) -> Formula:
    """Return the conjunction of formulas in short form."""
    return _joined(And, Or(), given)


def either(*given: Formula) -> Formula:
    """Return the disjunction of formulas in short form."""
    return _joined(Or, And(), given)


def _joined(kind: type[And | Or], settling: Formula, given: Iterable[Formula]) -> Formula:
    """Join formulas in one flat formula; `settling` is the absorbing element."""
    parts: list[Formula] = []
    for each in given:
        if each == settling:
            return settling
        parts += each.parts if isinstance(each, kind) else (each,)
    kept = tuple(dict.fromkeys(parts))
    return kept[0] if len(kept) == 1 else kind(kept)


@dataclass(frozen=True)
class Formulas:
    """Rules, laws and the goal as formulas over the reachable values of features."""

    instance: Instance
    places: Mapping[str, tuple[int, ...]]

    def among(self, name: str, places: Iterable[int]) -> Formula:
        """Return that the value of a feature is among the given ones."""
        wanted = set(places)
        if wanted >= set(self.places[name]):
            return And()
        return either(*(Is(name, place) for place in self.places[name] if place in wanted))

    def negation(self, formula: Formula) -> Formula:
        """Return that a formula does not hold."""
        match formula:
            case Is(name, place):
                return self.among(name, [each for each in self.places[name] if each != place])
            case And(parts):
                return either(*map(self.negation, parts))
            case Or(parts):
                return both(*map(self.negation, parts))

    def body(self, body: tuple[Condition, ...]) -> Formula:
        """Return that every condition of a body holds."""
        return both(*map(self._condition, body))

    def _condition(self, condition: Condition) -> Formula:
        if isinstance(condition, Test):
            name = condition.feature
            plain = self.among(
                name, [p for p in self.places[name] if self.instance.passes(condition, p)]
            )
        else:
            assert isinstance(condition, Call), "an instance has no arithmetic"
            clauses = self.instance.theory.rules_for[condition.decision]
            plain = either(*(self.body(clause.body) for clause in clauses))
        return self.negation(plain) if condition.negated else plain

    @cached_property
    def goal(self) -> Formula:
        """Return that the goal query succeeds."""
        return self.body(self.instance.theory.goal)

    def in_head(self, clause: Clause, name: str, place: int) -> bool:
        """Tell whether the value at a place is in the head of a rule."""
        return in_head(self.instance.theory, clause, self.instance.value(name, place))

    def allows(self, name: str, place: int) -> Formula:
        """Return when the law of a feature allows the value at a place."""
        rules = self.instance.theory.rules_of[name]
        granted = [self.body(each.body) for each in rules if self.in_head(each, name, place)]
        none_fires = self.negation(either(*(self.body(each.body) for each in rules)))
        law = self.instance.theory.feature[name].law
        if law.asks_for_unheaded and granted:
            return either(*granted)
        return either(*granted, none_fires if law.asks_for_silence else And())

    def lawful(self, name: str, place: int) -> Formula:
        """Return when a feature at a place is not violated: allowed, or excused."""
        allowed = self.allows(name, place)
        for each in self.instance.exceptions:
            if isinstance(each, FeatureException) and each.feature == name:
                if place != self.places[name][0]:
                    continue
                same = [
                    self.body(clause.body)
                    if clause in each.fired
                    else self.negation(self.body(clause.body))
                    for clause in self.instance.theory.rules_of[name]
                ]
                return either(allowed, both(*same))
        return allowed

    def by_value(self, name: str, when: Callable[[int], Formula]) -> Formula:
        """Return a formula from one for each value of a feature."""
        cases = {place: when(place) for place in self.places[name]}
        if all(each == And() for each in cases.values()):
            return And()
        return either(*(both(Is(name, place), each) for place, each in cases.items()))

    def obeys(self, name: str) -> Formula:
        """Return when a governed feature is not violated, wherever it is."""
        return self.by_value(name, lambda place: self.lawful(name, place))

    def violates(self, name: str) -> Formula:
        """Return when a governed feature is violated, wherever it is."""
        return self.by_value(name, lambda place: self.negation(self.lawful(name, place)))

    @cached_property
    def consistent(self) -> Formula:
        """Return when a state obeys every law and constraint."""
        kept = [self.obeys(name) for name in self.instance.governed]
        return both(*kept, *map(self._kept, self.instance.constraints))

    @cached_property
    def inconsistent(self) -> Formula:
        """Return the formula of states that break a law or constraint."""
        broken = [self.violates(name) for name in self.instance.governed]
        return either(
            *broken, *(self.negation(self._kept(each)) for each in self.instance.constraints)
        )

    def _kept(self, clause: Clause) -> Formula:
        unbroken = self.negation(self.body(clause.body))
        excused = [e for e in self.instance.exceptions if isinstance(e, ConstraintException)]
        if all(each.constraint != clause for each in excused):
            return unbroken
        reads = [n for n in self.instance.features if n in self.instance.theory.reads(clause.body)]
        return either(unbroken, both(*(Is(name, self.places[name][0]) for name in reads)))


LARGEST = 200_000
"""Maximum length of a formula in letters; planners read no longer ones."""

HEADER = """\
; {name}, {form}.
;
;   up oneshot-planning --pddl {domain} {problem} --engine fast-downward-opt
;
; (from the packages unified-planning and up-fast-downward) prints a cheapest plan. Its cost is {words}{first}.
"""
WITH, WITHOUT = "with the causal rules", "without the causal rules, for a standard planner"


@dataclass(frozen=True)
class Pddl:
    """One person's question in one of the two forms."""

    instance: Instance
    causal: bool

    @cached_property
    def places(self) -> dict[str, tuple[int, ...]]:
        """Return the places of each feature that the planner knows of."""
        if self.causal:
            return {name: reach.places for name, reach in self.instance.reaches.items()}
        wanted = self.instance.theory.reads(self.instance.theory.goal)
        return {
            name: tuple(dict.fromkeys([reach.places[0], *(e for _, e in self._set(name))]))
            for name, reach in self.instance.reaches.items()
            if name in wanted
        }

    def _set(self, name: str) -> list[tuple[int, int]]:
        """Return how a feature may be set by someone who knows nothing of causes."""
        reach, own = self.instance.reaches[name], self.instance.reaches[name].places[0]
        if self.instance.theory.feature[name].action.value == "fixed":
            return []
        return [(own, end) for end, _ in self.instance.dynamics.targets(reach.index, own)]

    @cached_property
    def changes(self) -> list[Change]:
        """Return every direct action."""
        if self.causal:
            return self.instance.changes
        return [(name, *way) for name in self.places for way in self._set(name)]

    @cached_property
    def tariff(self) -> Tariff:
        """Return the costs of the direct actions."""
        return price_changes(self.instance, self.changes)

    def price(self, change: Change) -> int:
        """Return the cost of a direct action.

        With `minimize = "actions"` one action outweighs all costs.
        """
        extra = max(self.tariff.prices.values()) * self.instance.most_actions + 1
        return self.tariff.prices[change] + (extra if first_actions(self.instance) else 0)

    @cached_property
    def formulas(self) -> Formulas:
        """Return the formulas of the rules."""
        return Formulas(self.instance, self.places)

    @cached_property
    def atoms(self) -> dict[Is, str]:
        """Return the proposition of each value."""
        names = Names(("ready", "consistent", "done", "rest", "finish", "despair"))
        return {
            Is(name, place): names.name(f"{name}-{self.instance.value(name, place)}").replace(
                "_", "-"
            )
            for name, places in self.places.items()
            for place in places
        }

    def text(self, formula: Formula) -> str:
        """Write a formula."""
        match formula:
            case Is():
                return f"({self.atoms[formula]})"
            case And(parts):
                return f"(and{''.join(f' {self.text(each)}' for each in parts)})"
            case Or(parts):
                return f"(or{''.join(f' {self.text(each)}' for each in parts)})"

    def _spent(self, change: Change) -> tuple[str, str]:
        """Return the proposition that a direct action needs, and the one that it uses up."""
        name, start, end = change
        if self.instance.theory.feature[name].moves is None or not self.causal:
            return f"unset-{self._short[name]}", f"unset-{self._short[name]}"
        return f"new-{self.atoms[Is(name, end)]}", f"new-{self.atoms[Is(name, start)]}"

    @cached_property
    def _short(self) -> dict[str, str]:
        names = Names(())
        return {name: names.name(name).replace("_", "-") for name in self.places}

    @cached_property
    def fresh(self) -> list[str]:
        """Return the propositions of features without a direct action so far."""
        return list(dict.fromkeys(each for change in self.changes for each in self._spent(change)))

    def domain(self) -> Iterator[str]:
        """Yield the lines of the domain."""
        yield "(define (domain recourse)"
        yield "  (:requirements :strips :disjunctive-preconditions :action-costs)"
        yield "  (:predicates"
        for each in [*self.atoms.values(), *self.fresh, *self.known, "done"]:
            yield f"    ({each})"
        yield "  )"
        yield "  (:functions (total-cost) - number)"
        for name in self.chains:
            yield from self._checks(name)
        for change in self.changes:
            yield from self._direct(change)
        if self.causal:
            yield from self._effects()
        yield ")"

    @cached_property
    def chains(self) -> dict[str, tuple[list[str], Formula]]:
        """Return the checks of a planner by name: what it knows after one, and the formula.

        A state is final if it obeys every law, or if no effect is possible.
        """
        calm = self.formulas.consistent if self.causal else And()
        found: dict[str, tuple[list[str], Formula]] = {
            "rest": (["(ready)", "(consistent)"], calm),
            "finish": (["(done)"], self.formulas.goal),
        }
        if self.causal:
            stuck = both(self.formulas.inconsistent, *map(self._still, self.instance.governed))
            found["despair"] = (["(ready)"], stuck)
        return {name: chain for name, chain in found.items() if chain[1] != Or()}

    def _links(self, name: str) -> list[str]:
        """Return the facts after each part of a formula but the last."""
        parts = _parts(self.chains[name][1])
        return [f"{name}-{number}" for number in range(1, len(parts))]

    @cached_property
    def known(self) -> list[str]:
        """Return all facts of checks; each change deletes them."""
        return [
            "ready",
            "consistent",
            *(each for name in self.chains for each in self._links(name)),
        ]

    def _checks(self, name: str) -> Iterator[str]:
        """Yield one action for each part of a formula.

        They follow each other, so that no planner multiplies them out.
        """
        effects, formula = self.chains[name]
        links = self._links(name)
        begin = ["(consistent)"] if name == "finish" else []
        for number, part in enumerate(_parts(formula)):
            before = [f"({links[number - 1]})"] if number else begin
            after = [f"({links[number]})"] if number < len(links) else effects
            label = f"{name}-{number + 1}"
            yield from _action(f"check-{label}", [*before, self.text(part)], after, 0)

    def _still(self, name: str) -> Formula:
        """Return the formula of states without an effect on a feature."""
        waiting = [self.formulas.violates(other) for other in self.instance.above(name)]

        def still(place: int) -> Formula:
            ends = [end for group in self.instance.reaches[name].near(place) for end in group]
            barred = [self.formulas.negation(self.formulas.allows(name, end)) for end in ends]
            return either(self.formulas.lawful(name, place), *waiting, both(*barred))

        return self.formulas.by_value(name, still)

    def _violated(self, name: str, place: int) -> Formula:
        """Return when a feature at a place is violated, and nothing upstream of it is."""
        broken = self.formulas.negation(self.formulas.lawful(name, place))
        return both(broken, *(self.formulas.obeys(other) for other in self.instance.above(name)))

    def _direct(self, change: Change) -> Iterator[str]:
        name, start, end = change
        before, after = self.atoms[Is(name, start)], self.atoms[Is(name, end)]
        needs, spends = self._spent(change)
        effects = [f"(not ({before}))", f"({after})", f"(not ({spends}))"]
        yield from _action(
            f"set-{before}-to-{after}",
            ["(ready)", f"({before})", f"({needs})"],
            [*effects, *self._forgets()],
            self.price(change),
        )

    def _forgets(self) -> list[str]:
        return [f"(not ({each}))" for each in self.known]

    def _effects(self) -> Iterator[str]:
        supported = self.instance.theory.effects is Effects.SUPPORTED
        for name in self.instance.governed:
            for place in self.places[name]:
                yield from self._carried(name, place, None)
                if supported:
                    for clause in self.instance.theory.rules_of[name]:
                        yield from self._carried(name, place, clause)

    def _carried(self, name: str, place: int, clause: Clause | None) -> Iterator[str]:
        """Yield the effects on a feature, by its law or by one fired rule."""
        formulas = self.formulas
        nearer: list[Formula] = []
        number = 0 if clause is None else self.instance.theory.rules_of[name].index(clause) + 1
        for group in self.instance.reaches[name].near(place):
            fits = {end: self._fits(name, place, end, clause) for end in group}
            for end, fit in fits.items():
                when = both(Is(name, place), fit, *nearer)
                if when == Or() or not self.instance.reaches[name].ends(place, end):
                    continue
                before, after = self.atoms[Is(name, place)], self.atoms[Is(name, end)]
                yield from _action(
                    f"then-{before}-to-{after}" + (f"-by-rule-{number}" if clause else ""),
                    [*(["(consistent)"] if clause else []), self.text(when)],
                    [f"(not ({before}))", f"({after})", *self._forgets()],
                    0,
                )
            nearer += [formulas.negation(self._open(name, end, clause)) for end in group]

    def _open(self, name: str, end: int, clause: Clause | None) -> Formula:
        if clause is None:
            return self.formulas.allows(name, end)
        return And() if self.formulas.in_head(clause, name, end) else Or()

    def _fits(self, name: str, place: int, end: int, clause: Clause | None) -> Formula:
        if clause is None:
            return both(self._violated(name, place), self._open(name, end, None))
        if self.formulas.in_head(clause, name, place):
            return Or()
        return both(self.formulas.body(clause.body), self._open(name, end, clause))

    def problem(self) -> Iterator[str]:
        """Yield the lines of the problem."""
        yield "(define (problem person)"
        yield "  (:domain recourse)"
        yield "  (:init"
        for name, places in self.places.items():
            yield f"    ({self.atoms[Is(name, places[0])]})"
        yield from (f"    ({each})" for each in self.fresh)
        yield "    (= (total-cost) 0))"
        yield "  (:goal (done))"
        yield "  (:metric minimize (total-cost)))"


def _parts(formula: Formula) -> tuple[Formula, ...]:
    return formula.parts if isinstance(formula, And) and formula.parts else (formula,)


def _action(name: str, needs: list[str], effects: list[str], price: int) -> Iterator[str]:
    yield f"  (:action {name}"
    yield "    :parameters ()"
    yield f"    :precondition (and {' '.join(needs)})"
    yield f"    :effect (and {' '.join(effects)} (increase (total-cost) {price})))"


def pddl_files(space: Space, state: Mapping[str, Value]) -> dict[str, str]:
    """Return the domain and the problem of a person, in both forms."""
    instance = Instance.of(space, state)
    if not instance.adds_up:
        raise EngineError(
            "pddl: under l2 the lengths of moves are squared together, but PDDL adds costs up action by action; "
            "choose the norm l0 or l1"
        )
    name = file_name(space.theory.name)
    found: dict[str, str] = {}
    for form, ending, causal in ((WITH, "causal", True), (WITHOUT, "plain", False)):
        text = Pddl(instance, causal)
        files = {
            f"{name}-{ending}-domain.pddl": "\n".join(text.domain()),
            f"{name}-{ending}-problem.pddl": "\n".join(text.problem()),
        }
        domain, problem = files
        first = (
            " of what is left of it once its actions are counted" if first_actions(instance) else ""
        )
        header = HEADER.format(
            name=name,
            form=form,
            domain=domain,
            problem=problem,
            words=text.tariff.words,
            first=first,
        )
        found |= {file: f"{header}\n{each}\n" for file, each in files.items()}
    largest = max(len(line) for each in found.values() for line in each.splitlines())
    if largest > LARGEST:
        raise EngineError(
            f"pddl: the rules make a formula of {largest:,} letters without negation, more than {LARGEST:,}; "
            "export to clingo or s(CASP) instead"
        )
    return found
