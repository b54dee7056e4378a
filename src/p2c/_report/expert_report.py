"""The report for an expert: all that is needed to judge a plan and to repeat it.

After the letter come the rules, what efforts are computed from, the causal graph, the whole row, what each effect rests on,
the proofs at both ends, alternatives, the size of the search space, the date, versions, and the hashes of the problem and
the row.
"""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from p2c._explain.letter import teller_in
from p2c._explain.rules import only_where
from p2c._explain.sentences import filled, number_words
from p2c._plan.check.replay import decimal
from p2c._plan.check.validate import check_plan
from p2c._plan.outcome import CausalAction, Found, TakenAction
from p2c._plan.size import measure_space
from p2c._release import __version__, versions_of
from p2c._report.document import (
    FEATURE_ROW,
    Code,
    Document,
    Figure,
    Grid,
    Heading,
    Outline,
    Paragraph,
    applicant_document,
    feature_row,
    values_text,
)
from p2c._report.graph import graph_svg, graph_told
from p2c._rules.proof import why
from p2c._rules.render import render_rule
from p2c._spec.feature import Kind, Points

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from p2c._explain.phrases import Phrases
    from p2c._explain.teller import Teller
    from p2c._plan.compiled.space import Space
    from p2c._plan.outcome import Action, Plan
    from p2c._report.document import Block
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Feature, Value

ALTERNATIVES = 5
PACKAGES = ("clingo", "numpy", "pydantic", "lark")
"""What an answer may depend on besides p2c."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a question came from: the problem as data, the command that put it, the files' own hashes, and the day."""

    problem: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""
    alternatives: int = ALTERNATIVES
    files: tuple[tuple[str, str], ...] = field(default=())
    date: str = ""
    """The day of the report, as 2026-01-31; `Problem.report` fills in today's."""


def digest(data: Any) -> str:
    """Return the SHA-256 of data as JSON with sorted keys and no blanks, in UTF-8.

    >>> digest({"a": 1})[:16]
    '015abd7f5cc57a2d'
    """
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def expert_document(
    theory: Theory,
    plan: Plan,
    origin: Origin,
    *,
    space: Space | None,
    ways: Callable[[], Sequence[Plan]],
    language: str = "en",
) -> Document:
    """Return the report for an expert; `space` is what was searched, if anything was, `ways` finds alternatives."""
    letter = applicant_document(theory, plan, language=language)
    expert = _Expert(theory, plan, origin, space, ways, teller_in(theory, language))
    title = f"{expert.words['title']}: {theory.name}"
    return Document(language, title, (*letter.blocks, *expert.blocks()))


@dataclass(frozen=True)
class _Expert:
    """Gathers what an expert reads."""

    theory: Theory
    plan: Plan
    origin: Origin
    space: Space | None
    ways: Callable[[], Sequence[Plan]]
    teller: Teller

    @property
    def phrases(self) -> Phrases:
        return self.teller.phrases

    @property
    def words(self) -> Mapping[str, str]:
        return self.phrases.expert

    def blocks(self) -> Iterator[Block]:
        yield from self._rules()
        yield from self._graph()
        yield from self._row()
        yield from self._path()
        yield from self._proofs()
        yield from self._alternatives()
        yield from self._space()
        yield from self._repeat()

    def _rules(self) -> Iterator[Block]:
        theory, words = self.theory, self.words
        yield Heading(words["rules"])
        yield Code(tuple(map(render_rule, theory.program.rules)), numbered=True)
        settings = {
            "goal": theory.goal_text,
            "norm": theory.norm.value,
            "minimize": theory.minimize.value,
            "effects": theory.effects.value,
            "exceptions": theory.exceptions.value,
            **{f"causal, {f.name}": f.law.value for f in theory.features if f.governed},
        }
        yield Grid.under(words, ("key", "value"), settings.items())
        yield Heading(words["features"])
        rows = [
            (*row[:3], _values(feature, self.phrases), row[4])
            for feature in self.teller.theory.features
            for row in [feature_row(feature, self.phrases)]
        ]
        yield Grid.under(words, FEATURE_ROW, rows)
        keys = ("feature", "weight", "scale", "grid", "moves")
        yield Grid.under(words, keys, map(_effort_row, theory.features))

    def _graph(self) -> Iterator[Block]:
        yield Heading(self.words["graph"])
        language = self.phrases.language
        svg = graph_svg(self.theory, theme="light", language=language)
        told = graph_told(self.theory, language=language)
        yield Figure(svg, self.phrases.graph["title"], told)

    def _row(self) -> Iterator[Block]:
        yield Heading(self.words["row"])
        initial, end = self.plan.question.initial, self.plan.end
        rows = [
            (name, _raw(value), "–" if end is None else _raw(end[name]))
            for name, value in initial.items()
        ]
        yield Grid.under(self.words, ("feature", "now", "then"), rows)

    def _path(self) -> Iterator[Block]:
        yield Heading(self.words["path"])
        rows = [
            (
                str(number),
                self.words["causal" if isinstance(action, CausalAction) else "direct"],
                action.feature,
                _change(action),
                "; ".join(action.because)
                or only_where(self.teller.theory, action.feature, action.start, self.phrases)
                if isinstance(action, CausalAction)
                else f"{action.cost:.10g}",
            )
            for number, step in enumerate(self.plan.steps, start=1)
            for action in step.actions
        ]
        keys = ("step", "kind", "feature", "change", "because")
        if rows:
            yield Grid.under(self.words, keys, rows)
        cost = "–" if self.plan.cost is None else f"{self.plan.cost:.10g}"
        facts = [
            (self.words["status"], self.plan.status),
            (self.words["cost"], f"{cost} ({self.plan.question.norm})"),
            *((name, f"{amount:.10g}") for name, amount in self.plan.uses.items()),
            *self._replayed(),
            *self._evidence(),
            *self._rests_on(),
            *((self.words["exception"], _json(each)) for each in self.plan.question.exceptions),
            *(
                (self.words["blocker"], f"{each.feature}: {each.restriction}".removeprefix(": "))
                for each in getattr(self.plan, "blockers", ())
            ),
        ]
        yield Grid.under(self.words, ("key", "value"), facts)

    def _replayed(self) -> Iterator[tuple[str, str]]:
        """Yield what a replay tells of the path, and what it cannot tell."""
        told = self.plan.question.evidence
        replayed = told.replayed if told is not None else ""
        verdict = check_plan(self.theory, self.plan.to_dict())
        plain = replace(verdict, unchecked="")
        yield self.words["replayed"], replayed or str(plain)
        if verdict.unchecked and not replayed:
            yield self.words["unchecked"], verdict.unchecked

    def _rests_on(self) -> Iterator[tuple[str, str]]:
        rests = self.theory.rests_on(self.plan.question.initial)
        if "unknown" in rests:
            yield self.words["unknown"], ", ".join(rests["unknown"])
        if "source" in rests:
            yield self.words["source"], _json(rests["source"])

    def _evidence(self) -> Iterator[tuple[str, str]]:
        evidence = self.plan.question.evidence
        if evidence is not None:
            answers = {True: "accepted", False: "refused", None: "not_asked"}
            yield self.words["model"], self.words[answers[evidence.accepted]]
            yield self.words["asked"], number_words(evidence.queries, self.phrases)

    def _proofs(self) -> Iterator[Block]:
        yield Heading(self.words["proof_now"])
        yield Outline(why(self.theory, self.plan.question.initial).rows())
        if self.plan.steps and self.plan.end is not None:
            yield Heading(self.words["proof_then"])
            proof, told = why(self.theory, self.plan.end), self.plan.question.evidence
            if told is not None and not told.exact:
                agree = proof.root.holds == told.accepted
                yield Paragraph(
                    self.phrases.model_reasons if agree else self.phrases.model_unexplained
                )
            yield Outline(proof.rows())

    def _alternatives(self) -> Iterator[Block]:
        if self.plan.status != "found" or not self.origin.alternatives:
            return
        yield Heading(self.words["alternatives"])
        initial, plans = self.plan.question.initial, self.ways()
        rows = [
            (str(number), f"{plan.cost:.10g}", _changes(initial, plan.end or {}))
            for number, plan in enumerate(plans, start=1)
            if isinstance(plan, Found)
        ]
        keys = ("number", "cost", "end")
        if rows:
            yield Grid.under(self.words, keys, rows)
        if len(rows) < len(plans):
            yield Paragraph(self.words["out_of_time"])

    def _space(self) -> Iterator[Block]:
        if self.space is None:
            return
        report = measure_space(self.space)
        yield Heading(self.words["space"])
        sizes = {"raw": report.raw, "cells": report.cells}
        numbers = {key: number_words(size, self.phrases) for key, size in sizes.items()}
        yield Paragraph(filled(self.words["sizes"], **numbers))
        rows = [
            (each.feature, number_words(each.values, self.phrases), str(len(each.cells)))
            for each in report.features
        ]
        yield Grid.under(self.words, ("feature", "values", "cells"), rows)

    def _repeat(self) -> Iterator[Block]:
        yield Heading(self.words["repeat"])
        if self.origin.command:
            yield Code((self.origin.command,))
        hashes = {
            **({self.words["date"]: self.origin.date} if self.origin.date else {}),
            self.words["problem_hash"]: digest(self.origin.problem),
            self.words["row_hash"]: digest(dict(self.plan.question.initial)),
            **{f"SHA-256 {name}": value for name, value in self.origin.files},
        }
        facts = (*hashes.items(), *versions().items())
        yield Grid.under(self.words, ("key", "value"), facts)


def _values(feature: Feature, phrases: Phrases) -> str:
    """Return every value that a plan may choose from, for a number its range."""
    domain = feature.domain
    if not isinstance(domain, Points):
        return values_text(feature, phrases)
    return ", ".join(map(str, domain.values))


def _effort_row(feature: Feature) -> tuple[str, ...]:
    """Return what the cost of a change is computed from, and which changes there are."""
    domain = feature.domain
    moves = feature.moves_from
    ways = "; ".join(
        f"{start} → {', '.join(map(str, ends))}" for start, ends in (moves or {}).items()
    )
    return (
        feature.name,
        _raw(feature.weight),
        "–" if feature.kind is Kind.CATEGORY else f"{decimal(feature.divisor):.17g}",
        "–" if isinstance(domain, Points) else f"{_raw(domain.start)} + n · {_raw(domain.step)}",
        "–" if moves is None else ways or "{}",
    )


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that an answer may depend on."""
    return {"Python": platform.python_version(), "p2c": __version__, **versions_of(PACKAGES)}


def _changes(before: Mapping[str, Value], after: Mapping[str, Value]) -> str:
    return ", ".join(
        f"{name}: {_raw(before[name])} → {_raw(value)}"
        for name, value in after.items()
        if before[name] != value
    )


def _change(action: Action) -> str:
    if not isinstance(action, TakenAction):
        return f"{_raw(action.start)} → {_raw(action.end)}"
    changes = (f"{e.feature}: {_raw(e.start)} → {_raw(e.end)}" for e in action.changes)
    return "; ".join([f"× {action.count}", *changes])


def _raw(value: Value) -> str:
    return "null" if value is None else str(value)


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(dict(data), ensure_ascii=False)
