"""Pseudo-Boolean problems and proof logs, read and checked without our writers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

Terms = dict[str, int]
"""Weights of variables; a negated literal is written as its variable."""
Inequality = tuple[Terms, int]
"""A sum and its least value."""


def inequality(text: str) -> Inequality:
    """Read `+1 x1 -2 ~x2 >= 1 ;` as weights of variables."""
    left, right = text.split(">=")
    words, degree = left.split(), int(right.strip(" ;"))
    terms: Terms = {}
    for weight, literal in zip(map(int, words[::2]), words[1::2], strict=True):
        variable = literal.removeprefix("~")
        signed = weight if literal == variable else -weight
        degree -= weight if literal != variable else 0
        terms[variable] = terms.get(variable, 0) + signed
    return terms, degree


@dataclass
class Opb:
    """A problem as its text says."""

    objective: Terms = field(default_factory=dict)
    rows: list[Inequality] = field(default_factory=list)

    @classmethod
    def of(cls, text: str) -> Opb:
        read = cls()
        header, *lines = text.splitlines()
        for line in lines:
            if line.startswith("min:"):
                read.objective = inequality(line[4:].strip(" ;") + " >= 0 ;")[0]
            elif not line.startswith("*"):
                read.rows.append(inequality(line))
        assert header.split()[-1] == str(len(read.rows))
        return read

    def optimum(self) -> int | None:
        """Return the least objective by HiGHS, None if no assignment fits."""
        names = sorted({name for terms, _ in self.rows for name in terms})
        if not names:
            return None if any(degree > 0 for _, degree in self.rows) else 0
        matrix = [[terms.get(name, 0) for name in names] for terms, _ in self.rows]
        least = [degree for _, degree in self.rows]
        solved = milp(
            [self.objective.get(name, 0) for name in names],
            constraints=LinearConstraint(np.array(matrix), lb=least),
            integrality=np.ones(len(names)),
            bounds=Bounds(0, 1),
        )
        return None if solved.x is None else round(solved.fun)


def contradicts(rows: list[Inequality]) -> bool:
    """Tell whether unit propagation finds a contradiction."""
    values: dict[str, int] = {}
    while True:
        before = len(values)
        for terms, degree in rows:
            most = sum(
                max(weight, 0) if name not in values else weight * values[name]
                for name, weight in terms.items()
            )
            if most < degree:
                return True
            for name, weight in terms.items():
                if name not in values and most - abs(weight) < degree:
                    values[name] = int(weight > 0)
        if len(values) == before:
            return False


def check_log(problem: Opb, log: str) -> int | None:
    """Check every step of a log and return the optimum that it proves."""
    header, formula, *steps = log.splitlines()
    assert header.startswith("pseudo-Boolean proof version ")
    assert formula == f"f {len(problem.rows)}"
    rows = [*problem.rows]
    best: int | None = None
    for step in steps:
        rule, _, rest = step.partition(" ")
        if rule in ("o", "soli"):
            values = {each.removeprefix("~"): int(each[0] != "~") for each in rest.split()}
            assert all(sum(w * values[n] for n, w in t.items()) >= d for t, d in problem.rows)
            best = sum(weight * values[name] for name, weight in problem.objective.items())
            negated = {name: -weight for name, weight in problem.objective.items()}
            rows.append((negated, 1 - best))
        elif rule == "pol":
            rows.append(_polish(rows, rest.split()))
        elif rule == "rup":
            terms, degree = inequality(rest)
            negation = {name: -weight for name, weight in terms.items()}
            assert contradicts([*rows, (negation, 1 - degree)]), step
            rows.append((terms, degree))
        elif rule == "c":
            terms, degree = rows[int(rest) - 1]
            assert sum(max(weight, 0) for weight in terms.values()) < degree
    assert contradicts(rows)
    return best


def _polish(rows: list[Inequality], words: list[str]) -> Inequality:
    """Return the sum that reverse Polish notation describes."""
    stack: list[Inequality | int] = []

    def taken() -> Inequality:
        top = stack.pop()
        return rows[top - 1] if isinstance(top, int) else top

    for word in words:
        if word == "*":
            factor = stack.pop()
            assert isinstance(factor, int)
            assert factor > 0
            terms, degree = taken()
            stack.append(({name: factor * each for name, each in terms.items()}, factor * degree))
        elif word == "+":
            (one, least), (other, most) = taken(), taken()
            names = {*one, *other}
            stack.append(({n: one.get(n, 0) + other.get(n, 0) for n in names}, least + most))
        else:
            stack.append(int(word))
    return taken()
