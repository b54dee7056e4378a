"""Random problems of any size with rejected people and a planted solution.

A hidden citizen is accepted and obeys every causal rule. Each decision rule fails for them, most by one literal only. A
row is the citizen after some of their features were changed, effects included, so that changing them back is mostly a plan,
yet seldom the cheapest.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from p2c._rules.evaluate import goal_holds
from p2c._rules.meaning import triggered_outcomes, violated
from p2c.problem import Problem

if TYPE_CHECKING:
    from p2c._rules.theory import Theory

Document = dict[str, Any]
Value = str | int | float

SIZES = ((30, 100, 40), (60, 400, 100), (100, 800, 150))
"""Features, decision rules and causal rules."""

CUTS = 8
"""The thresholds of a number that rules compare it with."""

MOST_EFFECTS = 300
"""Effects after which a made-up state is given up."""

HOPELESS = 0.1
"""The chance to keep a person whom changing everything back does not help."""


@dataclass
class Column:
    """A feature: its keys and the constants that rules compare it with."""

    name: str
    kind: str
    keys: Document
    constants: list[Value]
    governed: bool = False

    @property
    def settable(self) -> bool:
        return not self.governed and self.keys.get("action") != "fixed"

    def draw(self, rng: random.Random) -> Value:
        if self.kind == "int":
            return rng.randint(self.keys["min"], self.keys["max"])
        value: Value = rng.choice(self.keys["values"])
        return value

    def rank(self, value: Value) -> int:
        return value if isinstance(value, int) else self.keys["values"].index(value)


@dataclass(frozen=True)
class Literal:
    """A comparison of a feature with a constant."""

    column: Column
    sign: str
    constant: Value

    def holds(self, value: Value) -> bool:
        here, there = self.column.rank(value), self.column.rank(self.constant)
        return {"=": here == there, "\\=": here != there, "<": here < there, ">=": here >= there}[
            self.sign
        ]

    def text(self, number: int) -> str:
        name, constant = self.column.name, self.constant
        shown = f"'{constant}'" if isinstance(constant, str) else str(constant)
        if self.sign in ("=", "\\="):
            return f"{'not ' if self.sign != '=' else ''}{name}(X,{shown})"
        return f"{name}(X,N{number}), N{number}{self.sign}{shown}"


def synthetic(
    features: int,
    decision_rules: int,
    causal_rules: int,
    seed: int,
    *,
    people: int = 20,
    changes: tuple[int, int] = (3, 6),
) -> tuple[Document, list[dict[str, Value]]]:
    """Return a problem and rejected rows, each a number of changes from the citizen.

    >>> problem, rows = synthetic(8, 10, 4, seed=1, people=2)
    >>> len(problem["features"]), len(rows)
    (8, 2)
    """
    rng = random.Random(f"{features}/{decision_rules}/{causal_rules}/{seed}")
    columns = [_column(rng, f"f{number}") for number in range(features)]
    causes = _causes(rng, columns, causal_rules)
    theory = Problem.from_dict(_document(columns, causes, [])).theory
    citizen = _citizen(rng, theory, columns)
    decisions = [_decision(rng, columns, citizen) for _ in range(decision_rules)]
    document = _document(columns, causes, decisions)
    theory = Problem.from_dict(document).theory
    rows: list[dict[str, Value]] = []
    while len(rows) < people:
        row = _row(rng, columns, citizen, theory, rng.randint(*changes))
        if row is not None:
            rows.append(row)
    return document, rows


def _column(rng: random.Random, name: str) -> Column:
    kind = rng.choices(("category", "ordinal", "int"), (45, 20, 35))[0]
    if kind == "int":
        high = rng.choice((100, 1_000, 50_000, 1_000_000))
        keys: Document = {"type": kind, "min": 0, "max": high}
        constants: list[Value] = sorted(rng.sample(range(1, high), CUTS))
    else:
        values = [f"v{number}" for number in range(rng.randint(3, 5))]
        keys = {"type": kind, "values": values}
        constants = list(values)
    roll = rng.random()
    if roll < 0.12:
        keys["action"] = "fixed"
    elif roll < 0.22 and kind != "category":
        keys["action"] = "up"
    return Column(name, kind, keys, constants)


def _literal(rng: random.Random, column: Column) -> Literal:
    if column.kind == "category":
        return Literal(column, rng.choice(("=", "=", "\\=")), rng.choice(column.constants))
    return Literal(column, rng.choice(("<", ">=")), rng.choice(column.constants[1:]))


def _body(literals: list[Literal]) -> str:
    return ", ".join(literal.text(number) for number, literal in enumerate(literals))


def _causes(rng: random.Random, columns: list[Column], count: int) -> list[str]:
    """Return causal rules, mostly from earlier to later features."""
    governed = columns[-max(1, min(len(columns) * 2 // 5, count // 3)) :]
    for column in governed:
        column.governed = True
        column.keys.pop("action", None)
    rules = []
    for number in range(count):
        column = governed[number % len(governed)]
        place = columns.index(column)
        sources = columns[:place]
        if rng.random() < 0.04:
            sources = [each for each in columns[place - 2 : place + 4] if each is not column]
        chosen = rng.sample(sources, min(rng.choice((1, 1, 2, 2, 3)), len(sources)))
        body = _body([_literal(rng, source) for source in chosen])
        rules.append(f"{_head(rng, column, body)}.")
    return rules


def _head(rng: random.Random, column: Column, body: str) -> str:
    """Return the text of a rule whose head leaves at least one value unheaded."""
    if column.kind == "category":
        return f"{column.name}(X,'{rng.choice(column.constants[1:])}') :- {body}"
    return f"{column.name}(X,V) :- {body}, V>={_shown(rng.choice(column.constants[1:]))}"


def _shown(constant: Value) -> str:
    return f"'{constant}'" if isinstance(constant, str) else str(constant)


def _decision(rng: random.Random, columns: list[Column], citizen: dict[str, Value]) -> str:
    """Return a rule that rejects, though not the citizen."""
    chosen = rng.sample(columns, rng.choice((2, 2, 3, 3, 4)))
    literals = [
        _wanted(rng, column, citizen, true=place > 0 and rng.random() < 0.8)
        for place, column in enumerate(chosen)
    ]
    return f"reject(X) :- {_body(literals)}."


def _wanted(
    rng: random.Random, column: Column, citizen: dict[str, Value], *, true: bool
) -> Literal:
    for _ in range(50):
        literal = _literal(rng, column)
        if literal.holds(citizen[column.name]) == true:
            return literal
    signs = {"category": ("=", "\\=")}.get(column.kind, (">=", "<"))
    constant = citizen[column.name]
    return Literal(column, signs[0] if true else signs[1], constant)


def _document(columns: list[Column], causes: list[str], decisions: list[str]) -> Document:
    rules = decisions or [
        f"reject(X) :- not {columns[0].name}(X,{_shown(columns[0].constants[0])})."
    ]
    return {
        "name": "synthetic",
        "goal": "not reject(X)",
        "rules": "\n".join([*causes, *rules]),
        "features": {column.name: dict(column.keys) for column in columns},
    }


def _settled(
    rng: random.Random, theory: Theory, state: dict[str, Value]
) -> dict[str, Value] | None:
    """Return a consistent state after effects, or None after too many effects."""
    state = dict(state)
    for _ in range(MOST_EFFECTS):
        violations = violated(theory, state, ())
        if not violations:
            return state
        outcomes = triggered_outcomes(theory, state, violations)
        if not outcomes:
            return None
        outcome = rng.choice(outcomes)
        state[outcome.feature] = outcome.value
    return None


def _citizen(rng: random.Random, theory: Theory, columns: list[Column]) -> dict[str, Value]:
    while True:
        settled = _settled(rng, theory, {column.name: column.draw(rng) for column in columns})
        if settled is not None:
            return settled


def _row(
    rng: random.Random,
    columns: list[Column],
    citizen: dict[str, Value],
    theory: Theory,
    changes: int,
) -> dict[str, Value] | None:
    """Return the citizen after changes, or None if still accepted or inconsistent."""
    settable = [column for column in columns if column.settable]
    row = dict(citizen)
    for column in rng.sample(settable, min(changes, len(settable))):
        row[column.name] = _other(rng, column, citizen[column.name])
    settled = _settled(rng, theory, row)
    if settled is None or goal_holds(theory, settled):
        return None
    if _goes_back(rng, theory, settled, citizen) or rng.random() < HOPELESS:
        return settled
    return None


def _goes_back(
    rng: random.Random, theory: Theory, row: dict[str, Value], citizen: dict[str, Value]
) -> bool:
    """Tell whether undoing every change except effects makes the person accepted."""
    changed = [f.name for f in theory.features if not f.governed and row[f.name] != citizen[f.name]]
    state: dict[str, Value] | None = row
    for name in changed:
        if state is not None:
            state = _settled(rng, theory, {**state, name: citizen[name]})
    return state is not None and goal_holds(theory, state)


def _other(rng: random.Random, column: Column, value: Value) -> Value:
    """Return a value from which the action of the feature permits the citizen's."""
    for _ in range(50):
        drawn = column.draw(rng)
        rises = column.rank(drawn) < column.rank(value)
        if drawn != value and (rises or column.keys.get("action") != "up"):
            return drawn
    return value
