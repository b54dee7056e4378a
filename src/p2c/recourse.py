"""`Recourse`: from any model and its data to plans that the model itself confirms, in five lines."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from p2c import answers
from p2c.confirm.decider import StandingRules
from p2c.confirm.forcing import forcing
from p2c.confirm.opening import decide
from p2c.confirm.result import VerifiedPlan
from p2c.confirm.table import as_table, plan_lines
from p2c.domain.overrides import refuse_unknown, whole_number
from p2c.domain.row import refuse_absent
from p2c.domain.spec import BY_MODEL, ProblemSpec, Trust, path_of, read_spec
from p2c.engines.policy import Policy
from p2c.errors import P2CError, ProblemError, check_flag, counted, shown
from p2c.explain.model_reasons import Reasons
from p2c.folder.sample import sample_rows
from p2c.folder.store import Fitted, open_folder, save_folder
from p2c.learn.causal.adopt import with_causes
from p2c.learn.causal.review import Review
from p2c.learn.extract.logic import NAME, Extraction, describe_features, extract, outline_problem
from p2c.learn.extract.source import read_source
from p2c.learn.model.stored import is_stored, load_model, model_file, of_booster
from p2c.learn.tables.view import as_frame, by_name
from p2c.plan.rendered import Plans
from p2c.plan.restriction import read_restrictions
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from p2c.audit.audit import Audit
    from p2c.learn.extract.source import Source
    from p2c.learn.model import NotRead, Read
    from p2c.plan.check.validate import Verdict

KEYS = (*(ProblemSpec.model_fields.keys() - {"features", "rules", "rules_file", "model"}),)
"""The keys of a problem that `Recourse.fit` takes."""


@dataclass(frozen=True, repr=False)
class Recourse:
    """A model with its rules, its features and what a person may do about them.

    Promised of every plan: it is a path by the contract in `problem`, with the model in the place of the goal: every
    state consistent, every action permitted, every effect one that follows. Where `verified` is True, the model was
    asked about the end state and accepted it. Where `optimal` is True, which it is where the model was read (`reading`
    says so, or why not) or is made of rules, no cheaper path exists, or none at all where none was found: that is proved
    against the model itself. A model that is only asked promises neither.

    >>> import pandas as pd
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> loans = pd.DataFrame({"income": range(20, 80), "age": [20 + i % 40 for i in range(60)]})
    >>> model = DecisionTreeClassifier(max_depth=1).fit(loans, loans["income"] > 51)
    >>> recourse = Recourse.fit(model, loans, actions={"age": "fixed"})
    >>> recourse
    <Recourse 'recourse': 2 features, model read, plans are proved>
    >>> confirmed = recourse.plan({"income": 40, "age": 30})
    >>> confirmed.verified, confirmed.plan.counterfactual
    (True, {'income': 52, 'age': 30})
    """

    asked: Problem
    """The problem that answers: the model decides in it or, of recorded decisions, the rules that were learned from them."""
    source: Source
    extracted: Callable[[], Extraction] = field(compare=False)
    """What gives the rules that stand in for the model, learned late where it was read."""
    fitted: Fitted | None = None
    """The model and rows of its table, to be saved."""

    @property
    def judged(self) -> Problem | None:
        """Return the problem in which the model itself decides; None for recorded decisions, which cannot be asked."""
        return None if self.asked.decider is None else self.asked

    @property
    def problem(self) -> Problem:
        """Return the problem in which rules stand in for the model; where it was read, they are learned when this is first asked for."""
        return self.asked if self.asked.decider is None else self.asked.stand_in or self.asked

    @property
    def extraction(self) -> Extraction:
        """Return the rules that stand in for the model, and how far they agree with it."""
        return self.extracted()

    @property
    def reading(self) -> Read | NotRead | None:
        """Return what was read of the model, or why it is only asked."""
        return self.asked.decider.reading if self.asked.decider else None

    @property
    def budget(self) -> int:
        """Return how many rows the model may be asked about for one person."""
        return self.asked.decider.budget if self.asked.decider else 0

    @classmethod
    def fit(
        cls,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        causal: str | Review | None = None,
        actions: Mapping[Any, str] | None = None,
        desired: Any = None,
        threshold: float | None = None,
        scale: Literal["range", "std", "mad"] = "range",
        features: Mapping[Any, Mapping[str, Any]] | None = None,
        budget: int = 2_000,
        seed: int = 0,
        trust: Trust | str | Iterable[str] | None = None,
        **keys: Any,
    ) -> Recourse:
        """Read or learn the rules of a model and describe the features from its data.

        Args:
            model: A fitted classifier or pipeline, a function from tables to decisions, or recorded decisions, as
                `p2c.extract_logic` takes them; or the path of a stored model, as `p2c fit` takes it.
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
            trust: What of a stored model may be opened that could run code: "pickle", or names of types in a skops file;
                nothing, by default.
            **keys: Keys of the problem: `name`, `norm`, `exceptions`, `effects`, `minimize`, `goal`, `source`, `lint` and
                `law`. The goal is `accepted(X)`, what the model accepts, unless it says more.

        Returns:
            A recourse; `reading` says whether the model was read, so that plans are proved against it, or is only asked.

        >>> Recourse.fit(model, loans, features={"income": {"weight": 2}}, norm="l2")
        <Recourse 'recourse': 2 features, model read, plans are proved>
        """
        refuse_unknown(keys, [*KEYS, *(Recourse.fit.__kwdefaults__ or {})])
        budget = whole_number("budget", budget, least=1)
        seed = whole_number("seed", seed, least=0)
        trusted = Trust.of(trust)
        given: object = causal
        if not isinstance(given, str | Review | None):
            kind = type(given).__name__
            raise P2CError(f"causal: expected rules as text or a review, found a {kind}")
        X = as_frame(X) if by_name(X) else X
        origin = model_file(Path(model)) if is_stored(model) else None
        model = of_booster(model) if origin is None else load_model(origin, as_frame(X), trusted)
        source = read_source(model, X, desired=desired, threshold=threshold)
        described = describe_features(
            source, scale=scale, actions=actions, features=features, rounded=True
        )
        extracted = cache(lambda: extract(source, y, held_out=0.2, seed=seed))
        if source.model is None:
            with _by_keyword():
                outline = with_causes(outline_problem(extracted(), described) | keys, causal)
                return cls(Problem.from_dict(outline, bounded=False), source, extracted)
        frame = as_frame(X)
        places = sample_rows(frame, seed=seed)
        decider = replace(
            decide(model, X, source, desired=desired, threshold=threshold, seed=seed),
            source=source.at(places),
            standing=lambda: StandingRules.of(extracted(), keys.get("source")),
            budget=budget,
        )
        outline = {"name": NAME, "goal": BY_MODEL, "rules": "", "features": described} | keys
        with _by_keyword():
            read_spec(outline)  # what is wrong with the source of the rules is told, too
            outline.pop("source", None)
            outline = with_causes(outline, causal, model=decider.judge)
            asked = Problem.from_dict(outline, decider=decider, bounded=False)
        fitted = Fitted(model, frame.iloc[places].reset_index(drop=True), threshold, origin)
        made = cls(asked, source, extracted, fitted)
        if not decider.is_read or decider.exact or y is not None or "goal" in keys:
            made.problem  # noqa: B018 - what is wrong with the rules that stand in is told now
        return made

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, **how: Any) -> Recourse:
        """Return what `fit` does, under the name that scikit-learn has for something made from a fitted estimator.

        >>> Recourse.from_estimator(model, loans)
        <Recourse 'recourse': 2 features, model read, plans are proved>
        """
        return cls.fit(estimator, X, **how)

    def save(
        self,
        folder: str | Path,
        *,
        pickle: bool = False,
        replace: bool = False,
        remarks: Mapping[tuple[str, ...], str] | None = None,
    ) -> None:
        """Write the model and the problem around it into a folder that `load`, `Problem.load` and every command read.

        Args:
            folder: A new folder: `problem.toml` to read and edit, the model in its own safe format, rows that trial values
                come from, and a manifest of hashes.
            pickle: Whether a model without a safe format is kept as a pickle, which can run any code as it is opened.
            replace: Whether a folder that was saved before is replaced; other files in it stay, and an edited one is kept as
                `problem.toml.before`.
            remarks: Comments in `problem.toml`, by the path of the table that they stand before.

        Returns:
            Nothing; `Recourse.load(folder)` gives the same answers.

        >>> recourse.save("loans")
        >>> Recourse.load("loans").plan({"income": 40, "age": 30}) == confirmed
        True
        """
        if self.asked.decider is None or self.fitted is None:
            raise P2CError("recorded decisions are no model: there is nothing to save but rules")
        check_flag("pickle", pickle)
        check_flag("replace", replace)
        if not isinstance(remarks, dict | None):
            raise P2CError(f"remarks: expected a dict of comments, found {shown(remarks)}")
        save_folder(
            path_of(folder, kind="folder"),
            self.asked.to_dict(),
            self.fitted,
            self.asked.decider,
            extraction=asdict(self.extraction),
            remarks=remarks,
            pickle=pickle,
            replace_old=replace,
        )

    @classmethod
    def load(
        cls, folder: str | Path, *, trust: Trust | str | Iterable[str] | None = None
    ) -> Recourse:
        """Return what was saved in a folder, to the same answers.

        A changed file, a modified manifest, and a model that decides otherwise than it did are refused.

        Args:
            folder: What `save` or `p2c fit` wrote.
            trust: What of the model may be opened that could run code: "pickle", or names of types in a skops file; nothing, by
                default.

        >>> recourse.save("loans")
        >>> Recourse.load("loans")
        <Recourse 'recourse': 2 features, model read, plans are proved>
        """
        path = path_of(folder, kind="folder")
        opened = open_folder(path, Trust.of(trust))
        asked, entry = Problem.of_folder(opened, path), opened.manifest.extraction
        if asked.stand_in is None or entry is None:
            raise P2CError(
                f"{folder}: no rules that stand in for the model: open it with Problem.load"
            )
        origin = path / opened.manifest.model.file
        threshold = opened.spec.model.threshold if opened.spec.model else None
        fitted = Fitted(None, opened.rows, threshold, origin)
        extraction = Extraction.from_dict(entry)
        return cls(asked, opened.decider.source, lambda: extraction, fitted)

    def __repr__(self) -> str:
        kind = "read, plans are proved" if self._is_read else "asked"
        count = counted(len(self.asked.spec.features), "feature")
        return f"<Recourse {self.asked.name!r}: {count}, model {kind}>"

    @property
    def _is_read(self) -> bool:
        return self.asked.decider is not None and self.asked.decider.is_read

    def decide(self, frame: Any) -> pd.Series:
        """Tell for each row of a frame or an array whether the model accepts it, or, where there is only a record, the rules.

        Args:
            frame: A row for each person, with the model's columns.

        Returns:
            A column of truth values in row order.

        >>> recourse.decide(loans.tail(2)).tolist()
        [True, True]
        """
        rows = as_frame(frame)
        model, view = self.source.model, self.source.view
        if model is None:
            return self.problem.decide(view.table(rows))  # type: ignore[no-any-return]
        names = [each.name for each in view.columns]
        refuse_absent(map(str, names), map(str, rows.columns))
        accepted = model.answer(view.people(rows)).accepted
        return rows.assign(accepted=accepted)["accepted"]

    def restricted(self, restrict: Mapping[Any, Any]) -> Recourse:
        """Return the recourse as one person restricts it, by columns or features, as `Problem.restricted` does.

        >>> recourse.restricted({"income": {"max": 45}}).plan({"income": 40, "age": 30}).status
        'infeasible'
        """
        read = read_restrictions(restrict)
        named = {self.source.view.feature(name): each for name, each in read.items()}
        return replace(self, asked=self.asked.restricted(named))

    def plan(
        self,
        row: Any,
        *,
        time_limit: float | None = None,
        node_limit: int | None = None,
        restrict: Mapping[Any, Any] | None = None,
    ) -> VerifiedPlan:
        """Return the cheapest plan that was found and that the model confirms.

        Args:
            row: The person: a mapping, a Series, a table of one row, or values in the order of the columns.
            time_limit: Seconds after which the search ends.
            node_limit: States after which it does.
            restrict: What this person adds, by column: see `Problem.restricted`.

        Returns:
            A plan with `verified` and `optimal`. Where the model accepts nothing that was found within the budget, it has
            given up. Recorded decisions cannot be asked: the plan is then that of the rules, not verified.

        >>> import pandas as pd
        >>> table = pd.DataFrame({"income": range(20, 80), "savings": [i % 7 for i in range(60)]})
        >>> recourse = Recourse.fit(lambda rows: rows["income"] + 5 * rows["savings"] > 60, table)
        >>> recourse.plan({"income": 40, "savings": 3}, restrict={"savings": "fixed"}).plan.counterfactual
        {'income': 46, 'savings': 3}
        """
        return self.nearest(row, time_limit=time_limit, node_limit=node_limit, restrict=restrict)[0]

    def nearest(
        self,
        row: Any,
        k: int = 1,
        *,
        distinct: str = "points",
        time_limit: float | None = None,
        node_limit: int | None = None,
        restrict: Mapping[Any, Any] | None = None,
    ) -> Plans[VerifiedPlan]:
        """Return up to k confirmed plans to distinct end states, cheapest first; one that is not, where there is none.

        Args:
            row: The person, as `plan` takes one.
            k: How many.
            distinct: What makes two ends different: "points" for any value, "cells" for what the model and the rules tell
                apart. Of recorded decisions it is always what the rules tell apart.
            time_limit: Seconds after which the search ends.
            node_limit: States after which it does.
            restrict: What this person adds, by column.

        >>> [plan.counterfactual["income"] for plan in recourse.nearest({"income": 40, "age": 30}, k=2)]
        [52, 53]
        """
        asked = self.asked if restrict is None else self.restricted(restrict).asked
        policy, person = Policy("native", time_limit, node_limit), self.source.view.named(row)
        k, kind = whole_number("k", k, least=1), answers.read_distinct(distinct)
        if asked.decider is not None:
            return Plans(answers.confirmed(asked, person, k, policy, distinct=kind))
        return Plans(answers.unconfirmed(asked, self.source.view.row(person), k, policy))

    def why(self, row: Any, *, time_limit: float | None = 5.0) -> Reasons[str] | None:
        """Return the features whose values together force the refusal, whatever the others are; the fewest.

        What is refused is the problem's goal: that the model accepts and, where a `goal` of one's own says more or something
        else, that.

        Args:
            row: The person, as `plan` takes one.
            time_limit: Seconds after which the search for the fewest ends; None where it may take as long as it takes.

        Returns:
            A tuple of names, which tells itself in a notebook; None where the goal is met, where the model is only asked, or
            where the time ends. Where time is left for a set without a value that can be spared, and not to show that
            no other is smaller, it is that set, and its `smallest` is False.

        >>> recourse.why({"income": 40, "age": 30})
        ('income',)
        """
        policy = Policy("native", time_limit)
        if not self._is_read:
            return None
        state = self.asked.read_row(row)
        found = forcing(self.asked.theory, state, policy.limits)
        return None if found is None else Reasons.of(self.asked.theory, state, found)

    def plan_many(
        self, frame: Any, *, time_limit: float | None = None, progress: bool | None = None
    ) -> pd.DataFrame:
        """Return a table with the confirmed plan of each row of a frame or an array, in row order.

        Args:
            frame: A row for each person, with the model's columns.
            time_limit: Seconds for one person.
            progress: Whether a bar is shown; by default where somebody looks and the table is long.

        Returns:
            The columns of `Problem.plan_many`, and `verified` and `optimal`.

        >>> recourse.plan_many(loans.head(2))[["status", "cost", "verified", "optimal"]]
          status      cost  verified  optimal
        0  found  0.542373      True     True
        1  found  0.525424      True     True
        """
        rows = as_frame(frame)
        if self.judged is not None:
            native = Policy("native", time_limit)
            return answers.confirmed_many(self.judged, rows, native, progress=progress)
        plan, theory = partial(self.plan, time_limit=time_limit), self.asked.theory
        self.source.view.refuse_absent(rows, theory.feature)
        return as_table(theory, plan_lines(theory, plan, rows, progress=progress), rows)

    def audit(
        self,
        frame: Any,
        by: str | Sequence[str] = (),
        *,
        against: Recourse | Problem | None = None,
        **how: Any,
    ) -> Audit:
        """Return who of the people of a table has a way to the model's yes and who has none, and how groups differ in it.

        Takes what `Problem.audit` takes. Nobody is said to have no way where the model could only be asked; recorded
        decisions are audited by the rules learned from them.

        >>> recourse.audit(loans, by="age:<40,>=40")
        <Audit 'recourse': 32 of 60 refused, 0 without a way>
        """
        rows = as_frame(frame)
        if self.judged is None:
            rows = rows.rename(columns={e.name: e.feature for e in self.source.view.features})
        other = against.asked if isinstance(against, Recourse) else against
        return self.asked.audit(rows, by, against=other, **how)

    def widget(self, row: Any, *, language: str = "en", time_limit: float | None = 5) -> Any:
        """Return a widget for a notebook, as `Problem.widget` does, with the model that decides.

        Args:
            row: The person, as `plan` takes one.
            language: "en" or "de".
            time_limit: Seconds for each plan.

        >>> recourse.widget({"income": 40, "age": 30}).plan.status
        'found'
        """
        person = self.source.view.row(self.source.view.named(row))
        return self.asked.widget(person, language=language, time_limit=time_limit)

    def check(self, confirmed: VerifiedPlan) -> Verdict:
        """Replay a plan by the contract with code that no search shares, and ask the model about its end once more.

        For a plan that the model has confirmed, its end stands in the place of the goal.

        >>> print(recourse.check(confirmed))
        the path is valid: every step, the cost and the end
        not checked: that no cheaper path exists
        """
        _refuse_other(confirmed)
        asked = self.asked if confirmed.verified else self._teller(confirmed)
        return asked.check(confirmed.plan)

    def report(
        self,
        confirmed: VerifiedPlan,
        *,
        format: str = "html",
        audience: str = "applicant",
        language: str = "en",
    ) -> bytes:
        """Return a report on a plan, as `Problem.report` does, with what the model said of it.

        Args:
            confirmed: The plan.
            format: "html", "md", "txt" or "pdf"; the last needs the extra `report`.
            audience: "applicant" for a letter, "expert" for all that an auditor needs.
            language: "en" or "de".

        >>> print(recourse.report(confirmed, format="txt").decode().splitlines()[0])
        Your way to a yes
        """
        _refuse_other(confirmed)
        problem = self._teller(confirmed)
        return problem.report(confirmed.plan, format=format, audience=audience, language=language)

    def _teller(self, confirmed: VerifiedPlan) -> Problem:
        """Return the problem whose rules give the reasons: the model's where the plan is proved against it."""
        return self.asked if self._is_read and confirmed.proved else self.problem


@contextmanager
def _by_keyword() -> Iterator[None]:
    """Name what is wrong by the keywords of `fit`: `causal` is the text of causal rules."""
    keywords = {"rules": "causal"}
    try:
        yield
    except ProblemError as error:
        faults = [
            replace(each, place=keywords.get(each.place, each.place)) for each in error.faults
        ]
        raise ProblemError(faults, source=error.source) from error


def _refuse_other(given: object) -> None:
    """Refuse what is no answer of a recourse, such as the row that was asked about."""
    if not isinstance(given, VerifiedPlan):
        raise P2CError(f"expected an answer of recourse.plan(row), found a {type(given).__name__}")
