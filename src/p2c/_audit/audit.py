"""Audit many people: the question, the counts, and the differences of groups."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._answers import model_table, plan_many
from p2c._audit.confined import confine
from p2c._audit.intervals import divide, read_divisions
from p2c._audit.lifting import find_obstacles
from p2c._audit.people import place_people, read_answers
from p2c._audit.tally import compare, differences, tally
from p2c._plan.compiled.space import Space
from p2c._plan.search.best_first import Limits
from p2c._plan.tables.frames import table_of
from p2c._report.expert_report import digest
from p2c._report.formats import renderer
from p2c._spec.overrides import whole_number
from p2c.errors import P2CError, check_word, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from p2c._audit.confined import Box, Confinement
    from p2c._audit.ground import Limitation
    from p2c._audit.lifting import Obstacles
    from p2c._audit.tally import Change, Difference, Tally
    from p2c._blackbox.decider import Decider
    from p2c._engines.policy import Policy
    from p2c._report.document import Document
    from p2c._rules.theory import Theory
    from p2c._statement import Statement

FORMATS = ("html", "pdf", "md", "json")
"""As what an audit is written; text is for those who ask for it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The question of an audit, complete enough to repeat it.

    Hashes are listed by the name of the hashed part; the command is empty for an audit in Python.
    """

    rows: int
    by: tuple[str, ...] = ()
    seed: int = 0
    proved: bool = True
    """Whether answers are proved; not where a model could only be asked."""
    ends_confirmed: tuple[int, int] | None = None
    """How many ends of plans a model, asked about each, accepts; None where no model was asked."""
    hashes: dict[str, str] = field(default_factory=dict)
    command: str = ""
    date: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the question as JSON."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class Audit:
    """The result of an audit: counts, groups, reasons and no-recourse regions.

    >>> import pandas as pd
    >>> import p2c
    >>> people = pd.DataFrame(p2c.datasets.rows("loan").values())
    >>> audit = p2c.Problem.example("loan").audit(people, by="age:<40,>=40")
    >>> audit
    <Audit 'loan': 4 of 5 refused, 1 without a way>
    """

    theory: Theory
    asked: Asked
    tallies: tuple[Tally, ...]
    """Everybody first, then each group, then each two traits together."""
    differences: tuple[Difference, ...]
    obstacles: Obstacles | None = None
    """What stands in the way of those who have none; None where everybody has one."""
    confinement: Confinement | None = None
    """Who has no way, in the data and beyond it."""
    change: Change | None = None
    """What another problem would change for the same people, where one was given."""

    @property
    def everybody(self) -> Tally:
        """Return the counts of all people."""
        return self.tallies[0]

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as JSON.

        >>> sorted(audit.to_dict())
        ['asked', 'change', 'confined', 'differences', 'goal', 'groups', 'problem', 'why_not']
        """
        return {
            "problem": self.theory.name,
            "goal": self.theory.goal_text,
            "asked": self.asked.to_dict(),
            "groups": [each.to_dict() for each in self.tallies],
            "differences": [each.to_dict() for each in self.differences],
            "why_not": self.obstacles.to_dict() if self.obstacles else None,
            "confined": self.confinement.to_dict() if self.confinement else None,
            "change": self.change.to_dict() if self.change else None,
        }

    @property
    def confined(self) -> tuple[tuple[Box, tuple[Limitation, ...]], ...]:
        """Return the no-recourse regions with their conditions, largest first."""
        boxes = self.confinement.boxes if self.confinement else ()
        return tuple((box, box.where) for box in boxes)

    def document(self, *, language: str = "en") -> Document:
        """Return the audit as a report to be rendered.

        >>> audit.document(language="de").title
        'Prüfbericht: wer einen Weg zum Ja hat, und wer keinen: loan'
        """
        from p2c._audit.pages import audit_document

        return audit_document(self, language=language)

    def report(self, *, format: str = "html", language: str = "en") -> bytes:
        """Return the report as html, pdf, md, txt or json.

        >>> print(audit.report(format="md").decode().splitlines()[4])
        **4 of 5 people are refused today (80%).**
        """
        check_word("format: no report as", format, (*FORMATS, "txt"))
        if format == "json":
            return (json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n").encode()
        return renderer(format)(self.document(language=language))

    def __repr__(self) -> str:
        refused, stuck = self.everybody.refused, self.everybody.stuck
        found = f"{refused.count} of {refused.of} refused, {stuck.count} without a way"
        return f"<Audit {self.theory.name!r}: {found}>"

    def _repr_html_(self) -> str:
        from p2c._report.html import notebook_html

        return notebook_html(self.document(), "")


def audit_problem(
    problem: Statement,
    frame: Any,
    policy: Policy,
    *,
    by: str | Sequence[str],
    answers: Any,
    against: Statement | None,
    after: Any,
    seed: int,
    explain_time_limit: float | None,
    asked: Asked | None,
    progress: bool | None,
) -> Audit:
    """Count who of the people of a frame has a plan.

    People without an entry in `answers` are planned for.

    Args:
        problem: The problem that decides.
        frame: The people.
        policy: The engine and the limits of plans.
        by: Columns that divide people.
        answers: The answers for the same rows, where they are known.
        against: Another problem for the same people.
        after: Its answers, where they are known.
        seed: Random seed.
        explain_time_limit: Seconds for everything that explains why people have no plan; None sets no limit. Obstacles take at
            most half of them, regions the rest.
        asked: The question, for the report.
        progress: Whether a bar is shown.
    """
    seed = whole_number("seed", seed, least=0)
    if against is None and after is not None:
        raise P2CError("after: these are the answers of another problem: give that as against")
    if against is not None and after is None:
        after = _answered(against, frame, policy, progress)
    if answers is None:
        answers = _answered(problem, frame, policy, progress)
    asked = asked or Asked(0)
    if problem.decider is None:
        space, ask = problem.compiled, None
    else:
        decider, theory = problem.decider, problem.theory
        space = problem.compiled if decider.is_read else Space(replace(theory, model=None))
        frame = _by_features(decider, theory, frame)
        ask = decider.asker({}) if decider.scored else None
        asked = replace(asked, proved=decider.is_read, ends_confirmed=_confirmed(answers))
    told, divisions = read_answers(answers), read_divisions(by)
    known = _known(frame)
    names = [e.name for e in space.theory.features if e.equation is None or e.name in known]
    columns = _columns(frame, dict.fromkeys((*names, *(each.column for each in divisions))))
    size = len(columns[names[0]])
    if size != len(told):
        raise P2CError(f"answers: expected one for each of {size} rows, found {len(told)}")
    groups = divide(divisions, columns, size)
    people = place_people(space, {name: columns[name] for name in names}, told, ask)
    compared = tuple(differences(people, groups, seed=seed))
    limits = Limits.within(explain_time_limit)
    obstacles = find_obstacles(people, Limits.within(limits.left and limits.left / 2))
    return Audit(
        space.theory,
        replace(
            asked,
            rows=size,
            by=tuple(each.text for each in divisions),
            seed=seed,
            hashes={"data": _digest(columns), **_hashes(problem, against), **asked.hashes},
            date=asked.date or date.today().isoformat(),
        ),
        tuple(tally(told, group) for group in groups),
        compared,
        obstacles,
        confine(people, limits) if told.having("infeasible").any() else None,
        compare(against.name, told, read_answers(after), groups) if against else None,
    )


def _hashes(problem: Statement, against: Statement | None) -> dict[str, str]:
    """Return the SHA-256 of each problem and model of the audit."""
    return {
        "problem": digest(problem.to_dict()),
        **({"model": problem.model_digest} if problem.model_digest else {}),
        **({"against": digest(against.to_dict())} if against else {}),
    }


def _answered(problem: Statement, frame: Any, policy: Policy, progress: bool | None) -> Any:
    """Return the answers for a table, proved by rules or confirmed by a model."""
    if problem.decider is None:
        return plan_many(problem, frame, policy, progress=progress)
    rows = _by_columns(problem.decider, frame)
    names = [each.name for each in problem.decider.source.view.columns if each.name in rows]
    which = rows.groupby(names, dropna=False, sort=False, observed=True).ngroup().to_numpy()
    _, first = np.unique(which, return_index=True)
    native = replace(policy, engine="native")
    answers = model_table(problem, rows.iloc[first], native, progress=progress)
    return answers.iloc[which].set_axis(rows.index)


def _by_columns(decider: Decider, frame: Any) -> pd.DataFrame:
    """Return a table of people with the model's own column names."""
    from p2c._learn.tables.view import as_frame  # pandas loads slowly

    rows = as_frame(frame)
    names = {e.feature: e.name for e in decider.source.view.columns if e.name not in rows}
    return rows.rename(columns=names)


def _by_features(decider: Decider, theory: Theory, frame: Any) -> Mapping[str, Sequence[Any]]:
    """Return the columns of people by feature, other columns by their names.

    Computed features may be absent.
    """
    if isinstance(frame, Mapping):
        return frame
    rows = _by_columns(decider, frame)
    view, computed = decider.source.view, {each.name for each in theory.computed}
    absent = [e for e in view.columns if e.feature in computed and e.name not in rows]
    filled = rows.assign(**dict.fromkeys([str(each.name) for each in absent]))
    table = view.table(filled).drop(columns=[each.feature for each in absent])
    others = {str(name): rows[name].tolist() for name in rows.columns}
    return others | {name: table[name].tolist() for name in table.columns}


def _confirmed(answers: Any) -> tuple[int, int] | None:
    """Count the verified ends of plans and all ends; None without a model's answers."""
    table = table_of(answers)
    if "verified" not in table.columns:
        return None
    plans = table.filter(table["status"] == "found")
    return sum(map(bool, plans["verified"].to_list())), len(plans)


def _known(frame: Any) -> list[str]:
    """Return the names of the columns of a frame, or of a mapping of columns."""
    return list(frame if isinstance(frame, Mapping) else table_of(frame).columns)


def _columns(frame: Any, wanted: Iterable[str]) -> dict[str, Sequence[Any]]:
    """Return chosen columns of a frame, or of a mapping of columns."""
    whole = frame if isinstance(frame, Mapping) else table_of(frame)
    columns = _known(frame)
    for name in wanted:
        if name not in columns:
            raise P2CError(f"{name}: no such column; {suggestion(name, columns)}")
    if isinstance(whole, Mapping):
        return {name: whole[name] for name in wanted}
    return {name: whole[name].to_list() for name in wanted}


def _digest(columns: Mapping[str, Sequence[Any]]) -> str:
    """Return the SHA-256 of columns, written as JSON."""
    text = json.dumps(dict(columns), default=str, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
