"""`Recourse`: from any model and its data to plans that the model itself confirms, in five lines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from p2c.confirm.forcing import forcing_set
from p2c.confirm.judge import Judge
from p2c.confirm.proxy import fit_proxy
from p2c.confirm.result import VerifiedPlan, find_borders
from p2c.confirm.search import ConfirmedSearch
from p2c.confirm.table import plan_table
from p2c.confirm.trial_values import FINE_PARTS, choose_values, sample_values
from p2c.confirm.walk import Walk, Walker
from p2c.domain.overrides import refuse_unknown
from p2c.domain.spec import ProblemSpec
from p2c.engines.policy import Policy
from p2c.errors import Fault, P2CError, counted
from p2c.learn.causal.adopt import with_causal_rules
from p2c.learn.causal.review import Review
from p2c.learn.extract.logic import extract, outline_problem
from p2c.learn.extract.source import read_source
from p2c.learn.model import NotRead, Read, read
from p2c.learn.model.read_model import ReadModel
from p2c.learn.tables.view import as_frame
from p2c.plan.check.validate import check_plan
from p2c.plan.nearest import Distinct
from p2c.plan.outcome import Already, Found, GaveUp, Infeasible, Testimony
from p2c.plan.rendered import Plans
from p2c.plan.search.best_first import Limits
from p2c.problem import Problem
from p2c.report.plan_renderer import with_renderer
from p2c.rules.render import render_rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from p2c.confirm.judge import Ask
    from p2c.confirm.proxy import Proxy
    from p2c.confirm.trial_values import TrialValues
    from p2c.domain.feature import Value
    from p2c.domain.row import State
    from p2c.learn.extract.logic import Extraction
    from p2c.learn.extract.source import Source
    from p2c.plan.check.validate import Verdict
    from p2c.plan.outcome import Plan

KEYS = (*(ProblemSpec.model_fields.keys() - {"causal", "features", "rules", "rules_file"}), "law")
"""The keys of a problem that `Recourse.fit` takes; `law` is the problem's `causal`."""
GUIDES = 4
"""How many plans of the rules the search starts from."""
WHOLE = 200
"""Up to how many values a feature is looked at closely at every value, be it in the data or not."""


@dataclass(frozen=True, repr=False)
class Recourse:
    """A model with its rules, its features and what a person may do about them.

    Promised of every plan: it is a path by the contract in `problem`, with the model in the place of the goal: every
    state consistent, every action permitted, every effect one that follows. Where `verified` is True, the model was
    asked about the end state and accepted it. Where `optimal` is True, which it is where the model was read (`reading`
    says so, or why not) or is made of rules, no cheaper path exists, or none at all where none was found: that is proved
    against the model itself. A model that is only asked promises neither.

    >>> import pandas as pd
    >>> loans = pd.DataFrame({"income": range(20, 80), "age": [20 + i % 40 for i in range(60)]})
    >>> recourse = Recourse.fit(lambda rows: rows["income"] > 51, loans, actions={"age": "fixed"})
    >>> confirmed = recourse.plan({"income": 40, "age": 30})
    >>> confirmed.verified, confirmed.plan.counterfactual
    (True, {'income': 52, 'age': 30})
    """

    problem: Problem
    extraction: Extraction
    source: Source
    proxy: Proxy | None = None
    budget: int = 2_000
    reading: Read | NotRead | None = None
    """What was read of the model, or why it is only asked."""
    judged: Problem | None = None
    """The problem in which the model itself decides, where it was read."""

    @classmethod
    def fit(
        cls,
        model: Any,
        X: Any,
        *,
        y: Any = None,
        causal: str | Review | None = None,
        actions: Mapping[Any, str] | None = None,
        desired: Any = None,
        threshold: float | None = None,
        scale: Literal["range", "std", "mad"] = "range",
        features: Mapping[Any, Mapping[str, Any]] | None = None,
        budget: int = 2_000,
        seed: int = 0,
        **keys: Any,
    ) -> Recourse:
        """Read or learn the rules of a model and describe the features from its data.

        Args:
            model: A fitted classifier or pipeline, a function from tables to decisions, or recorded decisions, as
                `p2c.extract_logic` takes them.
            X: The rows that the model was fitted on, or others like them: a frame or an array.
            y: The true labels, to measure the rules by.
            causal: Causal rules and constraints as text, or a review whose approved rules are meant.
            actions: Who may change a feature, by column: "free", "up", "down", "fixed" or "effect".
            desired: The class that is wanted; has to be said unless the classes are truth values or 0 and 1.
            threshold: The probability from which on the class counts as given.
            scale: What a difference is divided by: the "range" of a column, its "std" or its "mad".
            features: More keys of a feature, by column, such as `{"income": {"weight": 2}}`.
            budget: About how many rows the model may be asked for one person.
            seed: What chance is drawn from.
            **keys: Keys of the problem: `name`, `norm`, `exceptions`, `effects`, `minimize`, `goal`, `source`, `lint`, and
                `law`, which is the problem's `causal`.
        """
        refuse_unknown(keys, [*KEYS, *(Recourse.fit.__kwdefaults__ or {})])
        if not isinstance(budget, int) or budget < 1:
            raise P2CError(f"budget: expected a whole number above 0, found {budget!r}")
        given: object = causal
        if not isinstance(given, str | Review | None):
            kind = type(given).__name__
            raise P2CError(f"causal: expected rules as text or a review, found a {kind}")
        source = read_source(model, X, desired=desired, threshold=threshold)
        extraction = extract(source, y, held_out=0.2, seed=seed)
        if "law" in keys:
            keys["causal"] = keys.pop("law")
        outline = outline_problem(
            source,
            extraction,
            scale=scale,
            actions=actions,
            features=features,
            causal=causal if isinstance(causal, str) else "",
        )
        spec: dict[str, Any] = {**outline, **keys}
        if causal is not None and not isinstance(causal, str):
            spec = with_causal_rules(spec, causal)
        reading = judged = None
        if source.model is not None:
            reading = read(model, X, desired=desired, threshold=threshold, seed=seed)
            judged = _judged(reading, source, spec, causal if isinstance(causal, str) else None)
        silent = source.model is not None and not source.model.scored and not extraction.exact
        proxy = None
        if silent and judged is None:
            proxy = fit_proxy(source.table, source.accepted, seed=seed)
        problem = Problem.from_dict(spec)
        return cls(problem, extraction, source, proxy, budget, reading, judged)

    def __repr__(self) -> str:
        kind = "read, plans are proved" if self.judged is not None else "asked"
        return f"<Recourse {self.problem.name!r}: {counted(len(self.problem.spec.features), 'feature')}, model {kind}>"

    def decide(self, frame: Any) -> pd.Series:
        """Tell for each row of a frame or an array whether the model accepts it, or, where there is only a record, the rules."""
        rows = as_frame(frame)
        model, view = self.source.model, self.source.view
        if model is None:
            return self.problem.decide(view.table(rows))  # type: ignore[no-any-return]
        accepted = model.answer(rows[[each.name for each in view.columns]]).accepted
        return rows.assign(accepted=accepted)["accepted"]

    def plan(
        self, row: Any, *, time_limit: float | None = None, node_limit: int | None = None
    ) -> VerifiedPlan:
        """Return the cheapest plan that was found and that the model confirms.

        The row is a mapping, a Series, a table of one row, or values in the order of the columns.
        Where the model accepts nothing that was found within the budget, the plan has given up. Recorded decisions
        cannot be asked: the plan is then that of the rules, not verified.
        """
        return self.nearest(row, 1, time_limit=time_limit, node_limit=node_limit)[0]

    def nearest(
        self,
        row: Any,
        k: int = 1,
        *,
        time_limit: float | None = None,
        node_limit: int | None = None,
    ) -> Plans[VerifiedPlan]:
        """Return up to k confirmed plans to distinct end states, cheapest first; one that is not, where there is none."""
        policy = Policy("native", time_limit, node_limit)
        if not isinstance(k, int) or k < 1:
            raise P2CError(f"k: expected a whole number above 0, found {k!r}")
        row = self.source.view.named(row)
        if self.judged is not None:
            answers = self._proved(self.judged, row, k, policy)
            if answers is not None:
                return Plans(answers)
        state = self.problem.read_row(self.source.view.row(row))
        guides = self._guides(state, k, policy)
        if self.source.model is None:
            told = [self._told(guide, cheapest=n == 0) for n, guide in enumerate(guides[:k])]
            return Plans(VerifiedPlan(guide, False, 0, 0, guide, None) for guide in told)
        walker = Walker(self.problem.theory, state)
        judge = Judge(self._ask(row), self.budget)
        seeds = [path for guide in guides for path in _walked(walker, guide)]
        plans = self._confirmed(guides[:k], judge) if self.extraction.exact else None
        proved = plans is not None
        if plans is None:
            search = ConfirmedSearch(walker, judge, self.trial_values, self.fine_values, wanted=k)
            plans = [self._plan(walker, walk) for walk in search.run(seeds)]
        verified = bool(plans) and not isinstance(plans[0][0], Infeasible)
        guide = self._told(guides[0], judge)
        return Plans(
            VerifiedPlan(
                self._told(plan, judge, replayed=replayed, cheapest=number == 0),
                verified,
                judge.asked,
                judge.calls,
                guide,
                judge.said(guide.counterfactual or {}),
                find_borders(judge, plan),
                proved=proved and not isinstance(plan, GaveUp),
            )
            for number, (plan, replayed) in enumerate(plans or [(GaveUp(walker.question, 0.0), "")])
        )

    def _proved(
        self, judged: Problem, row: Mapping[str, Any] | pd.Series, k: int, policy: Policy
    ) -> list[VerifiedPlan] | None:
        """Return plans proved against the model; None where the model, asked about an end, says otherwise."""
        state = judged.read_row(self.source.view.row(row))
        plans = list(islice(policy.nearest(judged.compiled, state, k, Distinct.POINTS), k))
        plans = plans or [policy.explained_plan(judged.compiled, state)]
        judge = Judge(self._ask(row), max(self.budget, k))
        ends = [Walk(each.counterfactual) for each in plans if isinstance(each, Found | Already)]
        if not all(answer.accepted for _, answer in judge.answers(ends)):
            return None
        return [
            VerifiedPlan(
                told := self._told(plan, judge, exact=True, cheapest=number == 0),
                isinstance(plan, Found | Already),
                judge.asked,
                judge.calls,
                told,
                judge.said(plan.counterfactual or {}),
                proved=not isinstance(plan, GaveUp),
                scores=tuple(self._scores(judged, plan)),
            )
            for number, plan in enumerate(plans)
        ]

    def _scores(self, judged: Problem, plan: Plan) -> Iterator[tuple[float, float]]:
        """Yield the model's score at the start and after each step, each with what it must reach."""
        assert isinstance(judged.model, ReadModel)
        for state in (plan.question.initial, *(step.state for step in plan.steps)):
            score = judged.model.score_of(state)
            if score is not None:
                yield score

    def why(self, row: Any, *, time_limit: float | None = None) -> tuple[str, ...] | None:
        """Return the features whose values together force the model's refusal, whatever the others are; the fewest.

        None where the model accepts, where it is only asked, or where the time ends.
        """
        if self.judged is None:
            return None
        state = self.judged.read_row(self.source.view.row(self.source.view.named(row)))
        return forcing_set(self.judged.theory, state, Limits.within(time_limit))

    def plan_many(
        self, frame: Any, *, time_limit: float | None = None, progress: bool | None = None
    ) -> pd.DataFrame:
        """Return a table with the confirmed plan of each row of a frame or an array, in row order.

        Its columns are those of `Problem.plan_many`, and `verified` and `optimal`; the limit is for one person.
        """
        rows = as_frame(frame)
        return plan_table(
            self.problem.theory.features,
            lambda row: self.plan(row, time_limit=time_limit),
            rows,
            progress=progress,
        )

    def check(self, confirmed: VerifiedPlan) -> Verdict:
        """Replay a plan by the contract with code that no search shares, and ask the model about its end once more.

        For a plan that the model has confirmed, its end stands in the place of the goal.
        """
        plan = confirmed.plan
        problem = self.judged if self.judged is not None and confirmed.proved else self.problem
        if not confirmed.verified or not isinstance(plan, Found | Already):
            return problem.check(plan)
        proved = isinstance(plan, Found) and plan.optimal
        verdict = problem.check(plan) if proved else self._replayed(plan)
        accepted, _ = self._ask(plan.question.initial)([plan.counterfactual])[0]
        if accepted:
            return verdict
        refused = Fault("counterfactual", "the model refuses this state")
        return replace(verdict, faults=(*verdict.faults, refused))

    def report(
        self,
        confirmed: VerifiedPlan,
        *,
        format: str = "html",
        audience: str = "applicant",
        language: str = "en",
    ) -> bytes:
        """Return a report on a plan, as `Problem.report` does, with what the model said of it."""
        problem = self.judged if self.judged is not None and confirmed.proved else self.problem
        return problem.report(confirmed.plan, format=format, audience=audience, language=language)

    @cached_property
    def trial_values(self) -> TrialValues:
        """Return the values of each feature that are put to the model first."""
        return choose_values(self.problem.theory, sample_values(self.source.table))

    @cached_property
    def fine_values(self) -> TrialValues:
        """Return the values of each feature that are put to the model where it is asked closely."""
        samples = sample_values(self.source.table, parts=FINE_PARTS)
        return choose_values(self.problem.theory, samples, whole=WHOLE)

    def _told(
        self,
        plan: Plan,
        judge: Judge | None = None,
        *,
        replayed: str = "",
        cheapest: bool = True,
        exact: bool = False,
    ) -> Plan:
        """Return a plan that can tell itself, and what the model said of it."""
        testimony = Testimony(None, 0)
        if judge is not None:
            said = judge.said(plan.counterfactual or {})
            testimony = Testimony(said, judge.asked, exact or self.extraction.exact, replayed)
        known = replace(plan, question=replace(plan.question, testimony=testimony))
        theory = self.judged.theory if exact and self.judged else self.problem.theory
        return with_renderer(theory, known, cheapest=cheapest)

    def _guides(self, state: State, k: int, policy: Policy) -> list[Plan]:
        """Return the plans of the rules: the one answer where there is no path or nothing to do."""
        distinct = Distinct.POINTS if self.extraction.exact else Distinct.CELLS
        count = k if self.extraction.exact else max(k, GUIDES)
        plans = policy.nearest(self.problem.compiled, state, count, distinct)
        found = list(islice(plans, count))
        if found or not self.extraction.exact:
            return found or [Infeasible(Walker(self.problem.theory, state).question)]
        return [policy.explained_plan(self.problem.compiled, state)]

    def _confirmed(self, guides: list[Plan], judge: Judge) -> list[tuple[Plan, str]] | None:
        """Return the plans of a model's own rules where the model confirms them; None where it does not."""
        plans = [(guide, "") for guide in guides]
        if isinstance(guides[0], Infeasible):
            return plans
        ends = [Walk(plan.counterfactual) for plan in guides if plan.counterfactual is not None]
        judged = judge.answers(ends)
        agreed = len(judged) == len(guides) and all(answer.accepted for _, answer in judged)
        return plans if agreed else None

    def _ask(self, row: Mapping[str, Any] | pd.Series) -> Ask:
        model, view, proxy = self.source.model, self.source.view, self.proxy
        assert model is not None

        def ask(states: Sequence[Mapping[str, Value]]) -> list[tuple[bool, float | None]]:
            rows = view.ask(row, states)
            answers = model.answer(rows)
            scores = answers.scores
            if scores is None and proxy is not None:
                scores = proxy.scores(view.table(rows))
            told = [None] * len(states) if scores is None else scores.tolist()
            return list(zip(answers.accepted.tolist(), told, strict=True))

        return ask

    def _plan(self, walker: Walker, walk: Walk) -> tuple[Plan, str]:
        """Return a confirmed walk as a plan, and what came of replaying it."""
        if walk.before is None:
            return Already(walker.question), ""
        plan = walker.found(walk)
        verdict = self._replayed(plan)
        assert verdict, f"a confirmed plan breaks the contract: {verdict}"
        return plan, str(verdict)

    def _replayed(self, plan: Found | Already) -> Verdict:
        """Replay a plan with its end in the place of the goal."""
        end = plan.counterfactual
        return check_plan(self.problem.theory, plan.to_dict(), goal=lambda state: state == end)


def _judged(
    reading: Read | NotRead, source: Source, spec: Mapping[str, Any], causal: str | None
) -> Problem | None:
    """Return the problem in which a model that was read decides; None where it cannot be searched with."""
    if not isinstance(reading, Read) or reading.score.lines:
        return None
    model, view = source.model, source.view
    assert model is not None

    def ask(state: Mapping[str, Value]) -> bool:
        return bool(model.answer(view.ask(state, [state])).accepted[0])

    keys = {key: value for key, value in spec.items() if key != "source"}
    rules = causal if causal is not None else _causal_part(spec)
    judge = ReadModel(reading.score, ask)
    return Problem.from_dict({**keys, "goal": "accepted(X)", "rules": rules}, model=judge)


def _causal_part(spec: Mapping[str, Any]) -> str:
    """Return those of a problem's rules that are no decisions of the model."""
    theory = Problem.from_dict(spec).theory
    kept = [clause.rule for _, clauses in theory.causes for clause in clauses]
    kept += [clause.rule for clause in theory.constraints]
    return "\n".join(render_rule(rule) for rule in kept)


def _walked(walker: Walker, guide: Plan) -> list[Walk]:
    """Return the plan of the rules as a walk, where its actions alone lead to its end."""
    if not isinstance(guide, Found):
        return []
    ends = walker.follow((each.feature, each.end) for each in guide.direct_actions)
    return [walk for walk in ends if walk.state == guide.counterfactual]
