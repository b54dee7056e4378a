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
from typing import TYPE_CHECKING, Any, NamedTuple

from p2c._export.programs import file_name
from p2c._plan.certificate.canonical import canonical, canonical_row
from p2c._plan.certificate.splits import formulas
from p2c.errors import P2CError
from p2c_verify.claims import opened
from p2c_verify.cover import Cover
from p2c_verify.forest import Records
from p2c_verify.problem import parse
from p2c_verify.values import YES, intersect

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
