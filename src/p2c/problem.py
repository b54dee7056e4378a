"""`Problem`, the facade: each method calls a function of another layer.

Reading, writing and restricting is in `_statement.py`. Rarely used modules are imported on first use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from p2c import _answers as answers
from p2c._engines.policy import Policy
from p2c._plan.outcome import Plan
from p2c._spec.overrides import OVERRIDES, check_seconds, refuse_unknown
from p2c._statement import Statement
from p2c.errors import P2CError, check_flag, counted, need_learning, shorten, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Unpack

    import p2c_verify
    from p2c._audit.audit import Asked, Audit
    from p2c._audit.reasons import Catalogue, Reason
    from p2c._learn.causal.review import Review
    from p2c._learn.relations.relation import Relation
    from p2c._learn.tables.domains import Scale
    from p2c._plan.check.validate import Verdict
    from p2c._plan.rendered import Plans
    from p2c._plan.size import SpaceReport
    from p2c._report.expert_report import Origin
    from p2c._report.follow_up import FollowUp
    from p2c._rules.lint import Finding
    from p2c._rules.proof import Proof
    from p2c._spec.overrides import Overrides
    from p2c._spec.spec import Trust


@dataclass(frozen=True, repr=False)
class Problem(Statement):
    """Features, rules or a model, and a goal, to be planned for.

    Read one with `load` (a file or a folder), `from_dict` (a dict of the same shape) or `example` (an embedded one);
    make one with `from_model` (a fitted model) or `from_table` (labels). `plan`, `nearest`,
    `plan_many` and `report` take the problem's keys `goal`, `law`, `exceptions`, `effects`, `norm` and `minimize` as
    keywords, which then hold for that question alone.

    >>> problem = Problem.example("loan")
    >>> problem
    <Problem 'loan': 5 features, 3 rules, goal: not reject_loan(X)>
    >>> john = {"age": 31, "debt": 5000, "loan_duration": 12, "bank_balance": 40000, "credit_score": 599}
    >>> problem.plan(john).cost, problem.plan(john, norm="l0").cost
    (0.00502, 2.0)
    """

    @classmethod
    def from_model(
        cls,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        causal: str | Review | None = None,
        groups: Mapping[str, Iterable[Any]] | None = None,
        actions: Mapping[Any, str] | None = None,
        desired: Any = None,
        threshold: float | None = None,
        scale: Scale = "range",
        features: Mapping[Any, Mapping[str, Any]] | None = None,
        equations: Mapping[Any, str] | None = None,
        special: Mapping[Any, Iterable[float]] | None = None,
        held_out: float = 0.2,
        budget: int = 2_000,
        seed: int = 0,
        trust: Trust | str | Iterable[str] | None = None,
        **keys: Any,
    ) -> Problem:
        """Return the problem in which a fitted model decides.

        Where the model is parsed, which `reading` says, plans are proved against it. Any other model is asked: then
        every plan is verified by the model, and none is proved.

        Args:
            model: A fitted classifier or pipeline, a function from tables to decisions, or the path of a stored model.
            X: The rows that the model was fitted on, or others like them: a frame or an array.
            y: The true labels, to measure the surrogate rules by.
            causal: Causal rules and constraints as text, or a review whose approved rules are taken.
            groups: One-hot columns that are one category for people and rules, by the name of the category, such as
                `{"home": ["home_own", "home_rent"]}`; `{}` for none. By default they are found in the table, and
                `assumptions` lists them.
            actions: The permitted changes by column: "free", "up", "down", "fixed" or "effect". A column that is not
                named gets what its name suggests, such as "up" for an age; `assumptions` lists it.
            desired: The class that is wanted; required unless the classes are truth values or 0 and 1.
            threshold: The probability from which on the class counts as given.
            scale: The divisor of a numeric difference: the "range" of a column, its "std" or its "mad".
            features: More keys of a feature, by column, such as `{"income": {"weight": 2}}`.
            equations: Columns that are functions of others, such as `{"dti": "debt / income"}`: plans recompute them.
            special: Numbers that stand for a missing value, by column, such as `{"months": [-9, -8]}`; `{}` for none. No
                plan ends in one. By default -7, -8, -9, 999 and their like are found in the table, and `assumptions` lists them.
            held_out: The share of rows on which the surrogate rules are measured.
            budget: Number of rows that a black-box model may be asked about for one person.
            seed: Random seed.
            trust: Parts of a stored model that may run code when it is opened: "pickle", or names of types in a skops
                file; none by default.
            **keys: Keys of the problem: `name`, `norm`, `law`, `exceptions`, `effects`, `minimize`, `goal`, `source` and
                `lint`. The goal is `accepted(X)` by default.

        >>> import pandas as pd
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> loans = pd.DataFrame({"income": range(20, 80), "rooms": [1 + i % 4 for i in range(60)]})
        >>> tree = DecisionTreeClassifier(max_depth=1).fit(loans, loans["income"] > 51)
        >>> by_tree = Problem.from_model(tree, loans, actions={"rooms": "fixed"})
        >>> by_tree
        <Problem 'problem': 2 features, model read, plans are proved>
        >>> plan = by_tree.plan({"income": 40, "rooms": 3})
        >>> plan.counterfactual, plan.model.verified, plan.proof
        ({'income': 52, 'rooms': 3}, True, 'exhausted')
        """
        need_learning()
        from p2c._from_data import DataOptions, problem_from_model, refuse_keywords

        refuse_keywords(keys, Problem.from_model.__kwdefaults__ or {})
        options = DataOptions(
            causal,
            groups,
            actions,
            desired,
            threshold,
            scale,
            features,
            equations,
            special,
            held_out,
            budget,
            seed,
            trust,
        )
        return problem_from_model(cls, model, X, options, keys, y=y)

    @classmethod
    def from_table(
        cls,
        frame: Any,
        label: Any,
        *,
        causal: str | Review | None = None,
        actions: Mapping[Any, str] | None = None,
        desired: Any = None,
        positive: str | None = None,
        scale: Scale = "range",
        features: Mapping[Any, Mapping[str, Any]] | None = None,
        equations: Mapping[Any, str] | None = None,
        keep: Iterable[Any] = (),
        held_out: float = 0.2,
        ratio: float = 0.5,
        tail: float = 0.005,
        seed: int = 0,
        **keys: Any,
    ) -> Problem:
        """Return the problem whose decision rules are learned from labels by FOLD-SE.

        What is proved of a plan is proved of these rules; `source` says on how many rows they agree with the labels.

        Args:
            frame: A row for each person: a frame or an array.
            label: The name of the column of labels, or the labels themselves.
            causal: Causal rules and constraints as text, or a review whose approved rules are taken.
            actions: The permitted changes by column, as `from_model` takes them.
            desired: The label that is wanted; required unless the labels are truth values or 0 and 1.
            positive: The label that the rules define; the desired one by default.
            scale: The divisor of a numeric difference: the "range" of a column, its "std" or its "mad".
            features: More keys of a feature, by column.
            equations: Columns that are functions of others, as `from_model` takes them.
            keep: Columns that become features although they help no rule, such as an id or a date. Others like them are
                left out, and `assumptions` lists them; a column named in `actions` or `features` stays.
            held_out: The share of rows on which the rules are measured.
            ratio: Of FOLD-SE: the most negatives for one positive in a rule.
            tail: Of FOLD-SE: the least share of rows for a rule.
            seed: Random seed.
            **keys: Keys of the problem, such as `name` and `norm`.

        >>> import pandas as pd
        >>> people = pd.DataFrame({"income": range(20, 80), "rooms": [1 + i % 4 for i in range(60)]})
        >>> learned = Problem.from_table(people, people["income"] > 51)
        >>> learned.plan({"income": 40, "rooms": 3}).counterfactual["income"] > 45
        True
        """
        need_learning()
        from p2c._from_data import (
            DataOptions,
            labelled_table,
            problem_from_table,
            refuse_keywords,
        )

        refuse_keywords(keys, Problem.from_table.__kwdefaults__ or {})
        table, column = labelled_table(
            frame, label, [*keep, *(actions or ()), *(features or ()), *(equations or ())]
        )
        options = DataOptions(
            causal=causal,
            actions=actions,
            desired=desired,
            positive=positive,
            scale=scale,
            features=features,
            equations=equations,
            held_out=held_out,
            ratio=ratio,
            tail=tail,
            seed=seed,
        )
        return problem_from_table(cls, table, column, options, keys)

    def __repr__(self) -> str:
        if self.decider is not None:
            kind = "read, plans are proved" if self.decider.is_read else "asked"
            return f"<Problem {self.name!r}: {counted(len(self.spec.features), 'feature')}, model {kind}>"
        count, rules = len(self.spec.features), len(self.theory.program.rules)
        sizes = f"{counted(count, 'feature')}, {counted(rules, 'rule')}"
        return f"<Problem {self.name!r}: {sizes}, goal: {shorten(self.spec.goal, 60)}>"

    def plan(
        self,
        row: Any,
        *,
        engine: str = "auto",
        time_limit: float | None = None,
        node_limit: int | None = None,
        restrict: Mapping[str, Any] | None = None,
        certificate: bool = False,
        **overrides: Unpack[Overrides],
    ) -> Plan:
        """Return the path of least cost for a person, or the blockers.

        Args:
            row: The person's values by feature; None or NaN for a missing value.
            engine: The solver: "auto", "native", "clingo" or "scasp".
            time_limit: Seconds after which the answer is `gave_up`, with the best plan so far and a bound.
            node_limit: Maximum number of search nodes; the answer is `gave_up` when it is exceeded.
            restrict: Restrictions of this person by feature, such as `{"debt": "fixed"}`: see `restricted`.
            certificate: Whether to attach a certificate that `p2c_verify` has checked (`plan.certificate`). Making
                it takes up to as many seconds again as `time_limit` says; `plan.uncertified` is the reason if there
                is none.
            **overrides: Keys of the problem for this question alone, such as `norm="l0"`.

        Returns:
            A plan, whose `status` says which of four answers it is.

        >>> import p2c
        >>> loan, john = p2c.Problem.example("loan"), p2c.datasets.rows("loan")["john"]
        >>> loan.plan(john).status, loan.plan(john, restrict={"debt": "fixed"}).status
        ('found', 'infeasible')
        >>> loan.plan(john, certificate=True).proof
        'certificate'
        """
        policy = Policy(engine, time_limit, node_limit)
        problem = self._asked(Problem.plan, overrides, restrict)
        plan = answers.plan_for(problem, row, policy)
        check_flag("certificate", certificate)
        if not certificate:
            return plan
        from p2c._plan.certificate.attach import with_certificate

        return with_certificate(problem.theory, plan, time_limit=time_limit)

    def nearest(
        self,
        row: Any,
        k: int = 1,
        *,
        distinct: str = "points",
        engine: str = "auto",
        time_limit: float | None = None,
        node_limit: int | None = None,
        restrict: Mapping[str, Any] | None = None,
        **overrides: Unpack[Overrides],
    ) -> Plans[Plan]:
        """Return the k cheapest distinct end states with their best paths.

        Args:
            row: The person's values by feature.
            k: Number of end states.
            distinct: The difference between two ends: "points" for any value, "cells" for values that the rules tell apart.
            engine: The solver: "auto", "native" or "clingo".
            time_limit: Seconds after which the search ends.
            node_limit: Maximum number of search nodes.
            restrict: Restrictions of this person by feature: see `restricted`.
            **overrides: Keys of the problem for this question alone.

        Returns:
            A list of plans, cheapest first, empty if there is no path. If a limit ends the search, the plans so far are
            followed by the answer that gave up.

        >>> import p2c
        >>> loan, john = p2c.Problem.example("loan"), p2c.datasets.rows("loan")["john"]
        >>> [plan.cost for plan in loan.nearest(john, k=2)]
        [0.00502, 0.005020001]
        """
        policy = Policy(engine, time_limit, node_limit)
        problem = self._asked(Problem.nearest, overrides, restrict)
        return answers.nearest(problem, row, k, policy, distinct=distinct)

    def tradeoffs(
        self,
        row: Any,
        by: str | Iterable[str] | None = None,
        *,
        time_limit: float | None = None,
        node_limit: int | None = None,
        restrict: Mapping[str, Any] | None = None,
        **overrides: Unpack[Overrides],
    ) -> Plans[Plan]:
        """Return a plan for each Pareto-optimal vector of objectives, ascending.

        No path is at least as good as one of these plans in every objective and better in one.

        Args:
            row: The person's values by feature.
            by: The objectives: "cost", "actions" (direct actions) and names of resources; by default the cost and all
                resources.
            time_limit: Seconds after which the search ends.
            node_limit: Maximum number of search nodes.
            restrict: Restrictions of this person by feature: see `restricted`.
            **overrides: Keys of the problem for this question alone.

        Returns:
            A list of plans, empty if there is no path. If a limit ends the search, the plans so far are followed by the
            answer that gave up.

        >>> import p2c
        >>> flat = p2c.Problem.from_dict({
        ...     "goal": "debt(X,D), D=<0", "rules": "", "resources": {"months": {}},
        ...     "features": {"debt": {"type": "int", "min": 0, "max": 10, "uses": {"months": {"per_unit": 1}}}},
        ...     "actions": {"sell": {"sets": {"debt": 0}, "cost": 3, "uses": {"months": {"fixed": 2}}}}})
        >>> [(plan.cost, plan.uses) for plan in flat.tradeoffs({"debt": 5}, by=["cost", "months"])]
        [(0.5, {'months': 5}), (3.0, {'months': 2})]
        """
        policy = Policy("auto", time_limit, node_limit)
        problem = self._asked(Problem.tradeoffs, overrides, restrict)
        every = ("cost", *problem.spec.resources)
        return answers.tradeoffs(problem, row, every if by is None else by, policy)

    def plan_many(
        self,
        frame: Any,
        *,
        details: bool = True,
        progress: bool | None = None,
        engine: str = "auto",
        time_limit: float | None = None,
        node_limit: int | None = None,
        restrict: Mapping[str, Any] | None = None,
        **overrides: Unpack[Overrides],
    ) -> Any:
        """Return a table with the plan of each row of a frame, in row order.

        Args:
            frame: A pandas, polars, pyarrow or Dask frame: a column for each feature, a row for each person.
            details: Whether to add the columns `actions` and `steps`, the largest ones.
            progress: Whether to show a bar; by default on a terminal if the table is long.
            engine: The solver.
            time_limit: Seconds for one person.
            node_limit: Maximum number of search nodes for one person.
            restrict: Restrictions of all people in the table by feature: see `restricted`.
            **overrides: Keys of the problem for this question alone.

        Returns:
            A table of the same kind, lazy for Dask: `status`, `cost`, `end_…` for each feature, `actions` and `steps` as
            JSON, `exceptions`, `unknown` (missing values that the answer rests on), and `message` with the fault of an
            `invalid` row; if a model decides, `verified` and `optimal` as well.

        >>> import p2c
        >>> import pandas as pd
        >>> people = pd.DataFrame([p2c.datasets.rows("loan")["john"]])
        >>> p2c.Problem.example("loan").plan_many(people)[["status", "cost", "end_debt"]]
          status     cost  end_debt
        0  found  0.00502         0
        """
        policy = Policy(engine, time_limit, node_limit)
        problem = self._asked(Problem.plan_many, overrides, restrict)
        if type(frame).__module__.startswith("dask") and problem.decider is None:
            from p2c._plan.tables.frames import plan_lazily

            plan = partial(problem.plan_many, details=details, progress=False, engine=engine)
            part = partial(plan, time_limit=time_limit, node_limit=node_limit)
            return plan_lazily(problem.compiled, frame, part)
        frame = problem.by_features(frame)
        return answers.plan_many(problem, frame, policy, details=details, progress=progress)

    def audit(
        self,
        frame: Any,
        by: str | Sequence[str] = (),
        *,
        answers: Any = None,
        against: Problem | None = None,
        after: Any = None,
        seed: int = 0,
        explain_time_limit: float | None = 60.0,
        asked: Asked | None = None,
        time_limit: float | None = None,
        progress: bool | None = None,
        **overrides: Unpack[Overrides],
    ) -> Audit:
        """Count who of many people has a plan, and compare groups.

        Args:
            frame: A column for each feature, a row for each person; a mapping of columns where `answers` are given.
            by: Columns that divide people, in bands where wanted: `["sex", "age:<30,30-50,>50"]`.
            answers: The answers of `plan_many` or of a batch for the same rows, if they exist already.
            against: Another problem for the same people, to count who gains and who loses by it.
            after: The answers of that problem, if they exist already.
            seed: Random seed.
            explain_time_limit: Seconds for all explanations of why people have no plan; None sets no limit.
            asked: The question, for the report.
            time_limit: Seconds for one person.
            progress: Whether to show a bar.
            **overrides: Keys of the problem for this question alone.

        >>> import p2c
        >>> import pandas as pd
        >>> audit = p2c.Problem.example("loan").audit(pd.DataFrame(p2c.datasets.rows("loan").values()))
        >>> audit.everybody.refused.count, audit.everybody.found, audit.everybody.stuck.count
        (4, 3, 1)
        """
        from p2c._audit.audit import Asked, audit_problem

        check_seconds("explain_time_limit", explain_time_limit)
        if not isinstance(against, Problem | None):
            raise P2CError(f"against: expected a problem, found a {type(against).__name__}")
        if not isinstance(asked, Asked | None):
            raise P2CError(f"asked: expected a p2c._audit.audit.Asked, found {shown(asked)}")
        other = against and against._asked(Problem.audit, overrides, None)
        if isinstance(frame, list) or (hasattr(frame, "ndim") and not hasattr(frame, "columns")):
            from p2c._learn.tables.view import as_frame

            frame = as_frame(frame)
        frame = self.by_features(frame)
        if self.decider is not None and self.decider.source.view.grouping is not None:
            frame = self.decider.source.view.collapse(frame)
        return audit_problem(
            self._asked(Problem.audit, overrides, None),
            frame,
            Policy("auto", time_limit),
            by=by,
            answers=answers,
            against=other,
            after=after,
            seed=seed,
            explain_time_limit=explain_time_limit,
            asked=asked,
            progress=progress,
        )

    def _asked(
        self, ask: Callable[..., Any], overrides: Overrides, restrict: Mapping[str, Any] | None
    ) -> Problem:
        """Return the problem of a question; refuse keywords that the method lacks."""
        if not overrides and restrict is None:
            return self
        refuse_unknown(overrides, [*OVERRIDES, *(ask.__kwdefaults__ or {})])
        asked = self if restrict is None else self.restricted(restrict)
        return asked.with_keys(**overrides)

    def _plan_of(self, row: Any, policy: Policy) -> Plan:
        """Return the plan of a person, or an earlier plan of this problem."""
        if not isinstance(row, Plan):
            return answers.plan_for(self, row, policy)
        absent = [name for name in self.theory.feature if name not in row.question.initial]
        if absent:
            raise P2CError(f"expected a plan of '{self.name}', found one without '{absent[0]}'")
        return row

    def reasons(
        self,
        row: Any,
        *,
        codes: str | Path | Catalogue | None = None,
        protected: Sequence[str] = (),
        time_limit: float | None = None,
    ) -> tuple[Reason, ...]:
        """Return at most four principal reasons for a refusal.

        Each is checked against the decision itself.

        Args:
            row: The person's values by feature, or their plan.
            codes: A lender's catalogue: a CSV file with the columns feature, direction, code and text.
            protected: Features that are never given as a reason.
            time_limit: Seconds for the plan, and as many for the reasons.

        >>> import p2c
        >>> loan, john = p2c.Problem.example("loan"), p2c.datasets.rows("loan")["john"]
        >>> [(each.feature, each.direction, each.check) for each in loan.reasons(john)]
        [('bank_balance', 'low', 'moves'), ('credit_score', 'low', 'moves')]
        """
        from p2c._audit.reasons import catalogue_of, reasons_against

        policy, catalogue = Policy("auto", time_limit), catalogue_of(codes, protected)
        catalogue.refuse_gaps(self.compiled)
        plan = self._plan_of(row, policy)
        return reasons_against(self.compiled, plan, catalogue, time_limit=time_limit)

    def predict(self, rows: Any) -> Any:
        """Tell whether the goal holds for each row of a table, or for one person.

        `decide` is another name of this method.

        Args:
            rows: A pandas, polars or other frame with a column for each feature, or one person's row.

        Returns:
            A column of truth values in row order, of the frame's own kind and called `accepted`; for one row, a bool.

        >>> import p2c
        >>> import pandas as pd
        >>> rows = p2c.datasets.rows("loan")
        >>> p2c.Problem.example("loan").predict(pd.DataFrame([rows["john"], rows["already"]])).tolist()
        [False, True]
        """
        return answers.predict(self, rows)

    decide = predict

    def why(self, row: Any, *, time_limit: float | None = 5.0) -> Proof:
        """Return the proof behind the decision on a person.

        For a black-box model it is the proof of the surrogate rules.

        Args:
            row: The person's values by feature.
            time_limit: Seconds for the search for `reasons`.

        Returns:
            A proof: `holds` tells whether the goal does, `to_text()` is the tree in lines, and notebooks show it. Of a
            parsed model that refuses, `reasons` names the features whose values together force the refusal, whatever
            the others are; it is None where rules or a black-box model decide, and where the time ends.

        >>> import p2c
        >>> proof = p2c.Problem.example("loan").why(p2c.datasets.rows("loan")["john"])
        >>> proof.holds, proof.to_text().splitlines()[0]
        (False, '✗ not reject_loan(X)')
        """
        from p2c._rules.proof import why

        limits = Policy("native", time_limit).limits
        state = self.read_row(row)
        proof = why(self.worded, state)
        if self.decider is None or not self.decider.is_read:
            return proof
        from p2c._explain.model_reasons import reasons_of

        return replace(proof, find_reasons=partial(reasons_of, self.theory, state, limits))

    def report(
        self,
        row: Any,
        *,
        format: str = "html",
        audience: str = "applicant",
        language: str = "en",
        engine: str = "auto",
        time_limit: float | None = None,
        origin: Origin | None = None,
        reasons: Catalogue | None = None,
        notice: str | Path | None = None,
        lender: str | Path | Mapping[str, Any] | None = None,
        case: Mapping[str, Any] | None = None,
        register: str | Path | None = None,
        restrict: Mapping[str, Any] | None = None,
        **overrides: Unpack[Overrides],
    ) -> bytes:
        """Return a report on a person, or on a plan made before, as the bytes of a file.

        Args:
            row: The person's values by feature, or a plan.
            format: "html", "md", "txt" or "pdf"; the last needs the extra `report`.
            audience: "applicant" for a letter, "expert" for an auditor.
            language: "en" or "de".
            engine: The solver.
            time_limit: Seconds for the plan, and again for alternatives.
            origin: The source of the question, for an expert: the command, hashes of the files, the number of
                alternatives, and the date, today by default.
            reasons: A lender's codes of principal reasons, listed for the applicant after the verdict.
            notice: A notice in the place of the applicant's page: "reg-b", "ccd2", "colorado", "plain", or the file of an
                edited form. A mandatory field that is missing is an error that names it.
            lender: The lender's file, or a mapping of the same shape: logo, sender, closing words, sources of data. Without
                `notice`, the letter is "plain".
            case: The fields of this case, such as `applicant` and `reference`; they come before the lender's.
            register: A file to which a record of the notice is appended.
            restrict: Restrictions of this person by feature: see `restricted`.
            **overrides: Keys of the problem for this question alone.

        >>> import p2c
        >>> page = p2c.Problem.example("loan").report(p2c.datasets.rows("loan")["john"], format="txt")
        >>> print(page.decode().splitlines()[0])
        Your way to a yes
        """
        from p2c._report.expert_report import Origin
        from p2c._report.formats import check_report, report_on

        check_report(format, audience)
        policy = Policy(engine, time_limit)
        problem = self._asked(Problem.report, overrides, restrict)
        plan = problem._plan_of(row, policy)
        if notice is not None or lender is not None:
            from p2c._notices.filed import file_notice

            return file_notice(
                problem,
                plan,
                notice or "plain",
                lender,
                case,
                audience=audience,
                language=language,
                format=format,
                register=register,
                catalogue=reasons,
                time_limit=time_limit,
            )
        if case is not None or register is not None:
            raise P2CError("case and register: need a notice, such as notice='reg-b'")
        principal: tuple[str, ...] = ()
        if reasons is not None and audience == "applicant":
            from p2c._audit.reasons import catalogue_of, reasons_told

            principal = reasons_told(problem.compiled, plan, catalogue_of(reasons, ()), language)
        origin = origin or Origin()
        start, limited = dict(plan.question.initial), Policy(time_limit=time_limit)
        return report_on(
            problem,
            plan,
            format=format,
            audience=audience,
            language=language,
            origin=origin,
            ways=lambda: answers.nearest(
                problem, start, origin.alternatives, limited, distinct="cells", state=start
            ),
            reasons=principal,
        )

    def check(
        self,
        plan: Plan | Mapping[str, Any],
        *,
        prove: bool = False,
        engine: str = "auto",
        time_limit: float | None = None,
    ) -> Verdict:
        """Replay a plan by the contract, with code that the planner does not share.

        Args:
            plan: A plan, or its JSON.
            prove: Also verify that no path is cheaper, or that none exists, which a replay cannot tell.
            engine: How to prove: "auto" makes a certificate and has `p2c_verify` check it; where none can be made, clingo
                plans again if it is installed and takes the problem, else the same search, which the verdict calls a
                repetition and no proof. A solver's name makes that solver plan again.
            time_limit: Seconds for the certificate, and as many to plan again; then the claim stays unchecked.

        Returns:
            A verdict: true where nothing is wrong, with its `faults`, what another solver has `proved`, what the same
            search has `repeated`, and what is left `unchecked`.

        >>> import p2c
        >>> loan, john = p2c.Problem.example("loan"), p2c.datasets.rows("loan")["john"]
        >>> print(loan.check(loan.plan(john), prove=True))
        the path is valid: every step, the cost and the end
        proved by a certificate that p2c_verify has checked: that no cheaper path exists
        """
        document = plan.to_dict() if hasattr(plan, "to_dict") else plan
        policy = Policy(engine, time_limit)
        return answers.check(self, document, prove=policy if prove else None)

    def check_counterfactual(self, row: Any, counterfactual: Any) -> Verdict:
        """Check the end state of another method as a plan of direct actions.

        Args:
            row: The person's values by feature.
            counterfactual: The values at the end.

        >>> import p2c
        >>> loan, john = p2c.Problem.example("loan"), p2c.datasets.rows("loan")["john"]
        >>> print(loan.check_counterfactual(john, {**john, "debt": 0}))
        step 1: ends inconsistent: the rules of credit_score do not allow 599
        step 1: is the last step, but the goal is not met at its end
        """
        from p2c._plan.one_shot_plan import one_shot_document

        start, end = self.read_row(row), self.read_row(counterfactual)
        return self.check(one_shot_document(self.theory, start, end))

    def follow_up(
        self,
        plan: Plan | Mapping[str, Any],
        row: Any,
        *,
        engine: str = "auto",
        time_limit: float | None = None,
    ) -> FollowUp:
        """Compare a plan with the person's later values and plan again from there.

        Args:
            plan: A plan with steps, or its JSON.
            row: The person's values now.
            engine: The solver.
            time_limit: Seconds for the new plan.

        Returns:
            A follow-up: the actions that are `done` and `left`, other `changed` values, whether the rest is still
            `valid` and `cheapest`, and the cheapest `plan` from here, which changes no feature of the done part
            directly again. `explain()` puts it in words.

        >>> import p2c
        >>> loan, john = p2c.Problem.example("loan"), p2c.datasets.rows("loan")["john"]
        >>> later = loan.follow_up(loan.plan(john), {**john, "debt": 0, "credit_score": 620})
        >>> later.cheapest, later.plan
        (True, <Plan 'loan': found, cost 2e-05, bank_balance 40000 -> 60000>)
        """
        document = plan.to_dict() if isinstance(plan, Plan) else plan
        return answers.follow_up(self, document, row, Policy(engine, time_limit))

    def verify(
        self,
        row: Mapping[str, Any],
        plan: Plan | Mapping[str, Any],
        certificate: Mapping[str, Any],
    ) -> p2c_verify.Report:
        """Verify a plan and its certificate with the independent `p2c_verify`.

        Args:
            row: The person's values by feature.
            plan: A plan, or its JSON.
            certificate: The `certificate` of a plan made with `certificate=True`.

        Returns:
            The verified claim and the model's recorded answers that it rests on.

        Raises:
            P2CError: Anything is false or was not verified.

        >>> import p2c
        >>> loan, john = p2c.Problem.example("loan"), p2c.datasets.rows("loan")["john"]
        >>> plan = loan.plan(john, certificate=True)
        >>> loan.verify(john, plan, plan.certificate).claim
        'the plan is a path of cost 0.00502, and no path costs less'
        """
        from p2c._plan.certificate.attach import verify_claim

        document = plan.to_dict() if isinstance(plan, Plan) else plan
        asked = answers.as_asked(self, document)
        return verify_claim(asked.theory, asked.read_row(row), document, certificate)

    def read_plan(self, document: Mapping[str, Any]) -> Plan:
        """Return the plan that `to_dict` wrote; `check` tells whether it is right.

        Args:
            document: The plan's JSON, read.

        >>> import p2c
        >>> loan, john = p2c.Problem.example("loan"), p2c.datasets.rows("loan")["john"]
        >>> loan.read_plan(loan.plan(john).to_dict()).explain().splitlines()[0]
        'The answer is no for now.'
        """
        return answers.read_plan(self, document)

    def lint(self) -> tuple[Finding, ...]:
        """Return suspicious parts of the problem that it does not accept.

        >>> [finding.message for finding in Problem.example("loan").lint()]
        []
        """
        return tuple(each for each in self.findings() if not each.reason)

    def findings(self) -> tuple[Finding, ...]:
        """Return all suspicious parts, the accepted ones with their reasons.

        >>> [(each.about, each.reason[:22]) for each in Problem.example("german").findings()][:1]
        [('present_employment_since', 'it follows from the jo')]
        """
        from p2c._rules.lint import lint

        return lint(self.theory, self.spec.lint.accept)

    def relations(
        self, frame: Any, *, threshold: float = 0.95, seed: int = 0
    ) -> tuple[Relation, ...]:
        """Return the relations between features that the rows of a table suggest.

        They are candidates: `p2c.write_review` puts them into a review, where an expert approves or rejects them.

        Args:
            frame: A pandas, polars or other frame with a column for each feature.
            threshold: The least share of rows on which an equation holds, from 0.5 to 1. An order of two features holds
                on 99% at least, a one-hot group on 99.9%.
            seed: Random seed for the rows on which candidates are screened.

        Returns:
            At most one equation for each feature, the simplest, then one-hot groups, orders, and features that count
            time. Each has an `id`, a `text`, a `share` of rows and `examples` against it.

        >>> import p2c
        >>> import pandas as pd
        >>> numbers = {name: {"type": "float", "min": 0, "max": 100_000} for name in ("debt", "income", "dti")}
        >>> lending = p2c.Problem.from_dict({"goal": "dti(X,N), N<0.4", "rules": "", "features": numbers})
        >>> rows = pd.DataFrame({"debt": [7.0 * (i % 89) + 5 for i in range(900)], "income": [31.0 * (i % 97) + 9 for i in range(900)]})
        >>> print(lending.relations(rows.assign(dti=rows["debt"] / rows["income"]))[0])
        dti-ef1ca57c: dti = debt / income (holds on 900 of 900 rows)
        """
        from p2c._learn.relations.finder import find_relations

        return find_relations(frame, self._names_of(frame), threshold=threshold, seed=seed)

    def space(self) -> SpaceReport:
        """Return the size of the search space, raw and in cells of the rules.

        >>> Problem.example("loan").space()
        <SpaceReport 'loan': about 1e22 states, 1e1 to the rules>
        """
        from p2c._plan.size import measure_space

        return measure_space(self.compiled)

    def to_svg(self, *, theme: str = "auto", language: str = "en") -> str:
        """Draw the causal graph and the features that the decision reads.

        Args:
            theme: "light", "dark", or "auto" for that of the reader's screen.
            language: "en" or "de".

        >>> problem.to_svg(theme="light")[:4]
        '<svg'
        """
        from p2c._report.graph import graph_svg

        return graph_svg(self.theory, theme=theme, language=language)

    def widget(
        self, row: Mapping[str, Any], *, language: str = "en", time_limit: float | None = 5
    ) -> Any:
        """Return a notebook widget that plans again when a value changes.

        Args:
            row: The person's values by feature, with which the widget begins.
            language: "en" or "de".
            time_limit: Seconds for each plan.

        Returns:
            An anywidget with `row`, `restrict` and the last `plan`. Needs the extra `notebook`.

        >>> knobs = problem.widget(john)
        >>> knobs.restrict = {"debt": "fixed"}
        >>> knobs.plan.status
        'infeasible'
        """
        from p2c._report.widget import plan_widget

        check_seconds("time_limit", time_limit)
        ask = partial(Problem.plan, self, time_limit=time_limit)
        return plan_widget(
            self.theory.features,
            self.read_row(row),
            lambda row, restrict: ask(row, restrict=restrict),
            language=language,
        )

    def _repr_html_(self) -> str:
        from p2c._report.document import problem_document
        from p2c._report.html import notebook_html

        return notebook_html(problem_document(self.theory), self.to_svg())
