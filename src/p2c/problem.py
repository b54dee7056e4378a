"""`Problem`: the one object most people need. Each method calls one function of the layer that does the work."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property, lru_cache, partial
from itertools import islice
from operator import index
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p2c.domain.files import read_rows
from p2c.domain.overrides import OVERRIDES, check_seconds, refuse_unknown
from p2c.domain.row import read_row
from p2c.domain.spec import ProblemSpec, SourceSpec, load_spec, read_spec
from p2c.engines.policy import Policy
from p2c.errors import P2CError, counted, shorten
from p2c.plan.compiled.space import Space
from p2c.plan.nearest import Distinct
from p2c.plan.outcome import Plan
from p2c.plan.rendered import Plans
from p2c.plan.restriction import read_restriction, restrict
from p2c.plan.size import measure_space
from p2c.report.plan_renderer import with_renderer
from p2c.rules.bind import build_theory
from p2c.rules.evaluate import goal_holds
from p2c.rules.lint import lint
from p2c.rules.proof import why

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Unpack

    import pandas as pd

    from p2c.audit.audit import Asked, Audit
    from p2c.audit.reasons import Catalogue, Reason
    from p2c.confirm.answers import ConfirmedPlanner
    from p2c.confirm.decider import Decider
    from p2c.confirm.result import VerifiedPlan
    from p2c.domain.overrides import Overrides
    from p2c.domain.row import State
    from p2c.domain.spec import Trust
    from p2c.folder.store import OpenedFolder
    from p2c.plan.check.validate import Verdict
    from p2c.plan.restriction import Restriction
    from p2c.plan.size import SpaceReport
    from p2c.report.expert_report import Origin
    from p2c.rules.lint import Finding
    from p2c.rules.proof import Proof
    from p2c.rules.theory import DecidingModel, Theory


@dataclass(frozen=True, repr=False)
class Problem:
    """Features, rules and a goal: who is refused, what follows from what, and who may change what.

    Read one with `load` (a file), `from_dict` (a dict of the same shape) or `example` (an embedded one). `plan`, `nearest`,
    `plan_many` and `report` take the problem's keys `goal`, `causal`, `exceptions`, `effects`, `norm` and `minimize` as
    keywords, which then hold for that question alone.

    >>> problem = Problem.example("loan")
    >>> problem
    <Problem 'loan': 5 features, 3 rules, goal: not reject_loan(X)>
    >>> john = {"age": 31, "debt": 5000, "loan_duration": 12, "bank_balance": 40000, "credit_score": 599}
    >>> problem.plan(john).cost, problem.plan(john, norm="l0").cost
    (0.00502, 2.0)
    """

    spec: ProblemSpec
    source: str = ""
    restrictions: tuple[tuple[str, Restriction], ...] = ()
    """What one person adds, by feature."""
    model: DecidingModel | None = field(default=None, compare=False, repr=False)
    """What decides `accepted(X)`, where a model does."""
    decider: Decider | None = field(default=None, compare=False, repr=False)
    """The model itself, opened, where plans are confirmed by it."""
    bounded: bool = True
    """Whether numbers of rows lie within their ranges; in a problem made from data these are only what was seen."""
    home: str = ""
    """The file or folder that the problem was read from, where a model has to be found there again."""

    @classmethod
    def load(cls, path: str | Path, *, trust: Trust | None = None) -> Problem:
        """Read a problem from a file, or from a folder with a model.

        Args:
            path: A TOML file, a JSON file of the same shape, or a folder as `Recourse.save` and `p2c fit` write it.
            trust: What of a model may be opened that could run code; nothing, by default.

        Returns:
            The problem. Every fault of the file is reported now, by line and column, not at the first use.
        """
        given: object = path
        if not isinstance(given, str | PathLike):
            found = type(given).__name__
            raise P2CError(f"expected the path of a file, found a {found}; from_dict reads a dict")
        file = Path(path)
        if file.is_dir():
            from p2c.folder import open_folder

            return cls.of_folder(open_folder(file, trust), file)
        problem = cls(load_spec(file), str(path))
        if problem.spec.model is not None:
            from p2c.confirm.opening import open_decider

            decider = open_decider(problem.spec, file.parent, trust=trust)
            problem = replace(
                problem, model=decider.judge, decider=decider, home=str(file.resolve())
            )
        problem.theory  # noqa: B018 - faults are reported here, not at the first use
        return problem

    @classmethod
    def outline(cls, path: str | Path) -> Problem:
        """Read a problem without opening its model: enough to say what it asks for, not to plan.

        Args:
            path: What `load` takes. The files of a folder must be what they were.
        """
        file = Path(path)
        whole = file.is_dir()
        if whole:
            from p2c.folder.manifest import PROBLEM, read_manifest, refuse_changed

            refuse_changed(file, read_manifest(file))
            file /= PROBLEM
        spec = load_spec(file)
        if spec.model is None:
            return cls.load(path)
        from p2c.confirm.opening import UnopenedModel

        model: Any = UnopenedModel(tuple(spec.features))
        home = str(Path(path).resolve())
        problem = cls(spec, str(file), model=model, bounded=not whole, home=home)
        problem.theory  # noqa: B018 - faults are reported here, not at the first use
        return problem

    @classmethod
    def of_folder(cls, opened: OpenedFolder, path: Path) -> Problem:
        """Return the problem of a folder that is open."""
        decider, home = opened.decider, str(path.resolve())
        file = str(path / "problem.toml")
        problem = cls(
            opened.spec, file, model=decider.judge, decider=decider, bounded=False, home=home
        )
        problem.theory  # noqa: B018 - faults are reported here, not at the first use
        return problem

    @classmethod
    def from_dict(
        cls,
        data: Mapping[str, Any],
        *,
        model: DecidingModel | None = None,
        decider: Decider | None = None,
        bounded: bool = True,
    ) -> Problem:
        """Read a problem from a dict of the shape that a file has.

        Args:
            data: The keys of the problem: `goal`, `rules`, `features`, and those that have defaults.
            model: What decides `accepted(X)`, where the goal or a rule asks it.
            decider: A model that is open already, by which plans are confirmed.
            bounded: Whether numbers of rows lie within the ranges of the features; not where these come from data.

        >>> ages = {"age": {"type": "int", "min": 0, "max": 120}}
        >>> adult = Problem.from_dict({"goal": "age(X,N), N>=18", "rules": "", "features": ages})
        >>> adult.plan({"age": 16}).counterfactual
        {'age': 18}
        """
        spec = read_spec(data)
        if spec.model is not None and model is None and decider is None:
            from p2c.confirm.opening import open_decider

            decider = open_decider(spec, Path())
        judge = decider.judge if decider is not None else model
        problem = cls(spec, model=judge, decider=decider, bounded=bounded)
        problem.theory  # noqa: B018
        return problem

    @classmethod
    def example(cls, name: str = "loan") -> Problem:
        """Return an embedded problem: "loan", "cars", "adult" or "german"; `p2c.datasets.rows(name)` has people for it."""
        from p2c import datasets

        return cls.from_dict(tomllib.loads(datasets.problem_text(name)))

    def __repr__(self) -> str:
        count, rules = len(self.spec.features), len(self.theory.program.rules)
        sizes = f"{counted(count, 'feature')}, {counted(rules, 'rule')}"
        return f"<Problem {self.name!r}: {sizes}, goal: {shorten(self.spec.goal, 60)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # Travels between processes as text, and is compiled once where it arrives.
        return _recalled, (json.dumps(self.to_message()), self.restrictions)

    def to_dict(self) -> dict[str, Any]:
        """Return the problem as a dict that `from_dict` reads, keys left at their defaults aside."""
        return self.spec.model_dump(
            mode="json", by_alias=True, exclude_defaults=True, exclude={"rules_file"}
        )

    def save(self, path: str | Path) -> Path:
        """Write the problem as a file that `load` reads: TOML, or JSON where the name ends in .json.

        Args:
            path: Where to write; what is there is replaced. Comments of a file that was loaded are not kept.

        Returns:
            The path.
        """
        from p2c.domain.toml import problem_to_toml

        file = Path(path)
        if self.restrictions:
            raise P2CError(
                "a problem with one person's restrictions is not saved: save the problem without them"
            )
        kept = self.spec.model and (file.parent / self.spec.model.file).is_file()
        if self.model is not None and not kept:
            raise P2CError(
                f"{file}: the model is not beside it; Recourse.save keeps a problem and its model as one folder"
            )
        as_json = file.suffix == ".json"
        text = json.dumps(self.to_dict(), indent=2) if as_json else problem_to_toml(self.to_dict())
        try:
            file.write_text(text, encoding="utf-8")
        except OSError as error:
            raise P2CError(f"{file}: cannot be written: {error.strerror}") from None
        return file

    def to_message(self) -> dict[str, Any]:
        """Return what another process makes the same problem of: its keys and, with a model, where that lies as what."""
        keys = self.to_dict()
        if not self.home:
            return keys
        from p2c.folder.manifest import fingerprint

        return keys | {"home": self.home, "fingerprint": fingerprint(self.model_place)}

    @classmethod
    def from_message(cls, message: Mapping[str, Any]) -> Problem:
        """Return the problem that another process sent; its model is opened where it lies, and no pickle is."""
        keys = {key: each for key, each in message.items() if key not in ("home", "fingerprint")}
        if "home" not in message:
            return cls.from_dict(keys)
        from p2c.folder.manifest import fingerprint

        problem = cls.load(message["home"])
        if fingerprint(problem.model_place) != message["fingerprint"]:
            raise P2CError(f"{message['home']}: the model was changed meanwhile: ask again")
        return replace(problem, spec=read_spec(keys), source="")

    @cached_property
    def theory(self) -> Theory:
        """Return the rules bound to the features."""
        theory = build_theory(self.spec, source=self.source, model=self.model, bounded=self.bounded)
        if self.decider is not None and self.decider.learned and not self.decider.is_read:
            # Reasons are those of the rules that stand in for the model, and every answer says so.
            theory = replace(theory, source=SourceSpec.model_validate(dict(self.decider.learned)))
        return restrict(theory, dict(self.restrictions)) if self.restrictions else theory

    @cached_property
    def compiled(self) -> Space:
        """Return the problem compiled for search; the first use pays for it."""
        return Space(self.theory)

    @cached_property
    def _variants(self) -> dict[tuple[tuple[str, str], ...], Problem]:
        return {}

    @property
    def name(self) -> str:
        """Return the problem's name."""
        return self.spec.name

    def with_keys(self, **overrides: Unpack[Overrides]) -> Problem:
        """Return the problem with some of its keys replaced; the same object for the same keys."""
        if not overrides:
            return self
        refuse_unknown(overrides, OVERRIDES)
        marks = tuple(sorted((key, str(value)) for key, value in overrides.items()))
        known = self._variants.get(marks)
        if known is None:
            spec = read_spec({**self.to_dict(), **overrides})
            known = self._variants[marks] = replace(self, spec=spec, source="")
            known.theory  # noqa: B018 - faults are reported here, not at the first use
        return known

    def restricted(
        self, restrictions: Mapping[str, Restriction | Mapping[str, Any] | str]
    ) -> Problem:
        """Return the problem as one person restricts it: what they cannot change, own limits, how hard something is.

        Each feature has an action, or a mapping with any of `action`, `min`, `max`, `only` (names that a change may
        end in), `weight` and `lift` (restrictions of the problem to do without: "moves", "limits").
        """
        if not restrictions:
            return self
        read = {name: read_restriction(name, each) for name, each in restrictions.items()}
        problem = replace(self, restrictions=tuple((dict(self.restrictions) | read).items()))
        problem.theory  # noqa: B018 - faults are reported here, not at the first use
        return problem

    def read_row(self, row: Mapping[str, Any]) -> State:
        """Return a person's state from a mapping or a pandas Series: every value typed and within its domain."""
        return read_row(self.theory.features, self._by_feature(row), bounded=self.bounded)

    def _by_feature(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a row that may go by the columns of a model as one that goes by features."""
        if self.decider is not None:
            return self.decider.row(row)
        columns = self.spec.model.columns if self.spec.model else {}
        if not columns:
            return row
        return {**row, **{name: row[column] for name, column in columns.items() if column in row}}

    def read_rows(self, path: str | Path) -> list[State]:
        """Return the people that a JSON, JSON lines or CSV file holds."""
        return read_rows(
            self.theory.features, path, bounded=self.bounded, by_feature=self._by_feature
        )

    @property
    def columns(self) -> dict[str, str]:
        """Return the model's column of each feature, where their names differ."""
        return dict(self.spec.model.columns) if self.spec.model else {}

    @property
    def model_place(self) -> Path:
        """Return the folder that the model lies in with its problem, or its file where the problem is a file by itself."""
        home = Path(self.home)
        return (
            home if self.spec.model is None or home.is_dir() else home.parent / self.spec.model.file
        )

    def prepare(self) -> None:
        """Compile what answers are searched with, so that nobody waits for it."""
        if self.decider is None or self.decider.is_read:
            self.compiled  # noqa: B018 - the first use pays for it
        elif self.stand_in is not None:
            self.stand_in.compiled  # noqa: B018

    def plan(
        self,
        row: Mapping[str, Any],
        *,
        engine: str = "auto",
        time_limit: float | None = None,
        node_limit: int | None = None,
        restrict: Mapping[str, Any] | None = None,
        **overrides: Unpack[Overrides],
    ) -> Plan:
        """Return the path of least cost for a person, with what blocks it where there is none.

        Args:
            row: The person's values by feature; None or NaN for one that is not known.
            engine: Who answers: "auto", "native", "clingo" or "scasp".
            time_limit: Seconds after which the answer is `gave_up`, with the best plan so far and a bound.
            node_limit: States after which it is.
            restrict: What this person adds, by feature: see `restricted`.
            **overrides: Keys of the problem for this question alone, such as `norm="l0"`.

        Returns:
            A plan, whose `status` says which of four answers it is.

        >>> import p2c
        >>> loan, john = p2c.Problem.example("loan"), p2c.datasets.rows("loan")["john"]
        >>> loan.plan(john).status, loan.plan(john, restrict={"debt": "fixed"}).status
        ('found', 'infeasible')
        """
        policy = Policy(engine, time_limit, node_limit)
        problem = self._asked(Problem.plan, overrides, restrict)
        if problem.decider is not None:
            return problem.confirmed(row, 1, policy)[0].plan
        plan = policy.explained_plan(problem.compiled, problem.read_row(row))
        return with_renderer(problem.theory, plan)

    def confirmed(
        self, row: Any, k: int, policy: Policy, distinct: Distinct = Distinct.POINTS
    ) -> list[VerifiedPlan]:
        """Return up to k plans that the model behind the problem confirms, cheapest first; one that is not, where none is.

        They are proved where the model was read, and else the best that was found by asking it.
        """
        policy.refuse_model()
        found = self.planner.nearest(row, self.read_row(row), k, policy, distinct)
        return [self._told(each, cheapest=number == 0) for number, each in enumerate(found)]

    def _told(self, answer: VerifiedPlan, *, cheapest: bool) -> VerifiedPlan:
        """Return an answer whose plans can tell themselves; what it rests on is what the model reads."""
        plan = self._rendered(answer.plan, cheapest=cheapest)
        guide = plan if answer.guide is answer.plan else self._rendered(answer.guide)
        return replace(answer, plan=plan, guide=guide)

    def _rendered(self, plan: Plan, *, cheapest: bool = True) -> Plan:
        told = with_renderer(self.worded, plan, cheapest=cheapest)
        unknown = self.theory.missing(plan.question.initial)
        return replace(told, question=replace(told.question, unknown=unknown))

    @property
    def worded(self) -> Theory:
        """Return what reasons are told by: the model where it was read, else the rules that stand in for it."""
        asked = self.decider is not None and not self.decider.is_read
        return self.stand_in.theory if asked and self.stand_in else self.theory

    @cached_property
    def planner(self) -> ConfirmedPlanner:
        """Return what plans with the model that decides."""
        from p2c.confirm.answers import ConfirmedPlanner

        assert self.decider is not None
        return ConfirmedPlanner(
            self.decider,
            self.theory,
            space=lambda: self.compiled,
            guide=lambda: self.stand_in.compiled if self.stand_in else None,
        )

    @cached_property
    def stand_in(self) -> Problem | None:
        """Return the problem in which rules stand in for the model, where there are any."""
        if self.decider is None or not self.decider.stand_in:
            return None
        rules = f"{(self.spec.rules or '').rstrip()}\n{self.decider.stand_in}".lstrip()
        keys = {key: value for key, value in self.to_dict().items() if key != "model"}
        if self.decider.learned:
            keys["source"] = dict(self.decider.learned)
        problem = Problem.from_dict({**keys, "rules": rules}, bounded=self.bounded)
        return problem.restricted(dict(self.restrictions))

    def nearest(
        self,
        row: Mapping[str, Any],
        k: int = 1,
        *,
        distinct: str = "points",
        engine: str = "auto",
        time_limit: float | None = None,
        node_limit: int | None = None,
        restrict: Mapping[str, Any] | None = None,
        **overrides: Unpack[Overrides],
    ) -> Plans[Plan]:
        """Return the k cheapest distinct end states, each with its best path, cheapest first.

        Args:
            row: The person's values by feature.
            k: How many.
            distinct: What makes two ends different: "points" for any value, "cells" for what the rules tell apart.
            engine: Who answers: "auto", "native" or "clingo".
            time_limit: Seconds after which the search ends.
            node_limit: States after which it does.
            restrict: What this person adds, by feature: see `restricted`.
            **overrides: Keys of the problem for this question alone.

        Returns:
            A list of plans, empty where there is no path. Where a limit ends the search, what was found so far is
            followed by the answer that gave up.

        >>> import p2c
        >>> loan, john = p2c.Problem.example("loan"), p2c.datasets.rows("loan")["john"]
        >>> [plan.cost for plan in loan.nearest(john, k=2)]
        [0.00502, 0.005020001]
        """
        policy = Policy(engine, time_limit, node_limit)
        kinds = [each.value for each in Distinct]
        if distinct not in kinds:
            raise P2CError(f"distinct: expected {' or '.join(kinds)}, found '{distinct}'")
        if not hasattr(k, "__index__") or isinstance(k, bool) or k < 1:
            raise P2CError(f"k: expected a whole number above 0, found {k!r}")
        problem = self._asked(Problem.nearest, overrides, restrict)
        if problem.decider is not None:
            answers = problem.confirmed(row, index(k), policy, Distinct(distinct))
            return Plans(each.plan for each in answers if each.status != "infeasible")
        state = problem.read_row(row)
        plans = policy.nearest(problem.compiled, state, index(k), Distinct(distinct))
        return Plans(
            with_renderer(problem.theory, plan, cheapest=number == 0)
            for number, plan in enumerate(islice(plans, k))
        )

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
        """Return a table with the plan of each row of a pandas, polars or other frame, in row order; a lazy one for Dask's.

        Args:
            frame: A column for each feature, a row for each person.
            details: Whether the columns `actions` and `steps` are there, which take the most room.
            progress: Whether a bar is shown; by default where somebody looks and the table is long.
            engine: Who answers.
            time_limit: Seconds for one person.
            node_limit: States for one person.
            restrict: What holds for everybody in the table besides the problem: see `restricted`.
            **overrides: Keys of the problem for this question alone.

        Returns:
            A table of the same kind: `status`, `cost`, `end_…` for each feature, `actions` and `steps` as JSON,
            `exceptions`, `unknown` (values that are missing and that the answer rests on), and `message`, which says
            what is wrong with an `invalid` row; where a model decides, `verified` and `optimal` as well.

        >>> import p2c
        >>> import pandas as pd
        >>> people = pd.DataFrame([p2c.datasets.rows("loan")["john"]])
        >>> p2c.Problem.example("loan").plan_many(people)[["status", "cost", "end_debt"]]
          status     cost  end_debt
        0  found  0.00502         0
        """
        policy = Policy(engine, time_limit, node_limit)
        problem = self._asked(Problem.plan_many, overrides, restrict)
        if problem.decider is not None:
            from p2c.learn.tables.view import as_frame

            found = problem.confirmed_many(as_frame(frame), policy, progress=progress)
            found = found if details else found.drop(columns=["actions", "steps"])
            return _like(frame, found)
        # What reads tables takes longer to load than most people who ask for one plan would wait.
        from p2c.plan.tables.dask_frames import is_lazy, plan_lazily
        from p2c.plan.tables.frames import plan_frame

        if is_lazy(frame):
            limits: dict[str, Any] = {
                "engine": engine,
                "time_limit": time_limit,
                "node_limit": node_limit,
            }
            part = partial(problem.plan_many, details=details, progress=False, **limits)
            return plan_lazily(problem.compiled, frame, part)
        return plan_frame(
            problem.compiled, frame, details=details, progress=progress, solver=policy
        )

    def audit(
        self,
        frame: Any,
        by: str | Sequence[str] = (),
        *,
        answers: Any = None,
        against: Problem | None = None,
        after: Any = None,
        seed: int = 0,
        patience: float | None = 60.0,
        asked: Asked | None = None,
        time_limit: float | None = None,
        progress: bool | None = None,
        **overrides: Unpack[Overrides],
    ) -> Audit:
        """Return who of the people of a frame has a way to a yes and who has none, and how groups differ in it.

        Args:
            frame: A column for each feature, a row for each person; a mapping of columns where `answers` are given.
            by: Columns that divide people, in bands where wanted: `["sex", "age:<30,30-50,>50"]`.
            answers: Those of `plan_many` or of a batch for the same rows, where they are there already.
            against: Another problem for the same people: who gains and who loses if it takes the place of this one.
            after: The answers of that problem, where they are there already.
            seed: What chance is drawn from.
            patience: Seconds for why people have no way, and as many for who is like them; None sets no limit.
            asked: What is known of the question, for the report.
            time_limit: Seconds for one person.
            progress: Whether a bar is shown.
            **overrides: Keys of the problem for this question alone.
        """
        from p2c.audit.audit import Asked, audit_people
        from p2c.report.expert_report import digest

        check_seconds("patience", patience)
        problem = self._asked(Problem.audit, overrides, None)
        asked = asked or Asked(0)
        asked = replace(asked, hashes={"problem": digest(problem.to_dict()), **asked.hashes})
        policy = Policy("auto", time_limit)
        other = None
        if against is not None:
            changed = against._asked(Problem.audit, overrides, None)
            asked = replace(asked, hashes={**asked.hashes, "against": digest(changed.to_dict())})
            if after is None:
                after = changed._answers(frame, policy, progress)
            other = changed.name, after
        if answers is None:
            answers = problem._answers(frame, policy, progress)
        how: dict[str, Any] = {"by": by, "seed": seed, "patience": patience, "against": other}
        if problem.decider is None:
            return audit_people(problem.compiled, frame, answers, asked=asked, **how)
        from p2c.audit.asking import Auditee

        auditee = Auditee(problem.decider, problem.theory, frame)
        read, ends = problem.decider.is_read, auditee.confirmed(answers)
        asked = replace(asked, proved=read, confirmed=ends)
        columns, scores = auditee.columns, auditee.scores
        return audit_people(auditee.space, columns, answers, scores=scores, asked=asked, **how)

    def _answers(self, frame: Any, policy: Policy, progress: bool | None) -> Any:
        """Return the answers for a table: by rules as they are proved, by a model as it confirms them."""
        if self.decider is None:
            return self.plan_many(frame, time_limit=policy.time_limit, progress=progress)
        from p2c.audit.asking import Auditee

        people, asking = (
            Auditee(self.decider, self.theory, frame),
            Policy("native", policy.time_limit),
        )
        return people.for_all(self.confirmed_many(people.different, asking, progress=progress))

    def confirmed_many(
        self, table: pd.DataFrame, policy: Policy, *, progress: bool | None = None
    ) -> pd.DataFrame:
        """Return the confirmed plan of each row of a table: proved where the model was read, else found by asking it."""
        from p2c.confirm.table import Chunks, plan_table

        policy.refuse_model()
        assert self.decider is not None, "a model decides"
        chunks = Chunks(self.planner, self.read_row, policy) if self.decider.is_read else None
        return plan_table(
            self.theory.features,
            lambda row: self.confirmed(row, 1, policy)[0],
            table,
            progress=progress,
            chunks=chunks,
        )

    def _asked(
        self, ask: Callable[..., Any], overrides: Overrides, restrict: Mapping[str, Any] | None
    ) -> Problem:
        """Return the problem that a question is about; a keyword that is none of the method's is refused."""
        if not overrides and not restrict:
            return self
        refuse_unknown(overrides, [*OVERRIDES, *(ask.__kwdefaults__ or {})])
        return self.restricted(restrict or {}).with_keys(**overrides)

    def reasons(
        self,
        row: Mapping[str, Any] | Plan,
        *,
        codes: str | Path | Catalogue | None = None,
        protected: Sequence[str] = (),
        time_limit: float | None = None,
    ) -> tuple[Reason, ...]:
        """Return at most four principal reasons against a person who is refused, each checked against the decision itself.

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
        from p2c.audit.reasons import Catalogue, principal_reasons, read_catalogue
        from p2c.plan.search.best_first import Limits

        if isinstance(codes, Catalogue):
            catalogue = codes
        elif codes is None:
            catalogue = Catalogue(protected=tuple(protected))
        else:
            catalogue = read_catalogue(Path(codes), protected)
        catalogue.refuse_gaps(self.compiled)
        plan = row if isinstance(row, Plan) else self.plan(row, time_limit=time_limit)
        if plan.status == "already":
            return ()
        limits, state = Limits.within(time_limit), plan.question.initial
        return principal_reasons(self.compiled, state, plan.counterfactual, catalogue, limits)

    def _reason_texts(self, plan: Plan, codes: Catalogue, language: str) -> tuple[str, ...]:
        from p2c.audit.reasons import reason_words
        from p2c.explain.letter import teller_in

        teller = teller_in(self.theory, language)
        return tuple(reason_words(each, teller) for each in self.reasons(plan, codes=codes))

    def decide(self, rows: Any) -> Any:
        """Tell for whom the goal holds as they are: for a whole table at once, or for one person.

        Args:
            rows: A pandas, polars or other frame with a column for each feature, or one person's row.

        Returns:
            A column of truth values in row order, of the frame's own kind and called `accepted`; for one row, a bool.

        >>> import p2c
        >>> import pandas as pd
        >>> rows = p2c.datasets.rows("loan")
        >>> p2c.Problem.example("loan").decide(pd.DataFrame([rows["john"], rows["already"]])).tolist()
        [False, True]
        """
        if hasattr(rows, "columns"):
            from p2c.plan.tables.frames import decide_frame

            read = self.decider is None or self.decider.is_read
            if read:
                return decide_frame(self.compiled, rows, self.read_row)
            return rows.assign(accepted=[self.decide(row) for row in rows.to_dict("records")])[
                "accepted"
            ]
        return goal_holds(self.theory, self.read_row(rows))

    def why(self, row: Mapping[str, Any]) -> Proof:
        """Return the proof tree behind the decision in a state; where a model is only asked, that of the rules in its place.

        Args:
            row: The person's values by feature.

        Returns:
            A proof: `holds` tells whether the goal does, `to_text()` is the tree in lines, and notebooks show it.

        >>> import p2c
        >>> proof = p2c.Problem.example("loan").why(p2c.datasets.rows("loan")["john"])
        >>> proof.holds, proof.to_text().splitlines()[0]
        (False, '✗ not reject_loan(X)')
        """
        return why(self.worded, self.read_row(row))

    def report(
        self,
        row: Mapping[str, Any] | Plan,
        *,
        format: str = "html",
        audience: str = "applicant",
        language: str = "en",
        engine: str = "auto",
        time_limit: float | None = None,
        origin: Origin | None = None,
        reasons: Catalogue | None = None,
        restrict: Mapping[str, Any] | None = None,
        **overrides: Unpack[Overrides],
    ) -> bytes:
        """Return a report on a person, or on a plan made before, as the bytes of a file.

        Args:
            row: The person's values by feature, or a plan.
            format: "html", "md", "txt", "png" or "pdf"; the last two need the extra `report`.
            audience: "applicant" for a letter, "expert" for all that an auditor needs.
            language: "en" or "de".
            engine: Who answers.
            time_limit: Seconds for the plan, and again for alternatives.
            origin: Where the question came from, for an expert: the command, hashes of the files, how many
                alternatives, and the date, which is today's unless it is given.
            reasons: A lender's codes of principal reasons, which the applicant is then told after the verdict.
            restrict: What this person adds, by feature: see `restricted`.
            **overrides: Keys of the problem for this question alone.

        >>> import p2c
        >>> page = p2c.Problem.example("loan").report(p2c.datasets.rows("loan")["john"], format="txt")
        >>> print(page.decode().splitlines()[0])
        Your way to a yes
        """
        from p2c.report.document import applicant_document
        from p2c.report.expert_report import Origin, expert_document
        from p2c.report.formats import check_audience, renderer

        render = renderer(format)
        check_audience(audience)
        problem = self._asked(Problem.report, overrides, restrict)
        check_seconds("time_limit", time_limit)
        plan = row
        if not isinstance(plan, Plan):
            plan = problem.plan(plan, engine=engine, time_limit=time_limit)
        if audience == "applicant":
            told = problem._reason_texts(plan, reasons, language) if reasons is not None else ()
            return render(applicant_document(problem.theory, plan, language=language, reasons=told))
        origin = origin or Origin()
        today = origin.date or date.today().isoformat()
        origin = replace(origin, problem=problem.to_dict(), date=today, time_limit=time_limit)
        return render(expert_document(problem.compiled, plan, origin, language=language))

    def check(
        self,
        plan: Plan | Mapping[str, Any],
        *,
        prove: bool = False,
        engine: str = "native",
        time_limit: float | None = None,
    ) -> Verdict:
        """Replay a plan by the contract, with code that the planner does not share.

        Args:
            plan: A plan, or its JSON.
            prove: Also plan again and refute false claims; a replay cannot tell that nothing is cheaper, or that no path
                exists.
            engine: Who plans again.
            time_limit: Seconds to plan again; then what is claimed stays unchecked.

        Returns:
            A verdict: true where nothing is wrong, with its `faults`, and what it left `unchecked`.

        >>> import p2c
        >>> loan, john = p2c.Problem.example("loan"), p2c.datasets.rows("loan")["john"]
        >>> print(loan.check(loan.plan(john), prove=True))
        the path is valid: every step, the cost and the end
        proved by a second search: that no cheaper path exists
        """
        from p2c.plan.check.validate import check_plan, prove_claims

        document = plan.to_dict() if hasattr(plan, "to_dict") else plan
        verdict = check_plan(self.theory, document)
        if self.decider is not None:
            verdict = self.decider.testified(verdict, document)
        if not prove or not verdict.unchecked:
            return verdict
        norm = {"norm": document["norm"]} if document.get("norm") else {}
        answer = self.plan(document["initial"], engine=engine, time_limit=time_limit, **norm)
        return prove_claims(self.theory, document, verdict, answer)

    def read_plan(self, document: Mapping[str, Any]) -> Plan:
        """Return the plan that `to_dict` wrote, able to tell itself; `check` says whether it is right."""
        from p2c.plan.plan_json import read_plan

        return self._rendered(read_plan(document, self.theory.feature))

    def lint(self) -> tuple[Finding, ...]:
        """Return what looks wrong with the problem although it can be read, and is not accepted by it."""
        return tuple(each for each in self.findings() if not each.reason)

    def findings(self) -> tuple[Finding, ...]:
        """Return what `lint` returns, and what the problem accepts, with the reason."""
        return lint(self.theory, self.spec.lint.accept)

    def space(self) -> SpaceReport:
        """Return the size of the search space, raw and after cutting it at what rules mention."""
        return measure_space(self.compiled)

    def to_svg(self, *, theme: str = "auto", language: str = "en") -> str:
        """Return the causal graph as a picture: what follows from what, and what the decision reads."""
        from p2c.report.graph import graph_svg

        return graph_svg(self.theory, theme=theme, language=language)

    def widget(
        self, row: Mapping[str, Any], *, language: str = "en", time_limit: float | None = 5
    ) -> Any:
        """Return a widget for a notebook: turn the person's values and what they can change, and the plan is made anew.

        Args:
            row: The person's values by feature, with which the widget begins.
            language: "en" or "de".
            time_limit: Seconds for each plan.

        Returns:
            An anywidget; what it is turned to are its `row` and `restrict`, and its last answer is `plan`. Needs the extra `notebook`.
        """
        from p2c.report.widget import plan_widget

        check_seconds("time_limit", time_limit)
        ask = partial(Problem.plan, self, time_limit=time_limit)
        return plan_widget(
            self.theory.features,
            self.read_row(row),
            lambda row, restrict: ask(row, restrict=restrict),
            language=language,
        )

    def _repr_html_(self) -> str:
        from p2c.report.document import problem_document
        from p2c.report.html import notebook_html

        return notebook_html(problem_document(self.theory), self.to_svg())


def _like(frame: Any, found: pd.DataFrame) -> Any:
    """Return a pandas table as the kind of frame that was given."""
    import narwhals as nw

    given = nw.from_native(frame, pass_through=True, eager_only=True)
    if not isinstance(given, nw.DataFrame) or given.implementation.is_pandas_like():
        return found
    columns = {str(name): found[name].tolist() for name in found.columns}
    return nw.to_native(nw.from_dict(columns, backend=given.implementation))


@lru_cache(maxsize=8)
def _recalled(text: str, restrictions: tuple[tuple[str, Restriction], ...]) -> Problem:
    return Problem.from_message(json.loads(text)).restricted(dict(restrictions))
