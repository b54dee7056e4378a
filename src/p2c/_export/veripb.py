"""Logs in which VeriPB verifies the optimum of a pseudo-Boolean problem.

A search by unit propagation finds the log: a conflict becomes a clause over the decisions that caused it ("rup"). Where each
feature's cheapest open region together cost the claim, the objective and the rows "one of the regions", weighted by these
costs, are added up ("pol"); the sum is false under the decisions, and holds for good.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from p2c._export.opb import Encoder, Literal, PseudoBoolean, Row, clause, name
from p2c._export.programs import file_name
from p2c.errors import P2CError, check_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from p2c._plan.compiled.space import Space
    from p2c._spec.feature import Value

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
