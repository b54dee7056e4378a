"""Plans, sizes and the state of the engines on a terminal: colour where there is one, plain text in a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from p2c._explain.letter import summarize
from p2c._explain.model_reasons import caveats, proved_by
from p2c._explain.phrases import ENGLISH
from p2c._explain.rules import breaches, read_constraint, read_law
from p2c._explain.sentences import as_sentence, filled, number_words, rounded, value_words
from p2c._markup import clean
from p2c._rules.meaning import abduce
from p2c._rules.render import render_rule
from p2c.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from rich.console import Console

    from p2c._engines.policy import Examination
    from p2c._explain.justification import Justification
    from p2c._plan.outcome import Plan
    from p2c._plan.size import SpaceReport
    from p2c._rules.theory import Theory
    from p2c._spec.row import State


def show_plan(console: Console, theory: Theory, plan: Plan) -> None:
    """Print a plan: numbered steps, what changes, the cost and what was proved."""
    summary = summarize(theory, plan)
    for sentence in summary.opening:
        console.print(Text(sentence, style="bold"))
    number = 0
    for step in summary.steps:
        for act in step:
            if act.direct:
                number += 1
                console.print(Text.assemble((f"{number}. ", "bold cyan"), act.text))
                continue
            console.print(Text(f"   → {act.text}", style="green"))
            for rule in act.because:
                console.print(Text(f"     because {clean(rule)}", style="dim"))
    if plan.steps and plan.end is not None:
        console.print(_changes(theory, plan.question.initial, plan.end))
    for sentence in summary.closing:
        console.print(sentence, markup=False)


def _table(*headers: str) -> Table:
    """Return a table that breaks what is too wide for it and leaves nothing out."""
    columns = (Column(header, overflow="fold") for header in headers)
    return Table(*columns, box=None, header_style="dim")


def _changes(theory: Theory, before: Mapping[str, Any], after: Mapping[str, Any]) -> Table:
    table = _table("feature", "now", "then")
    for feature in theory.features:
        values = before[feature.name], after[feature.name]
        if values[0] != values[1]:
            words = (feature.name, *(value_words(feature, each) for each in values))
            table.add_row(*(Text(clean(each)) for each in words))
    return table


def show_plans(
    console: Console, theory: Theory, plans: Sequence[Plan], state: Mapping[str, Any]
) -> None:
    """Print several plans of one person as a table, cheapest first, and what they rest on."""
    if not plans:
        proved = filled(ENGLISH.no_way, by=proved_by(theory))
        console.print(as_sentence(proved, ENGLISH), markup=False)
        console.print("What stands in the way is shown by p2c plan.")
        show_caveats(console, theory, state, rules=False)
        return
    if plans[0].status == "already":
        show_plan(console, theory, plans[0])
        return
    used = [each for each in theory.resources if any(each.name in plan.uses for plan in plans)]
    table = _table("", "cost", *(each.label for each in used), "what to do")
    for number, plan in enumerate(plans, start=1):
        acts = [act.text for step in summarize(theory, plan).steps for act in step if act.direct]
        amounts = [plan.cost or 0.0, *(plan.uses.get(each.name, 0) for each in used)]
        numbers = (number_words(rounded(each, digits=9)) for each in amounts)
        table.add_row(str(number), *numbers, Text(" ".join(acts)))
    console.print(table)
    evidence = plans[0].question.evidence
    if evidence is not None and evidence.accepted:
        console.print(confirmed_words(proved=evidence.proved))
    show_caveats(console, theory, state, rules=evidence is None or not evidence.accepted)


def confirmed_words(*, proved: bool) -> str:
    """Return what is said of several plans that a model has confirmed."""
    proof = "proved against it" if proved else "not proved to be the cheapest"
    return f"The model itself says yes to the end of each; they are {proof}."


def show_caveats(
    console: Console, theory: Theory, state: Mapping[str, Any], *, rules: bool = True
) -> None:
    """Print what an answer rests on: values that are not known, and learned rules."""
    for each in caveats(theory, state, rules=rules):
        console.print(each, markup=False)


def show_space(console: Console, report: SpaceReport) -> None:
    """Print the size of a search space, feature by feature."""
    table = _table("feature", "values", "cells", f"cut by {report.by} into")
    for each in report.features:
        cells = ", ".join(each.cells) if len(each.cells) <= 8 else f"{len(each.cells)} cells"
        table.add_row(
            Text(clean(each.feature)), f"{each.values:,}", str(len(each.cells)), Text(clean(cells))
        )
    console.print(table)
    states = counted(report.raw, "state")
    console.print(f"{states}, of which {report.by} can tell {report.cells:,} apart")


def show_laws(console: Console, theory: Theory) -> None:
    """Print what the law of each governed feature says of its rules and where none applies, and what may never be."""
    for name, _ in theory.causes:
        law = theory.feature[name].law.value
        console.print(Text(f"{clean(name)}, law '{law}':", style="bold"))
        for sentence in read_law(theory, name):
            console.print(Text(f"  {sentence}"))
    if theory.constraints:
        console.print(Text("constraints:", style="bold"))
    for clause in theory.constraints:
        console.print(Text(f"  {read_constraint(theory, clause)}"))


def show_breaches(console: Console, theory: Theory, rows: Sequence[State]) -> None:
    """Print how many of some people are exceptions, and to which rules."""
    found = breaches(theory, rows)
    some = sum(1 for row in rows if abduce(theory, row))
    console.print(f"exceptions: {some:,} of {counted(len(rows), 'row')}", markup=False)
    for each in found:
        if not each.feature:
            what = "the constraint holds"
        elif each.applies:
            what = f"the rule applies and {each.feature} is something else"
        else:
            what = f"{each.feature} is what the rule names and no such rule applies"
        rules = "; ".join(render_rule(clause.rule) for clause in each.rules)
        console.print(Text(f"  {each.rows:,}: {clean(what)}: {clean(rules)}"))


def show_justification(console: Console, found: Justification) -> None:
    """Print s(CASP)'s justification: its English, then its tree."""
    console.print("\ns(CASP) says:", style="bold")
    console.print(found.english, markup=False)
    console.print("\nand proves it so:", style="bold")
    console.print(found.tree, markup=False)


def show_examinations(console: Console, examinations: Iterable[Examination]) -> None:
    """Print one line an engine: its version and what came of the tiny problem, or how to get it."""
    table = Table(box=None, pad_edge=False)
    for title in ("engine", "version", "a tiny problem"):
        table.add_column(title)
    for each in examinations:
        table.add_row(each.engine, escape(each.version or "not installed"), escape(_said(each)))
    console.print(table)


def _said(examination: Examination) -> str:
    if examination.version is None:
        return f"to get it: {examination.install}"
    if examination.fault:
        return f"failed: {examination.fault}"
    assert examination.seconds is not None
    return f"solved in {examination.seconds * 1000:.0f} ms"
