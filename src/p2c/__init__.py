"""Plans from a refusal to an acceptance, proved to be the cheapest.

>>> import p2c
>>> problem = p2c.Problem.example("loan")
>>> problem.plan(p2c.datasets.rows("loan")["john"])
<Plan 'loan': found, cost 0.00502, debt 5000 -> 0, bank_balance 40000 -> 60000>

Make a problem:
    p2c.Problem.from_model(model, X)            a fitted model decides
    p2c.Problem.from_table(frame, "outcome")    rules are learned from labels
    p2c.Problem.load("loan.toml")               a file, or a folder that `save` wrote

Ask it:
    problem.predict(rows)                       who is accepted
    problem.plan(row)                           the cheapest plan for a row
    problem.nearest(row, k=3)                   alternatives: the k cheapest end states
    problem.why(row)                            the proof behind the decision
    problem.plan_many(frame)                    a plan for each row of a table
    problem.audit(frame, by="sex")              how groups differ
    problem.report(row, format="pdf")           a letter, or a report for experts
    problem.check(plan, prove=True)             replay a plan and verify its claim
    problem.save("folder")                      write the problem with its model

Freeze a feature:
    problem.plan(row, restrict={"debt": "fixed"})                   for one person
    p2c.Problem.from_model(model, X, actions={"age": "fixed"})      for everybody
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from p2c._release import __version__

if TYPE_CHECKING:
    from p2c._learn.causal.learning import learn_causal_rules as learn_causal_rules
    from p2c._learn.causal.review import read_review as read_review
    from p2c._learn.causal.review import write_review as write_review
    from p2c._learn.foldse import FoldSE as FoldSE
    from p2c._learn.relations.structural import equations_from as equations_from
    from p2c._plan.rendered import Plan as Plan
    from p2c.errors import P2CError as P2CError
    from p2c.problem import Problem as Problem

HOMES = {"P2CError": "p2c.errors", "Plan": "p2c._plan.rendered", "Problem": "p2c.problem"}
"""Public names by the module that is imported when the name is first used."""
LEARNING = {
    "FoldSE": "p2c._learn.foldse",
    "equations_from": "p2c._learn.relations.structural",
    "learn_causal_rules": "p2c._learn.causal.learning",
    "read_review": "p2c._learn.causal.review",
    "write_review": "p2c._learn.causal.review",
}
"""Public names that need pandas and scikit-learn."""
__all__ = ["P2CError", "Plan", "Problem", "__version__", "datasets"]
"""The public names; all other modules are private.

Names that need an extra are listed where the extra is installed.
"""


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


if _is_installed("pandas") and _is_installed("sklearn"):
    __all__ += ["FoldSE", "equations_from", "learn_causal_rules", "read_review", "write_review"]


def __getattr__(name: str) -> object:
    home = {**HOMES, **LEARNING}.get(name)
    if home is None:
        if name.startswith("_") or find_spec(f"p2c.{name}") is None:
            raise AttributeError(_unknown(name))
        return import_module(f"p2c.{name}")
    try:
        module = import_module(home)
    except ModuleNotFoundError as error:
        from p2c.errors import MissingExtra

        if name not in LEARNING:
            raise
        raise MissingExtra(error.name or "pandas", extra="learn") from error
    return globals().setdefault(name, getattr(module, name))


def _unknown(name: str) -> str:
    from p2c.errors import suggestion

    hint = suggestion(name, [*HOMES, *LEARNING])
    return f"module 'p2c' has no attribute '{name}'" + (f"; {hint}" if "did" in hint else "")


def __dir__() -> list[str]:
    """List the public names, so that `help(p2c)` works without any extra."""
    return sorted([*__all__, "__doc__"])
