"""The tasks of solvers: questions of the service and of the pages.

Each answer is JSON.
"""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

from p2c._answers import nearest as nearest_plans
from p2c._answers import plan_for
from p2c._engines.policy import Policy
from p2c._explain.letter import summarize, teller_in, write_letter
from p2c._explain.model_reasons import model_reasons
from p2c._explain.phrases import phrases_of
from p2c._explain.sentences import explain_proof, filled, number_words, rounded
from p2c._plan.outcome import GaveUp, Infeasible
from p2c._report.graph import graph_told
from p2c._report.picture import plan_svg
from p2c._report.plan_layout import lay_out
from p2c._rules.evaluate import goal_holds
from p2c._rules.lint import summarized
from p2c._rules.proof import why as why_decided
from p2c.errors import need_learning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c._explain.phrases import Phrases
    from p2c._explain.teller import Teller
    from p2c._plan.outcome import Plan
    from p2c._rules.proof import Proof
    from p2c._rules.theory import Theory
    from p2c._spec.row import State
    from p2c.problem import Problem

    Arguments = Mapping[str, Any]


KEYS = ("norm", "effects", "minimize", "exceptions", "law", "limits", "max_actions")
"""The problem's keys that a question may override."""


def overrides(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the problem's keys that a question overrides."""
    return {key: arguments[key] for key in KEYS if arguments.get(key) is not None}


def name_of(digest: str, arguments: Mapping[str, Any]) -> str:
    """Return what all questions about one person as they ask of one problem have in common; '' where it is about nobody."""
    if arguments.get("row") is None:
        return ""
    asked = [arguments["row"], arguments.get("restrictions") or {}, overrides(arguments)]
    asked.append(arguments.get("engine"))
    return f"{digest} {json.dumps(asked, sort_keys=True)}"


class Consultation:
    """A person's row and restrictions in a problem; `solves` counts the searches for their plan."""

    def __init__(
        self, problem: Problem, row: Mapping[str, Any] | None, engine: str = "auto"
    ) -> None:
        self.problem = problem
        self.engine = engine
        self.solves = 0
        self._row = row
        self._plan: Plan | None = None
        self._seconds = 0.0

    @cached_property
    def state(self) -> State:
        """Return the values of the row; what is wrong with it is raised here."""
        return self.problem.read_row(self._row or {})

    @cached_property
    def proof(self) -> Proof:
        """Return why the decision is what it is."""
        return why_decided(self.problem.worded, self.state)

    def plan(self, seconds: float) -> Plan:
        """Return the cheapest plan; one that gave up is looked for again only where there is more time."""
        if self._plan is None or (_is_unsettled(self._plan) and seconds > self._seconds):
            self.solves += 1
            policy = Policy(self.engine, seconds)
            plan = plan_for(self.problem, self._row or {}, policy, state=self.state)
            self._plan, self._seconds = plan, seconds
        return self._plan

    def nearest(self, k: int, distinct: str, seconds: float) -> list[Plan]:
        """Return the k cheapest end states; the search continues from a known plan.

        A plan that gave up belongs to its own time limit, so the search then starts again.
        """
        first = None if isinstance(self._plan, GaveUp) else self._plan
        self.solves += first is None
        policy = Policy(self.engine, seconds)
        told = nearest_plans(
            self.problem,
            self._row or {},
            k,
            policy,
            distinct=distinct,
            state=self.state,
            first=first,
        )
        if first is None and told and not _is_unsettled(told[0]):
            self._plan = told[0]
        return told


def _is_unsettled(plan: Plan) -> bool:
    """Tell whether more time might give a better answer."""
    return isinstance(plan, GaveUp) or (isinstance(plan, Infeasible) and not plan.explained)


TEN = 10
"""Factors from here on are shown without digits after the point."""


def greet(asked: Consultation, arguments: Arguments) -> dict[str, Any]:
    """Compile the problem, and plan once where there is someone to plan for."""
    asked.problem.prepare()
    if arguments["row"] is not None:
        asked.plan(1.0)
    return {}


def plan(asked: Consultation, arguments: Arguments) -> dict[str, Any]:
    """Return the cheapest plan."""
    return asked.plan(arguments["time_limit"]).to_dict()


def nearest(asked: Consultation, arguments: Arguments) -> dict[str, Any]:
    """Return the k cheapest end states."""
    plans = asked.nearest(arguments["k"], arguments["distinct"], arguments["time_limit"])
    return {"plans": [each.to_dict() for each in plans]}


def why(asked: Consultation, arguments: Arguments) -> dict[str, Any]:
    """Return why the decision is what it is."""
    theory, proof, limit = asked.problem.theory, asked.proof, arguments.get("time_limit")
    told = model_reasons(theory, asked.state, stand_in=asked.problem.worded, time_limit=limit)
    sentences = () if told is None else told.sentences()
    if told is None or told.leaves_to_rules:
        sentences = (*sentences, *explain_proof(asked.problem.worded, proof))
    return {
        "holds": goal_holds(theory, asked.state),
        "sentences": [asdict(each) for each in sentences],
        "proof": proof.to_dict(),
        **theory.rests_on(asked.state),
        **({} if told is None else {"model": told.to_dict()}),
    }


def check(asked: Consultation, arguments: Arguments) -> dict[str, Any]:
    """Return the faults of a plan."""
    verdict = asked.problem.check(arguments["plan"])
    return {
        "valid": verdict.ok,
        "faults": [asdict(each) for each in verdict.faults],
        "checked": verdict.checked,
        "unchecked": verdict.unchecked,
    }


def verify(case: Consultation, arguments: Arguments) -> dict[str, Any]:
    """Return the claim that the independent checker has verified, or faults."""
    problem, document = case.problem, arguments["plan"]
    if arguments.get("certificate"):
        report = problem.verify(arguments["row"], document, arguments["certificate"])
        return {"verified": True, "claim": report.claim, "faults": [], "unchecked": ""}
    verdict = problem.check(document, prove=True, time_limit=arguments["time_limit"])
    return {
        "verified": verdict.ok and bool(verdict.proved),
        "claim": str(verdict),
        "faults": [asdict(each) for each in verdict.faults],
        "unchecked": verdict.unchecked,
    }


def audit(case: Consultation, arguments: Arguments) -> dict[str, Any]:
    """Return the audit of many people."""
    need_learning()
    import pandas as pd

    rows = pd.DataFrame([case.problem.read_row(each) for each in arguments["rows"]])
    by, limit = arguments.get("by", ()), arguments["time_limit"]
    return case.problem.audit(
        rows, by=by, time_limit=limit, explain_time_limit=limit, progress=False
    ).to_dict()


def words(case: Consultation, arguments: Arguments) -> dict[str, Any]:
    """Return the cheapest plan as a letter in plain text."""
    plan = case.plan(arguments["time_limit"])
    language = arguments.get("language") or "en"
    letter = case.problem.report(plan, format="txt", language=language)
    return {"status": plan.status, "proof": plan.proof, "text": letter.decode()}


def follow_up(asked: Consultation, arguments: Arguments) -> dict[str, Any]:
    """Return how a plan stands with the person's values now."""
    later = asked.problem.follow_up(
        arguments["plan"], arguments["row"], time_limit=arguments["time_limit"]
    )
    return {**later.to_dict(), "text": later.explain(arguments.get("language") or "en")}


def overview(asked: Consultation, arguments: Arguments) -> dict[str, Any]:
    """Return the findings about a problem and the size of its search space."""
    problem = asked.problem
    whole = problem if problem.decider is None or problem.decider.is_read else problem.surrogate
    space = whole.space() if whole is not None else None
    language = arguments.get("language") or "en"
    phrases = phrases_of(language)
    return {
        "findings": [
            {"text": each.message_in(phrases.findings), "reason": each.reason}
            for each in summarized(problem.findings())
        ],
        "raw": _count(space.raw, phrases) if space else "",
        "cells": _count(space.cells, phrases) if space else "",
        "graph": graph_told(problem.theory, language=language),
        "sizes": [
            {
                "feature": each.feature,
                "values": _count(each.values, phrases),
                "cells": list(each.cells),
            }
            for each in (space.features if space else ())
        ],
    }


def _count(number: int, phrases: Phrases) -> str:
    """Return a count in figures; from 25 characters on, as a power of ten."""
    text = number_words(number, phrases)
    power = str(len(str(number)) - 1)
    return text if len(text) <= 24 else filled(phrases.pages["about"], power=power)


def story(asked: Consultation, arguments: Arguments) -> dict[str, Any]:
    """Return the cheapest plan in words, the reasons of the decision, and blockers."""
    problem, plan = asked.problem, asked.plan(arguments["time_limit"])
    language = arguments.get("language") or "en"
    teller = teller_in(problem.worded, language)
    return {
        "status": plan.status,
        "cost": None if plan.cost is None else teller.number(plan.cost),
        "norm": plan.question.norm.upper(),
        "own_steps": len(plan.actions),
        "unknown": [
            teller.label(name) for name in list(problem.theory.missing(plan.question.initial))
        ],
        "given_heading": teller.phrases.headings["given"],
        "given": [
            {"label": teller.label(name), "value": teller.value(name, value)}
            for name, value in plan.question.initial.items()
        ],
        "matters": sorted(_matters(problem, plan)),
        "drawn": bool(plan.steps),
        "rules": _rules(teller, plan),
        "language": language,
        "letter": asdict(write_letter(problem.worded, plan, language=language)),
        "picture": lay_out(problem.theory, plan, language=language).told,
        "proof": asked.proof.to_dict(),
        "blockers": [each.to_dict() for each in getattr(plan, "blockers", ())],
    }


def _matters(problem: Problem, plan: Plan) -> set[str]:
    """Return the features that the decision reads, that change, or that block."""
    theory = problem.theory
    found = set(theory.reads(theory.goal))
    found |= {action.feature for step in plan.steps for action in step.actions}
    if isinstance(plan, Infeasible):
        found |= {each.feature for each in plan.blockers}
    found &= theory.feature.keys()
    return found.union(*(theory.upstream[name] for name in found))


def picture(asked: Consultation, arguments: Arguments) -> dict[str, Any]:
    """Return the picture of the cheapest plan."""
    svg = plan_svg(
        asked.problem.theory,
        asked.plan(arguments["time_limit"]),
        theme=arguments["theme"],
        language=arguments.get("language") or "en",
        shape=arguments.get("shape") or None,
    )
    return {"svg": svg}


def letter(asked: Consultation, arguments: Arguments) -> dict[str, Any]:
    """Return the letter, a notice, or the report for experts as a file.

    The record of a notice comes with it, for the server to append.
    """
    limit = arguments["time_limit"]
    plan = asked.plan(limit)
    format, language = arguments.get("format") or "html", arguments.get("language") or "en"
    notice, record = arguments.get("notice"), None
    if notice:
        from p2c._notices.filed import render_notice

        content, record = render_notice(
            asked.problem,
            plan,
            notice,
            arguments.get("lender") or None,
            arguments.get("case") or {},
            language=language,
            format=format,
            time_limit=limit,
        )
    else:
        content = asked.problem.report(
            plan,
            format=format,
            audience=arguments.get("audience") or "applicant",
            language=language,
            time_limit=limit,
        )
    return {"content": b64encode(content).decode(), "record": record}


def graph(asked: Consultation, arguments: Arguments) -> dict[str, Any]:
    """Return the picture of the causal graph."""
    return {"svg": asked.problem.to_svg(theme=arguments["theme"], language=arguments["language"])}


def ways(asked: Consultation, arguments: Arguments) -> dict[str, Any]:
    """Describe the cheapest plans that differ in kind.

    `complete` is false if the search gave up before the last.
    """
    answers = asked.nearest(arguments["k"], "cells", arguments["time_limit"])
    plans = [each for each in answers if not isinstance(each, GaveUp)]
    language = arguments.get("language") or "en"
    phrases = phrases_of(language)
    return {
        "ways": [
            told(asked.problem.worded, each, language)
            | {"own_steps": len(each.actions), "factor": _factor(each, plans[0], phrases)}
            for each in plans
        ],
        "complete": len(plans) == len(answers),
    }


def _factor(plan: Plan, cheapest: Plan, phrases: Phrases) -> str:
    """Return the cost of a plan as a multiple of the cheapest; '' if undefined."""
    if not plan.cost or not cheapest.cost:
        return ""
    times = plan.cost / cheapest.cost
    return number_words(float(f"{times:.1f}" if times < TEN else f"{times:.0f}"), phrases)


def told(theory: Theory, plan: Plan, language: str = "en") -> dict[str, Any]:
    """Return a plan in short: its cost, its steps, and further remarks."""
    letter = write_letter(theory, plan, language=language)
    parts = {each.kind: each for each in letter.sections}
    steps = parts.get("steps")
    said = [parts[kind] for kind in ("blocked", "effort", "search") if kind in parts]
    return {
        "status": plan.status,
        "cost": None
        if plan.cost is None
        else number_words(rounded(plan.cost), phrases_of(language)),
        "steps": [asdict(each) for each in steps.items] if steps else [],
        "lines": [line for each in said for line in (each.lead, *(i.text for i in each.items))],
    }


def _rules(teller: Teller, plan: Plan) -> list[dict[str, Any]]:
    """Return the effects of a plan, each with the rules behind it."""
    return [
        {"text": act.text, "rules": list(act.because)}
        for step in summarize(teller.theory, plan, phrases=teller.phrases).steps
        for act in step
        if act.because
    ]


TASKS = {
    each.__name__: each
    for each in (
        greet,
        plan,
        nearest,
        why,
        check,
        verify,
        audit,
        words,
        follow_up,
        overview,
        story,
        ways,
        picture,
        letter,
        graph,
    )
}
"""The tasks by name."""
