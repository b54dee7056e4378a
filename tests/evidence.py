"""The model's part in plans and problems, for tests in which a model decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from p2c._blackbox.decider import Decider
    from p2c._folder.store import Fitted
    from p2c._learn.extract.logic import Extraction
    from p2c._plan.outcome import ModelEvidence
    from p2c._plan.rendered import Plan
    from p2c.problem import Problem


def evidence_of(plan: Plan) -> ModelEvidence:
    """Return the model's part in a plan."""
    assert plan.model is not None
    return plan.model


def decider_of(problem: Problem) -> Decider:
    """Return the model of a problem."""
    assert problem.decider is not None
    return problem.decider


def surrogate_of(problem: Problem) -> Problem:
    """Return the problem with surrogate rules in the place of the model."""
    assert problem.surrogate is not None
    return problem.surrogate


def extraction_of(problem: Problem) -> Extraction:
    """Return the surrogate rules of a problem with their agreement."""
    assert problem.extraction is not None
    return problem.extraction


def fitted_of(problem: Problem) -> Fitted:
    """Return the model and the rows that a problem is saved with."""
    assert problem.provenance is not None
    assert problem.provenance.fitted is not None
    return problem.provenance.fitted
