"""Confirmed plans for everybody in a table, as a table.

Where the model was read, people are planned for a chunk at a time: the model is asked once about all their rows, so that who is
accepted already is not searched for, and once about all ends. Where it is only asked, one person comes after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from p2c._plan.nearest import Distinct
from p2c._plan.outcome import Already, Found, Question
from p2c._plan.tables.cells import plan_cells
from p2c._plan.tables.frames import bar
from p2c._rules.evaluate import goal_holds
from p2c._rules.theory import ACCEPTED, Call
from p2c.errors import ModelError, P2CError, RowError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from p2c._blackbox.answers import ConfirmedPlanner
    from p2c._engines.policy import Policy
    from p2c._plan.outcome import Plan
    from p2c._rules.theory import Theory
    from p2c._spec.row import State

    Line = dict[str, Any]
    Tell = Callable[[], None]

SEVERAL = 50
"""From how many rows on progress is shown."""
CHUNK = 2_000
"""How many people are planned for before the model is asked about their ends."""


def plan_lines(
    theory: Theory,
    plan: Callable[[Any], Plan],
    rows: pd.DataFrame,
    *,
    progress: bool | None,
    chunks: Chunks | None = None,
) -> list[Line]:
    """Return one line a row: what `Problem.plan_many` has, and whether the plan is verified and optimal.

    Where the model was read, `chunks` says how people are planned for together; `plan` answers for one of them.
    """
    with bar(shown=len(rows) >= SEVERAL, wanted=progress) as watch:
        task = watch.add_task("planning", total=len(rows))

        def tell() -> None:
            watch.advance(task)

        one_by_one = _one_by_one(theory, plan, rows, tell)
        parts = chunks.lines(plan, rows, tell) if chunks else one_by_one
        return [line for part in parts for line in part]


def as_table(theory: Theory, lines: list[Line], rows: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of rows as a table."""
    ends = [f"end_{name}" for name in theory.feature]
    rests = ("exceptions", "unknown", "verified", "optimal", "proof", "message")
    columns = ["status", "cost", *ends, "actions", "steps", *rests]
    return pd.DataFrame(lines, columns=columns, index=rows.index)


def _one_by_one(
    theory: Theory, plan: Callable[[Any], Plan], rows: pd.DataFrame, tell: Tell
) -> Iterator[list[Line]]:
    """Yield the line of each row, planned for by itself."""
    for _, row in rows.iterrows():
        try:
            found = plan(row)
            yield [_line(theory, found, verified=_is_verified(found))]
        except (RowError, ModelError) as error:
            yield [_invalid(error)]
        tell()


@dataclass(frozen=True, eq=False)
class Chunks:
    """How people are planned for together with a model that was read."""

    planner: ConfirmedPlanner
    read_row: Callable[[Any], State]
    policy: Policy

    def lines(
        self, plan: Callable[[Any], Plan], rows: pd.DataFrame, tell: Tell
    ) -> Iterator[list[Line]]:
        """Yield the lines of rows a chunk at a time; `plan` answers where the model contradicts its reading."""
        theory = self.planner.theory
        for first in range(0, len(rows), CHUNK):
            chunk = rows.iloc[first : first + CHUNK]
            plans = list(self._plans(chunk, tell))
            confirmed = _confirmed(self.planner, chunk, plans)
            lines = []
            for place, found in enumerate(plans):
                if isinstance(found, P2CError):
                    lines.append(_invalid(found))
                elif confirmed.get(place, True):
                    lines.append(_line(theory, found, verified=place in confirmed))
                else:
                    lines += next(_one_by_one(theory, plan, chunk.iloc[[place]], lambda: None))
            yield lines

    def _plans(self, rows: pd.DataFrame, tell: Tell) -> Iterator[Plan | P2CError]:
        """Yield the plan of each row, not searched for where the model accepts it as it is."""
        theory = self.planner.theory
        told = _accepted(self.planner, rows)
        for row, accepted in zip(rows.to_dict("records"), told, strict=True):
            try:
                state = self.read_row(row)
                if accepted:
                    yield Already(Question(theory.name, theory.norm.value, state, ()))
                else:
                    yield self._plan(row, state)
            except (RowError, ModelError) as error:
                yield error
            tell()

    def _plan(self, row: Any, state: State) -> Plan:
        policy, points = self.policy, Distinct.POINTS
        proof = self.planner.proof(row, state, 1, policy, distinct=points, limits=policy.limits)
        return proof.run(explain=False).plans[0]


def _accepted(planner: ConfirmedPlanner, rows: pd.DataFrame) -> list[bool]:
    """Tell of each row whether the goal surely holds in it, by one question to the model; of none, where it cannot be asked."""
    theory, model, view = planner.theory, planner.decider.source.model, planner.decider.source.view
    names = [each.name for each in view.columns]
    plain = theory.goal == (Call(ACCEPTED),) and not (theory.causes or theory.constraints)
    plain = plain and not theory.is_arithmetic
    if model is None or not plain or not set(names) <= set(rows.columns):
        return [False] * len(rows)
    try:
        return [bool(each) for each in model.answer(view.people(rows)).accepted]
    except P2CError:
        return [False] * len(rows)


def _confirmed(
    planner: ConfirmedPlanner, rows: pd.DataFrame, plans: Sequence[Plan | P2CError]
) -> dict[int, bool]:
    """Tell of each plan with an end whether the model accepts it, all of them asked about at once."""
    places = [place for place, each in enumerate(plans) if _end(each) is not None]
    if not places:
        return {}
    model, view = planner.decider.source.model, planner.decider.source.view
    assert model is not None, "plans are proved against a model, not against recorded decisions"
    starts: list[Mapping[str, Any]] = []
    ends: list[Mapping[str, Any]] = []
    for place in places:
        plan = plans[place]
        assert not isinstance(plan, P2CError)
        starts.append(plan.question.initial)
        ends.append(plan.end or {})
    told = model.answer(view.ends(rows.iloc[places], starts, ends)).accepted
    return {
        place: goal_holds(planner.theory, end, {ACCEPTED: bool(said)})
        for place, end, said in zip(places, ends, told, strict=True)
    }


def _end(plan: Plan | P2CError) -> Mapping[str, Any] | None:
    return None if isinstance(plan, P2CError) else plan.counterfactual


def _invalid(error: P2CError) -> Line:
    return {"status": "invalid", "verified": False, "optimal": False, "message": str(error)}


def _is_verified(plan: Plan) -> bool:
    """Tell whether the model has accepted the end of a plan that leads to the goal."""
    return isinstance(plan, Found | Already) and plan.model is not None and plan.model.verified


def _line(theory: Theory, plan: Plan, *, verified: bool) -> Line:
    end = plan.end or plan.question.initial
    ends = {f"end_{name}": value for name, value in end.items()}
    return {**plan_cells(theory, plan), **ends, "verified": verified, "optimal": plan.optimal}
