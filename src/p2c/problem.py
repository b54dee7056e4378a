"""`Problem`: the one object most people need. Each method calls one function of the layer that does the work."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property, lru_cache, partial
from itertools import islice
from operator import index
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p2c.domain.limits import check_seconds
from p2c.domain.row import read_row
from p2c.domain.spec import ProblemSpec, load_spec, read_spec
from p2c.engines.policy import Policy
from p2c.errors import P2CError, suggestion
from p2c.plan.compiled.space import Space
from p2c.plan.nearest import Distinct
from p2c.plan.outcome import Plan
from p2c.plan.restriction import read_restriction, restrict
from p2c.plan.size import measure_space
from p2c.report.plan_renderer import with_renderer
from p2c.rules.bind import build_theory
from p2c.rules.lint import lint
from p2c.rules.proof import why

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p2c.audit.audit import Asked, Audit
    from p2c.domain.row import State
    from p2c.plan.check.validate import Verdict
    from p2c.plan.restriction import Restriction
    from p2c.plan.size import SpaceReport
    from p2c.report.expert_report import Origin
    from p2c.rules.lint import Finding
    from p2c.rules.proof import Proof
    from p2c.rules.theory import DecidingModel, Theory

OVERRIDES = ("goal", "causal", "exceptions", "effects", "norm", "minimize")


@dataclass(frozen=True)
class Problem:
    """Features, rules and a goal, read from a file or a dict (contract §1).

    Keywords of `plan`, `nearest` and `plan_many` such as `norm="l2"` override the problem's keys of the same name.
    """

    spec: ProblemSpec
    source: str = ""
    restrictions: tuple[tuple[str, Restriction], ...] = ()
    """What one person adds, by feature."""
    model: DecidingModel | None = field(default=None, compare=False, repr=False)
    """The model behind `accepted(X)`, where there is one."""

    @classmethod
    def load(cls, path: str | Path) -> Problem:
        """Read a TOML or JSON file."""
        given: object = path
        if not isinstance(given, str | PathLike):
            found = type(given).__name__
            raise P2CError(f"expected the path of a file, found a {found}; from_dict reads a dict")
        problem = cls(load_spec(Path(path)), str(path))
        problem.theory  # noqa: B018 - faults are reported here, not at the first use
        return problem

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, model: DecidingModel | None = None) -> Problem:
        """Read a dict of the same shape; `model` is the model that decides `accepted(X)`."""
        problem = cls(read_spec(data), model=model)
        problem.theory  # noqa: B018
        return problem

    def __reduce__(self) -> tuple[Any, ...]:
        # Travels between processes as text, and is compiled once where it arrives.
        return _recalled, (json.dumps(self.to_dict()), self.restrictions)

    def to_dict(self) -> dict[str, Any]:
        """Return the problem as a dict that `from_dict` reads, keys left at their defaults aside."""
        return self.spec.model_dump(
            mode="json", by_alias=True, exclude_defaults=True, exclude={"rules_file"}
        )

    @cached_property
    def theory(self) -> Theory:
        """Return the rules bound to the features."""
        theory = build_theory(self.spec, source=self.source, model=self.model)
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

    def with_keys(self, **overrides: Any) -> Problem:
        """Return the problem with some of its keys replaced; the same object for the same keys."""
        if not overrides:
            return self
        for key in overrides:
            if key not in OVERRIDES:
                raise P2CError(f"'{key}' cannot be overridden; {suggestion(key, OVERRIDES)}")
        marks = tuple(sorted((key, str(value)) for key, value in overrides.items()))
        known = self._variants.get(marks)
        if known is None:
            fresh = Problem.from_dict({**self.to_dict(), **overrides}, model=self.model)
            known = self._variants[marks] = fresh.restricted(dict(self.restrictions))
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
        """Return a person's state from a mapping or a pandas Series."""
        return read_row(self.theory.features, row, bounded=self.model is None)

    def plan(
        self,
        row: Mapping[str, Any],
        *,
        engine: str = "auto",
        time_limit: float | None = None,
        node_limit: int | None = None,
        restrict: Mapping[str, Any] | None = None,
        **overrides: Any,
    ) -> Plan:
        """Return the path of least cost for a person, with what blocks it where there is none.

        `restrict` holds what this person adds, by feature: see `restricted`.
        """
        policy = Policy(engine, time_limit, node_limit)
        problem = self.restricted(restrict) if restrict else self
        problem = problem.with_keys(**overrides) if overrides else problem
        plan = policy.explained_plan(problem.compiled, problem.read_row(row))
        return with_renderer(problem.theory, plan)

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
        **overrides: Any,
    ) -> list[Plan]:
        """Return the k cheapest distinct end states, each with its best path, cheapest first.

        Where a limit ends the search, what was found so far is followed by the answer that gave up.
        """
        policy = Policy(engine, time_limit, node_limit)
        kinds = [each.value for each in Distinct]
        if distinct not in kinds:
            raise P2CError(f"distinct: expected {' or '.join(kinds)}, found '{distinct}'")
        if not hasattr(k, "__index__") or isinstance(k, bool) or k < 1:
            raise P2CError(f"k: expected a whole number above 0, found {k!r}")
        problem = self.restricted(restrict) if restrict else self
        problem = problem.with_keys(**overrides) if overrides else problem
        state = problem.read_row(row)
        plans = policy.nearest(problem.compiled, state, index(k), Distinct(distinct))
        return [
            with_renderer(problem.theory, plan, cheapest=number == 0)
            for number, plan in enumerate(islice(plans, k))
        ]

    def plan_many(
        self,
        frame: Any,
        *,
        details: bool = True,
        progress: bool | None = None,
        engine: str = "auto",
        time_limit: float | None = None,
        node_limit: int | None = None,
        **overrides: Any,
    ) -> Any:
        """Return a table with the plan of each row of a pandas, polars or other frame, in row order; a lazy one for Dask's.

        Its columns: `status`, `cost`, `end_…` for each feature, `actions` and `steps` as JSON (left out without
        `details`), `exceptions`, `unknown` (values that are missing and that the answer rests on), and `message`, which
        says what is wrong with an `invalid` row. The limits are for one person.
        """
        policy = Policy(engine, time_limit, node_limit)
        problem = self.with_keys(**overrides)
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
        seed: int = 0,
        asked: Asked | None = None,
        time_limit: float | None = None,
        progress: bool | None = None,
        **overrides: Any,
    ) -> Audit:
        """Return who of the people of a frame has a way to a yes and who has none, and how groups differ in it.

        The frame may be a mapping of columns where the `answers` are given.
        `by` divides people by columns, in bands where wanted: `["sex", "age:<30,30-50,>50"]`. `answers` are those of
        `plan_many` or of a batch for the same rows, where they are there already. The time limit is for one person.
        """
        from p2c.audit.audit import Asked, audit_people
        from p2c.report.expert_report import digest

        problem = self.with_keys(**overrides)
        if answers is None:
            answers = problem.plan_many(frame, time_limit=time_limit, progress=progress)
        asked = asked or Asked(0)
        known = {"problem": digest(problem.to_dict()), **asked.hashes}
        asked = replace(asked, hashes=known)
        return audit_people(problem.compiled, frame, answers, by=by, seed=seed, asked=asked)

    def why(self, row: Mapping[str, Any]) -> Proof:
        """Return the proof tree behind the decision in a state."""
        return why(self.theory, self.read_row(row))

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
        **overrides: Any,
    ) -> bytes:
        """Return a report on a person, or on a plan made before, as html, md, txt, png or pdf, for applicant or expert.

        `origin` tells an expert where the question came from: the command, the hashes of the files, how many alternatives,
        and the date, which is today's unless it is given. The time limit is one for the plan, and one for alternatives.
        """
        from p2c.report.document import applicant_document
        from p2c.report.expert_report import Origin, expert_document
        from p2c.report.formats import check_audience, renderer

        render = renderer(format)
        check_audience(audience)
        problem = self.with_keys(**overrides)
        check_seconds("time_limit", time_limit)
        plan = row
        if not isinstance(plan, Plan):
            plan = problem.plan(plan, engine=engine, time_limit=time_limit)
        if audience == "applicant":
            return render(applicant_document(problem.theory, plan, language=language))
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

        A replay cannot tell that nothing is cheaper, or that no path exists; the verdict names what it left
        `unchecked`. With `prove`, the engine plans again within the time limit, and a false claim is a fault.
        """
        from p2c.plan.check.validate import check_plan, prove_claims

        document = plan.to_dict() if hasattr(plan, "to_dict") else plan
        verdict = check_plan(self.theory, document)
        if not prove or not verdict.unchecked:
            return verdict
        norm = {"norm": document["norm"]} if document.get("norm") else {}
        answer = self.plan(document["initial"], engine=engine, time_limit=time_limit, **norm)
        return prove_claims(self.theory, document, verdict, answer)

    def read_plan(self, document: Mapping[str, Any]) -> Plan:
        """Return the plan that `to_dict` wrote, able to tell itself; `check` says whether it is right."""
        from p2c.plan.plan_json import read_plan

        return with_renderer(self.theory, read_plan(document, self.theory.feature))

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

    def _repr_html_(self) -> str:
        from p2c.report.notebook import problem_html

        return problem_html(self.theory)


@lru_cache(maxsize=8)
def _recalled(text: str, restrictions: tuple[tuple[str, Restriction], ...]) -> Problem:
    return Problem.from_dict(json.loads(text)).restricted(dict(restrictions))
