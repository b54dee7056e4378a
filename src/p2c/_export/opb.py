"""Pseudo-Boolean problems (OPB) of questions whose answer needs no order.

Each feature is divided into regions on which every condition has one truth: its own value, and the cheapest target in each
part of the others. Exactly one region of a feature is true; decisions are defined by clauses; the objective is the cost.

The optimum is the cost of a cheapest plan. A path ends in a state that meets the goal and all constraints, and its direct
actions cost at least the cheapest target of each region. The other way round, without causal rules a direct action into an
inconsistent state is followed by the next one in the same step, so the actions of an end state are a path in any order.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from p2c._export.programs import file_name
from p2c._plan.certificate.canonical import canonical, canonical_row
from p2c._plan.certificate.splits import formulas
from p2c.errors import P2CError, check_word
from p2c_verify.claims import opened
from p2c_verify.cover import Cover
from p2c_verify.forest import Records
from p2c_verify.problem import parse
from p2c_verify.values import YES, intersect

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from p2c._plan.compiled.space import Space
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Value
    from p2c_verify.problem import Formula
    from p2c_verify.values import Sets, Span


Literal = int
"""A variable from 1 on, or its negation as a negative number."""


class Row(NamedTuple):
    """The sum of weighted literals, which is at least the degree."""

    terms: tuple[tuple[int, Literal], ...]
    degree: int

    def __str__(self) -> str:
        return f"{_sum(self.terms)} >= {self.degree} ;"


def clause(*literals: Literal) -> Row:
    """Return the constraint that one of the literals is true."""
    return Row(tuple((1, each) for each in dict.fromkeys(literals)), 1)


def name(literal: Literal) -> str:
    """Return a literal as OPB writes it."""
    return f"x{literal}" if literal > 0 else f"~x{-literal}"


def _sum(terms: Iterable[tuple[int, Literal]]) -> str:
    return " ".join(f"{weight:+} {name(literal)}" for weight, literal in terms)


class Region(NamedTuple):
    """A part of a feature's values with its variable and least cost."""

    variable: int
    span: Span
    cost: int


@dataclass
class PseudoBoolean:
    """A question as 0-1 linear constraints with an objective."""

    rows: list[Row] = field(default_factory=list)
    regions: dict[int, list[Region]] = field(default_factory=dict)
    """The regions of each feature that the goal or a constraint reads."""
    one_of: dict[int, int] = field(default_factory=dict)
    """The number of the row, from 1 on, that says "one of the regions" by feature."""
    truths: dict[int, Formula] = field(default_factory=dict)
    """The formula that each defined variable stands for."""
    variables: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def objective(self) -> list[tuple[int, int]]:
        """Return the cost of each region that costs anything, with its variable."""
        return [
            (each.cost, each.variable)
            for regions in self.regions.values()
            for each in regions
            if each.cost
        ]

    def fresh(self) -> int:
        """Return a new variable."""
        self.variables += 1
        return self.variables

    def __str__(self) -> str:
        header = f"* #variable= {self.variables} #constraint= {len(self.rows)}"
        objective = self.objective
        goal = [f"min: {_sum(objective)} ;"] if objective else []
        return "\n".join([header, *self.notes, *goal, *map(str, self.rows)]) + "\n"


class Encoder:
    """Writes one person's question as a pseudo-Boolean problem."""

    def __init__(self, theory: Theory, row: Mapping[str, Value]) -> None:
        if theory.model is not None:
            raise P2CError("--to opb: it cannot hold a model, which decides here")
        if theory.is_arithmetic:
            raise P2CError(f"--to opb: it cannot hold {theory.arithmetic}")
        documents = canonical(theory), canonical_row(row)
        document, person = (parse(json.dumps(each)) for each in documents)
        self.judge = opened(document, person, Records({}, {}))
        self.problem = self.judge.problem
        moving = any(each.moves is not None for each in self.problem.features)
        if self.problem.causes or moving:
            word = "moves" if moving else "causal rules"
            raise P2CError(f"--to opb: the order of actions counts where there are {word}")
        if self.problem.norm == "linf":
            raise P2CError("--to opb: the norm linf is no sum; l0, l1 and l2 can be held")
        self.cover = Cover(self.judge, None)
        self.written = PseudoBoolean()
        self._literals: dict[Formula, Literal | bool] = {}

    def encoded(self) -> PseudoBoolean:
        """Return the question, its objective without a claim."""
        for place in sorted(self.judge.final.reads):
            self._regions(place)
        if self.problem.fewest:
            self._count_first()
        # Callees come first, so a long chain of decisions needs no deep call stack.
        used = set(formulas([self.judge.final]))
        for each in self.problem.decisions.values():
            if each in used:
                self._literal(each)
        final = self._literal(self.judge.final)
        if not isinstance(final, bool):
            self.written.rows.append(clause(final))
        elif not final:
            self.written.rows.append(Row((), 1))
        return self.written

    def _regions(self, place: int) -> None:
        """Divide a feature into regions, of which exactly one is true."""
        feature, written = self.problem.features[place], self.written
        start = self.judge.initial[place][0]
        targets = self.cover.root()[place].targets
        spans = [part for each in targets for part in self.problem.cut(place, each)]
        parts = [part for each in spans for part in feature.admissible((each,))]
        regions = [Region(written.fresh(), start, 0)]
        for part in parts:
            cost = self.cover.measure(place, 1, feature.length(start, part))[1]
            regions.append(Region(written.fresh(), part, cost))
        written.regions[place] = regions
        variables = [each.variable for each in regions]
        written.rows.append(clause(*variables))
        written.one_of[place] = len(written.rows)
        if len(variables) > 1:
            none = tuple((1, -each) for each in variables)
            written.rows.append(Row(none, len(variables) - 1))
        for each in regions:
            low, high = (self._shown(place, end) for end in each.span)
            values = low if low == high else f"{low} to {high}"
            written.notes.append(f"* x{each.variable}: {feature.name} = {values}")

    def _count_first(self) -> None:
        """Make an action dearer than all costs together, so that fewer come first."""
        dearest = (max(each.cost for each in own) for own in self.written.regions.values())
        action = 1 + sum(dearest)
        for place, (stays, *others) in self.written.regions.items():
            dearer = [each._replace(cost=each.cost + action) for each in others]
            self.written.regions[place] = [stays, *dearer]

    def _shown(self, place: int, value: int) -> str:
        shown = self.problem.features[place].write(value)
        text = json.dumps(shown, default=str, ensure_ascii=True)
        return text if isinstance(shown, str) else text.strip('"')

    def _literal(self, formula: Formula) -> Literal | bool:
        """Return the literal or the constant of a formula."""
        if formula not in self._literals:
            self._literals[formula] = self._defined(formula)
        return self._literals[formula]

    def _defined(self, formula: Formula) -> Literal | bool:
        if formula.kind == "test":
            return self._tested(formula)
        parts = [self._literal(each) for each in formula.parts]
        if formula.kind == "not":
            return not parts[0] if isinstance(parts[0], bool) else -parts[0]
        short = formula.kind == "any"  # the truth of a part that decides the whole
        if any(each is short for each in parts):
            return short
        sign = -1 if short else 1
        literals = [sign * each for each in parts if not isinstance(each, bool)]
        if not literals:
            return not short
        own = self._variable(formula)
        # `own` times the sign is the conjunction of the literals.
        self.written.rows += [clause(-sign * own, each) for each in literals]
        self.written.rows.append(clause(sign * own, *(-each for each in literals)))
        return own

    def _tested(self, formula: Formula) -> Literal | bool:
        regions = self.written.regions[formula.feature]
        within = self.problem.features[formula.feature].within
        passing = [each.variable for each in regions if within((each.span,), formula.wanted) == YES]
        failing = [each.variable for each in regions if each.variable not in passing]
        if not passing or not failing:
            return bool(passing)
        if len(passing) == 1 or len(failing) == 1:
            return passing[0] if len(passing) == 1 else -failing[0]
        own = self._variable(formula)
        self.written.rows.append(clause(-own, *passing))
        self.written.rows.append(clause(own, *failing))
        return own

    def _variable(self, formula: Formula) -> int:
        own = self.written.fresh()
        self.written.truths[own] = formula
        return own

    def solution(self, end: Mapping[str, Any]) -> list[Literal]:
        """Return the literals that are true in an end state."""
        document = parse(json.dumps(dict(end)))
        sets: Sets = tuple(
            ((feature.read(document[name]),) * 2,) for name, feature in self.problem.named.items()
        )
        facts, literals = self.judge.facts(sets), list[Literal]()
        for place, regions in self.written.regions.items():
            same = sets[place] == self.judge.initial[place]
            holds = [
                bool(each.span == regions[0].span if same else intersect(sets[place], (each.span,)))
                for each in regions
            ]
            if not same:
                holds[0] = False
            pairs = zip(regions, holds, strict=True)
            literals += [each.variable if true else -each.variable for each, true in pairs]
        for variable, formula in self.written.truths.items():
            literals.append(variable if facts.truth(formula) == YES else -variable)
        return sorted(literals, key=abs)


def opb_files(space: Space, state: Mapping[str, Value]) -> dict[str, str]:
    """Return the pseudo-Boolean problem of a person."""
    written = Encoder(space.theory, state).encoded()
    return {f"{file_name(space.theory.name)}.opb": str(written)}


VERSIONS = ("1.1", "2.0")
"""Versions of the proof format that can be written."""


SOLUTION = "o"
"""The rule by which version 1.1 logs a solution; version 2.0 says `soli`."""


class Propagator:
    """Unit propagation over 0-1 linear constraints."""

    def __init__(self, variables: int) -> None:
        self.rows: list[Row] = []
        self._watching: list[list[tuple[int, int]]] = [[] for _ in range(2 * variables + 1)]
        """By literal, the rows that lose its weight when it is false."""
        self.variables = variables

    def add(self, row: Row) -> None:
        """Add a constraint whose weights are positive."""
        for weight, literal in row.terms:
            self._watching[literal].append((len(self.rows), weight))
        self.rows.append(row)

    def propagated(self, decisions: Iterable[Literal]) -> set[Literal] | None:
        """Return the literals that follow from decisions, None if they contradict."""
        slack = [sum(weight for weight, _ in row.terms) - row.degree for row in self.rows]
        true: set[Literal] = set()
        waiting, due = [*decisions], [*range(len(self.rows))]
        while waiting or due:
            while waiting:
                literal = waiting.pop()
                if -literal in true:
                    return None
                if literal not in true:
                    true.add(literal)
                    for number, weight in self._watching[-literal]:
                        slack[number] -= weight
                        due.append(number)
            if due:
                number = due.pop()
                if slack[number] < 0:
                    return None
                row = self.rows[number]
                waiting += [
                    literal
                    for weight, literal in row.terms
                    if weight > slack[number] and literal not in true and -literal not in true
                ]
        return true


class Logger:
    """The search that writes one log."""

    def __init__(self, problem: PseudoBoolean, cost: int | None, deadline: float | None) -> None:
        self.problem, self.cost, self.deadline = problem, cost, deadline
        self.propagator = Propagator(problem.variables)
        self.lines: list[str] = []
        for row in problem.rows:
            self.propagator.add(row)
        self._sums: set[tuple[int, ...]] = set()

    def steps(self, solution: Sequence[Literal]) -> list[str]:
        """Return the steps from a solution (none if there is none) to a contradiction."""
        if self.cost is not None:
            self._add(f"{SOLUTION} {' '.join(map(name, solution))}")
            self._add_bound({}, self.cost - 1)
        decisions: list[Literal] = []
        while True:
            if self.deadline is not None and monotonic() > self.deadline:
                raise P2CError("--proof: no proof log within the time limit")
            true = self._closed(decisions)
            if true is not None:
                decisions.append(self._decision(true))
                continue
            kept = self._needed(decisions)
            self._add(f"rup {clause(*(-each for each in kept))}" if kept else "rup >= 1 ;")
            if not kept:
                return self.lines
            self.propagator.add(clause(*(-each for each in kept)))
            decisions = kept[:-1]

    def _add(self, line: str) -> None:
        self.lines.append(line)

    def _closed(self, decisions: Sequence[Literal]) -> set[Literal] | None:
        """Propagate decisions, with a sum of costs where it contradicts them."""
        true = self.propagator.propagated(decisions)
        if true is None or self.cost is None:
            return true
        least = {
            place: min(each.cost for each in regions if -each.variable not in true)
            for place, regions in self.problem.regions.items()
        }
        if sum(least.values()) < self.cost:
            return true
        self._add_sum({place: cost for place, cost in least.items() if cost})
        return None

    def _add_sum(self, least: dict[int, int]) -> None:
        """Log the objective with rows "one of the regions", weighted by least costs."""
        bound = len(self.problem.rows) + 1
        weighted = "".join(
            f" {self.problem.one_of[place]} {cost} * +" for place, cost in least.items()
        )
        self._add(f"pol {bound}{weighted}")
        assert self.cost is not None
        self._add_bound(least, self.cost - 1 - sum(least.values()))

    def _add_bound(self, least: dict[int, int], rest: int) -> None:
        """Add the constraint that costs above the least ones come to at most `rest`."""
        terms, degree = [], -rest
        for place, regions in self.problem.regions.items():
            for each in regions:
                weight = each.cost - least.get(place, 0)
                if weight > 0:
                    terms.append((weight, -each.variable))
                    degree += weight
                elif weight < 0:
                    terms.append((-weight, each.variable))
        self.propagator.add(Row(tuple(terms), degree))

    def _needed(self, decisions: Sequence[Literal]) -> list[Literal]:
        """Return decisions that are enough for the contradiction."""
        kept = [*decisions]
        for each in decisions:
            fewer = [other for other in kept if other != each]
            if self.propagator.propagated(fewer) is None:
                kept = fewer
        return kept

    def _decision(self, true: set[Literal]) -> Literal:
        """Return an open region, of the feature with the fewest, the cheapest first."""
        open_ = [
            [each for each in regions if each.variable not in true and -each.variable not in true]
            for regions in self.problem.regions.values()
        ]
        fewest = min((each for each in open_ if each), key=len, default=None)
        if fewest is None:
            raise P2CError("--proof: a cheaper end state exists, so the claim has no proof")
        return min(fewest, key=lambda each: each.cost).variable


def proved_files(
    space: Space, state: Mapping[str, Value], plan: Mapping[str, Any], *, version: str = VERSIONS[0]
) -> dict[str, str]:
    """Return the pseudo-Boolean problem of a person and the log of a plan's claim.

    Args:
        space: The problem.
        state: The person's value of every feature.
        plan: The answer as JSON; its status is `found`, `already` or `infeasible`.
        version: The version of the proof format.
    """
    check_word("--proof-version: no version", version, VERSIONS)
    encoder = Encoder(space.theory, state)
    written, stem = encoder.encoded(), file_name(space.theory.name)
    end = None if plan["status"] == "infeasible" else plan["counterfactual"]
    log = proof_log(written, encoder.solution(end) if end else [], version=version)
    return {f"{stem}.opb": str(written), f"{stem}.pbp": log}


def proof_log(
    problem: PseudoBoolean,
    solution: Sequence[Literal],
    *,
    version: str = VERSIONS[0],
    time_limit: float | None = None,
) -> str:
    """Return the log of an optimum, or of infeasibility.

    Args:
        problem: The question.
        solution: The literals that are true in the end state of a cheapest plan; none if there is no plan.
        version: The version of the proof format.
        time_limit: Seconds; None for no limit.

    Raises:
        P2CError: The solution is not the cheapest, or the limit was reached.
    """
    true, deadline = set(solution), None if time_limit is None else monotonic() + time_limit
    cost = sum(weight for weight, each in problem.objective if each in true) if true else None
    steps = Logger(problem, cost, deadline).steps(solution)
    new = version == "2.0"
    body = [f"soli{each[1:]}" if new and each[0] == SOLUTION else each for each in steps]
    lines = [f"pseudo-Boolean proof version {version}", f"f {len(problem.rows)}", *body]
    last = len(problem.rows) + len(steps)
    if not new:
        return "\n".join([*lines, f"c {last}"]) + "\n"
    conclusion = f"UNSAT : {last}" if cost is None else f"BOUNDS {cost} {cost}"
    ending = ["output NONE", f"conclusion {conclusion}", "end pseudo-Boolean proof"]
    return "\n".join([*lines, *ending]) + "\n"
