"""`Plan`, what every answer can be asked for besides its values: JSON, a table, and words and pictures from layers above.

An outcome is a plain value and knows no words. `Problem.plan` puts a renderer, which knows the problem, into the question
that it answers; an outcome that came straight from an engine has none and says so.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from p2c._markup import Markup, element
from p2c._spec.feature import exact
from p2c._spec.resources import number_of
from p2c.errors import MissingExtra, P2CError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from p2c._plan.outcome import (
        Blocker,
        DirectAction,
        Found,
        ModelEvidence,
        ProofKind,
        Question,
        Step,
        TakenAction,
    )
    from p2c._plan.outcome import Plan as Outcome


class Renderer(Protocol):
    """What tells and draws an outcome."""

    def explain(self, plan: Any, *, language: str) -> str:
        """Return the outcome in words for the person."""

    def svg(self, plan: Any, *, theme: str, language: str) -> str:
        """Return the outcome as a picture."""

    def png(self, plan: Any, *, theme: str, language: str) -> bytes:
        """Return the outcome as a picture in pixels."""

    def html(self, plan: Any, *, language: str = "en") -> str:
        """Return the outcome as a piece of a notebook."""

    def slack(self, plan: Any) -> Mapping[str, Any] | None:
        """Return the values around each target that reach the goal as well."""


class Plan:
    """An answer for one person: `status` says which of the four kinds it is (found, already, infeasible, gave_up).

    `Problem.plan` makes plans. A plan is a plain value: it compares, pickles and is written as JSON, and one that
    a problem made also tells and draws itself.

    >>> import p2c
    >>> plan = p2c.Problem.example("loan").plan(p2c.datasets.rows("loan")["john"])
    >>> plan
    <Plan 'loan': found, cost 0.00502, debt 5000 -> 0, bank_balance 40000 -> 60000>
    >>> p2c.Plan.from_dict(plan.to_dict()) == plan
    True
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def status(self) -> str:
            """Return "found", "already" (nothing to do), "infeasible" (proved) or "gave_up" (at a limit of the caller's)."""

        @property
        def question(self) -> Question:
            """Return what was asked: the problem's name, the norm, the person's values, and the exceptions."""

        @property
        def cost(self) -> float | None:
            """Return the cost of the actions; None where there is no path."""

        @property
        def steps(self) -> tuple[Step, ...]:
            """Return the path: actions with their effects, and the state after them."""

        @property
        def end(self) -> Mapping[str, Any] | None:
            """Return the end state by feature; None where there is no path."""

        @property
        def proof(self) -> ProofKind:
            """Return how the answer is proved: "certificate", "exhausted" or "none"."""

    @property
    def blockers(self) -> tuple[Blocker, ...]:
        """Return a smallest set of restrictions that bar every path; () if none do."""
        return ()

    @property
    def opened(self) -> Found | None:
        """Return the plan that exists without the blockers; None for other answers."""
        return None

    @property
    def explained(self) -> bool:
        """Tell whether the blockers are known; the time may have ended before."""
        return True

    @property
    def bound(self) -> float | None:
        """Return a lower bound where the search gave up; None for other answers."""
        return None

    @property
    def optimal(self) -> bool:
        """Tell whether it is proved that no path is cheaper, or that none exists.

        >>> plan.optimal, plan.proof
        (True, 'exhausted')
        """
        return self.proof != "none"

    @property
    def certificate(self) -> Mapping[str, Any] | None:
        """Return the verified certificate of an answer; None without `certificate=True`."""
        return self.question.certificate

    @property
    def uncertified(self) -> str:
        """Return why a requested certificate could not be made; empty otherwise."""
        return self.question.uncertified

    @property
    def actions(self) -> tuple[DirectAction | TakenAction, ...]:
        """Return the actions that the person takes, in order, without their effects.

        >>> [(each.feature, each.start, each.end) for each in plan.actions]
        [('debt', 5000, 0), ('bank_balance', 40000, 60000)]
        """
        every = (action for step in self.steps for action in step.actions)
        return tuple(each for each in every if not hasattr(each, "because"))

    @property
    def uses(self) -> dict[str, int | float]:
        """Return the amount of each resource that the actions use.

        >>> plan.uses
        {'months': 14, 'dollars': 25000}
        """
        totals: dict[str, Fraction] = {}
        for name, amount in (each for action in self.actions for each in action.uses):
            totals[name] = totals.get(name, Fraction(0)) + exact(amount)
        return {name: number_of(total) for name, total in totals.items()}

    @property
    def changes(self) -> dict[str, tuple[Any, Any]]:
        """Return the initial and the final value of each changed feature.

        >>> plan.changes
        {'debt': (5000, 0), 'bank_balance': (40000, 60000), 'credit_score': (599, 620)}
        """
        start, end = self.question.initial, self.end
        if end is None:
            return {}
        return {name: (start[name], end[name]) for name in end if start[name] != end[name]}

    @property
    def counterfactual(self) -> dict[str, Any] | None:
        """Return the end state; None where there is no path.

        Where a model decides, it has the model's own column names and types, so that it can be given back to the model.

        >>> plan.counterfactual["credit_score"]
        620
        """
        if self.end is None:
            return None
        as_columns = self.question.as_columns
        return as_columns(self.question.initial, self.end) if as_columns else dict(self.end)

    @property
    def exceptions(self) -> tuple[Mapping[str, Any], ...]:
        """Return the causal rules and constraints that the person breaks at the start."""
        return self.question.exceptions

    @property
    def unknown(self) -> tuple[str, ...]:
        """Return the features with a missing value that the rules read."""
        return self.question.unknown

    @property
    def model(self) -> ModelEvidence | None:
        """Return the evidence of the model that decides; None without a model."""
        return self.question.evidence

    @property
    def slack(self) -> Mapping[str, Any] | None:
        """Return the values around each target that reach the goal as well.

        Any values may be chosen together: the same actions in the same order still reach the goal.

        Returns:
            By feature `min`, `max` and `suggested` (a round number) of a number, or `values`; None where there is no
            path, where the model is a black box, and where an exact answer takes too long.

        >>> plan.slack["bank_balance"]
        {'min': 60000, 'max': 1000000000, 'suggested': 60000}
        """
        return None

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> Outcome:
        """Return the plan that `to_dict` wrote.

        Args:
            document: The plan's JSON, read.

        Returns:
            An equal plan. It does not know its problem's words: `Problem.read_plan` returns one that tells itself,
            and `Problem.check` says whether the plan is right.

        >>> p2c.Plan.from_dict(plan.to_dict()).cost
        0.00502
        """
        from p2c._plan.plan_json import read_plan

        initial = document.get("initial") if hasattr(document, "get") else None
        return read_plan(document, initial if isinstance(initial, dict) else ())

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as a dict of the shape that [the plan's JSON](plan-json.md) has.

        >>> plan.to_dict()["steps"][1]["actions"]
        [{'kind': 'direct', 'feature': 'bank_balance', 'from': 40000, 'to': 60000, 'cost': 2e-05, 'uses': {'months': 11.2, 'dollars': 20000}}]
        """
        raise NotImplementedError

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the plan as JSON text, on one line unless `indent` says how far each level is moved in.

        >>> plan.to_json()[:38]
        '{"status": "found", "problem": "loan",'
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    def to_frame(self) -> pd.DataFrame:
        """Return the actions of the path as a pandas table, a row each; needs the extra `pandas`.

        Returns:
            The columns `step`, `kind` (direct or causal), `feature`, `from`, `to`, `cost` and `because`, the rules that
            fired; no rows where there is no path. A named action has the columns `action` and `count`, and a row for each
            of its changes.

        >>> plan.to_frame()[["step", "kind", "feature", "from", "to"]]
           step    kind       feature   from     to
        0     1  direct          debt   5000      0
        1     1  causal  credit_score    599    620
        2     2  direct  bank_balance  40000  60000
        """
        try:
            import pandas as pd
        except ModuleNotFoundError as error:
            raise MissingExtra("pandas", extra="pandas") from error
        rows = [
            {"step": number, "because": "", **row, **_joined_rules(row)}
            for number, step in enumerate(self.steps, start=1)
            for action in (each.to_dict() for each in step.actions)
            for row in ([action, *action["changes"]] if "changes" in action else [action])
        ]
        taken = ["action", "count"] if any("action" in row for row in rows) else []
        columns = ["step", "kind", *taken, "feature", "from", "to", "cost", "because"]
        return pd.DataFrame(rows, columns=columns)

    def explain(self, language: str = "en") -> str:
        """Return the plan in plain words for the person: why, what to do, what follows, what it takes.

        Args:
            language: "en" or "de".

        >>> print(plan.explain().splitlines()[0])
        The answer is no for now.
        >>> print(plan.explain("de").splitlines()[0])
        Die Antwort ist vorerst Nein.
        """
        return self._renderer().explain(self, language=language)

    def to_svg(self, *, theme: str = "auto", language: str = "en") -> str:
        """Return the plan as a picture; the theme is light, dark, or auto for that of the reader's screen.

        >>> plan.to_svg(theme="light")[:4]
        '<svg'
        """
        return self._renderer().svg(self, theme=theme, language=language)

    def to_png(self, *, theme: str = "light", language: str = "en") -> bytes:
        """Return the plan as the bytes of a PNG file; needs the extra `report`.

        >>> plan.to_png()[1:4]
        b'PNG'
        """
        return self._renderer().png(self, theme=theme, language=language)

    def __repr__(self) -> str:
        return f"<Plan {self.summary()}>"

    def summary(self) -> str:
        """Return the problem, status, cost, actions and evidence in less than a line.

        >>> plan.summary()
        "'loan': found, cost 0.00502, debt 5000 -> 0, bank_balance 40000 -> 60000"
        """
        cost = "" if self.cost is None else f", cost {self.cost:.6g}"
        found = ", ".join(["", *self._changes()])
        said = "" if self.model is None else self._confirmed(self.model)
        return f"{self.question.problem!r}: {self.status}{cost}{shorten(found, 90)}{said}"

    def _confirmed(self, model: ModelEvidence) -> str:
        """Return the evidence of the model in words."""
        verified = ", verified" if model.verified else ", not verified"
        return f"{verified if self.end else ''}{', proved' if model.proved else ''}"

    def _changes(self) -> Iterator[str]:
        """Yield what the person does."""
        for step in self.steps:
            for each in step.actions:
                if hasattr(each, "count"):
                    yield f"{each.feature} x{each.count}" if each.count > 1 else each.feature
                elif not hasattr(each, "because"):
                    yield f"{each.feature} {each.start} -> {each.end}"

    def _repr_html_(self) -> str | None:
        renderer = self.question.renderer
        return None if renderer is None else renderer.html(self)

    def _renderer(self) -> Renderer:
        if self.question.renderer is None:
            raise P2CError(
                "this plan does not know its problem's words: plan with Problem.plan, or read it with Problem.read_plan"
            )
        return self.question.renderer


P = TypeVar("P", bound=Plan)


class Plans(list[P]):
    """Several plans for one person, cheapest first: a list that also shows itself in a notebook.

    >>> import p2c
    >>> plans = p2c.Problem.example("loan").nearest(p2c.datasets.rows("loan")["john"], k=2)
    >>> [plan.cost for plan in plans]
    [0.00502, 0.005020001]
    """

    def to_frame(self) -> pd.DataFrame:
        """Return the plans as a pandas table: the actions of each, as `Plan.to_frame` has them, after its number.

        >>> plans.to_frame()[["plan", "step", "feature", "to"]]
           plan  step       feature     to
        0     1     1          debt      0
        1     1     1  credit_score    620
        2     1     2  bank_balance  60000
        0     2     1          debt      0
        1     2     1  credit_score    620
        2     2     2  bank_balance  60001
        """
        import pandas as pd

        frames = [each.to_frame().assign(plan=number) for number, each in enumerate(self, start=1)]
        return pd.concat(frames)[["plan", *frames[0].columns[:-1]]] if frames else pd.DataFrame()

    def _repr_html_(self) -> str:
        shown = [each._repr_html_() or str(element("code", None, repr(each))) for each in self]
        parts = [
            element(
                "details",
                {"open": "open"} if number == 1 else None,
                element("summary", None, f"{number}. {each.summary()}"),
                Markup(html),
            )
            for number, (each, html) in enumerate(zip(self, shown, strict=True), start=1)
        ]
        return str(element("div", None, *parts))


def _joined_rules(action: Mapping[str, Any]) -> dict[str, str]:
    return {"because": "\n".join(action["because"])} if "because" in action else {}
