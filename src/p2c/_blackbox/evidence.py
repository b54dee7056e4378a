"""Checks of the `model` block of an answer: the model is asked again.

A record that the model cannot have produced is refuted.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from p2c._plan.plan_json import Status
from p2c._spec.row import read_row
from p2c.errors import Fault, RowError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c._blackbox.answers import ConfirmedPlanner
    from p2c._blackbox.judge import Ruling
    from p2c._plan.plan_json import ModelRecord, PlanRecord

SAME_SCORE = 1e-6
"""Maximum relative difference of two scores of one state.

Models add floats in an order of their own.
"""
WITHOUT_MODEL = "no model decides in this problem, so none has said anything of the answer"
ONLY_ASKED = "the model can only be asked, so nothing is proved of it"


def faults_without_model(plan: PlanRecord) -> Iterator[Fault]:
    """Yield the claims about a model in an answer to a problem that has none."""
    said = plan.model
    if said is not None and (said.verified or said.proved or said.score is not None):
        yield Fault("model", WITHOUT_MODEL)


def evidence_faults(
    planner: ConfirmedPlanner, plan: PlanRecord, *, replayed: bool
) -> Iterator[Fault]:
    """Yield the claims about the model that are false, or that cannot be made.

    Args:
        planner: The problem and the model that decides in it, which is asked about the end again.
        plan: The answer.
        replayed: Whether the path was replayed without a fault, so that its end is a state.
    """
    decider = planner.decider
    if decider.is_read or decider.exact:
        yield from _proof_faults(plan)
    else:
        yield from _unprovable(plan)
    said = plan.model
    if said is None:
        yield Fault("model", "expected the block of the model's answers, found none")
    else:
        yield from _count_faults(said)
    if plan.counterfactual is None:
        return
    try:
        end = read_row(planner.theory.features, plan.counterfactual)
    except RowError as error:
        yield Fault("counterfactual", str(error))
        return
    (ruling,) = planner.asker({})([end])
    wanted = planner.theory.wants_yes
    if (said is None or said.verified) and not ruling.accepted and (wanted or replayed):
        other = "the model's answer is not what the goal asks for"
        yield Fault("counterfactual", "the model refuses this state" if wanted else other)
    if said is not None:
        yield from _word_faults(said, ruling)
        yield from _score_faults(said, ruling)


def _unprovable(plan: PlanRecord) -> Iterator[Fault]:
    """Yield the claims of a proof about a model that can only be asked."""
    if plan.status is Status.INFEASIBLE:
        yield Fault("status", f"expected 'gave_up' instead of 'infeasible': {ONLY_ASKED}")
    elif plan.optimal and plan.status is Status.FOUND:
        yield Fault("optimal", f"expected false: {ONLY_ASKED}")
    elif plan.model is not None and plan.model.proved:
        yield Fault("model: proved", f"expected false: {ONLY_ASKED}")
    if plan.status is Status.GAVE_UP and plan.bound:
        yield Fault("bound", f"expected 0: {ONLY_ASKED}")


def _proof_faults(plan: PlanRecord) -> Iterator[Fault]:
    """Yield where an answer and its `model` block disagree on whether it is proved."""
    if plan.model is None or plan.status is Status.ALREADY:
        return
    claimed = plan.status is Status.INFEASIBLE or (
        plan.status is Status.FOUND and bool(plan.optimal)
    )
    if plan.model.proved and not claimed:
        yield Fault("model: proved", "expected false, for the answer claims no proof")
    elif claimed and not plan.model.proved:
        place = "status" if plan.status is Status.INFEASIBLE else "optimal"
        yield Fault(place, "claims a proof, and the 'model' block says that nothing is proved")


def _count_faults(said: ModelRecord) -> Iterator[Fault]:
    least = int(said.verified or said.refused or said.score is not None)
    if said.asked < least:
        yield Fault("model: asked", f"expected {least} or more, found {said.asked}")
    if said.verified and said.refused:
        yield Fault("model: refused", "the end is said to be accepted and refused")


def _word_faults(said: ModelRecord, ruling: Ruling) -> Iterator[Fault]:
    if not said.verified and not said.refused and ruling.accepted:
        yield Fault("model: verified", "expected true, for the model accepts the end")
    if said.refused and not said.verified and ruling.accepted:
        yield Fault("model: refused", "expected false, for the model accepts the end")


def _score_faults(said: ModelRecord, ruling: Ruling) -> Iterator[Fault]:
    """Yield the faults of a score or threshold that differs from the model's own."""
    due = ruling.told or (None, None)
    for key, value, right in zip(
        ("score", "threshold"), (said.score, said.threshold), due, strict=True
    ):
        if value is None:
            continue
        if right is None:
            yield Fault(
                f"model: {key}", f"expected none, for the model tells no number, found {value}"
            )
        elif not math.isclose(value, right, rel_tol=SAME_SCORE, abs_tol=1e-9):
            yield Fault(f"model: {key}", f"expected {right:.10g}, found {value}")
